"""The steps in which learners describe their decision compute what the learners do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from i2cansay import I2CANSAY, LEARNERS, SharedI2CANSAY, make_learner
from i2cansay.learners.base import OnlineClassifier
from tests.export.taught import OPTIONS, samples, taught


@pytest.mark.parametrize(("name", "parameters"), OPTIONS, ids=str)
def test_steps_compute_the_scores_and_the_novelty(name: str, parameters: dict[str, Any]) -> None:
    learner = taught(name, parameters)
    X = samples(30, seed=5)[0].astype(np.float64)
    decision = learner.decision()
    scores = learner.class_scores(X)
    np.testing.assert_allclose(decision.scores.of(X), scores, rtol=2e-5, atol=2e-6 * np.abs(scores).max())
    np.testing.assert_allclose(decision.probabilities(X), learner.predict_proba(X), atol=1e-4)
    assert decision.novelty is not None
    assert isinstance(learner, I2CANSAY | SharedI2CANSAY)
    novelty = learner.novelty(X)
    np.testing.assert_allclose(decision.novelty.of(X)[:, 0], novelty, atol=1e-5 * np.abs(novelty).max())


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    n_classes=st.integers(1, 12),
    level=st.sampled_from([-3.0, 0.0, 100.0]),
    blocks=st.sampled_from([None, (3, 5), (1, 4, 3)]),
    width=st.sampled_from([None, 4, 8]),
    lift=st.sampled_from([0, 5]),
    analogies=st.booleans(),
)
def test_the_shared_decision_holds_for_any_shape(  # noqa: PLR0917  hypothesis gives them by name
    seed: int, n_classes: int, level: float, blocks: Any, width: Any, lift: int, analogies: bool
) -> None:
    rng = np.random.default_rng(seed)
    learner = SharedI2CANSAY(blocks=blocks, width=width, lift=lift, analogies=analogies, random_state=seed)
    for _ in range(3):
        learner.partial_fit(rng.normal(size=(20, 8)) + level, rng.integers(0, n_classes, 20))
    X = rng.normal(size=(6, 8)) + level
    decision, scores = learner.decision(), learner.class_scores(X)
    assert decision.labels.tolist() == learner.classes_.tolist()
    np.testing.assert_allclose(decision.scores.of(X), scores, atol=1e-4 * (1 + np.abs(scores).max()))
    if len(decision.labels) == 1:
        assert decision.novelty is None
    else:
        novelty = learner.novelty(X)
        assert decision.novelty is not None
        found = decision.novelty.of(X)[:, 0]
        np.testing.assert_allclose(found, novelty, atol=1e-4 * (1 + np.abs(novelty).max()))


def test_a_decision_is_a_snapshot() -> None:
    learner = taught("i2cansay_shared", {"lift": 0})
    X, y = samples(30, seed=3)
    decision = learner.decision()
    before = decision.scores.of(X)
    learner.partial_fit(X, np.full(len(y), "another"))
    np.testing.assert_array_equal(decision.scores.of(X), before)
    assert "another" not in decision.labels


def test_the_thresholds_are_those_of_the_rates() -> None:
    learner = taught("i2cansay_shared", {"lift": 0})
    strict, lenient = learner.decision(0.01, 0.01), learner.decision(0.4, 0.4)
    assert strict.thresholds.least_odds >= lenient.thresholds.least_odds
    assert strict.thresholds.least_novelty >= lenient.thresholds.least_novelty
    with pytest.raises(ValueError, match="error must be a share above 0"):
        learner.decision(0.0)


@pytest.mark.parametrize("name", [name for name in LEARNERS if name not in ("i2cansay", "i2cansay_shared")])
def test_other_learners_say_that_they_cannot(name: str) -> None:
    learner = make_learner(name)
    if learner.needs_boundaries:
        learner = learner.set_params(**learner.small_parameters)
    try:
        learner.partial_fit(*samples(20))
    except (ValueError, ImportError) as error:
        pytest.skip(str(error))
    with pytest.raises(ValueError, match="cannot be exported: it does not describe its decision in steps"):
        learner.decision()


def test_an_untaught_learner_has_no_decision() -> None:
    empty: OnlineClassifier = I2CANSAY()
    with pytest.raises(NotFittedError, match="teach it"):
        empty.decision()
