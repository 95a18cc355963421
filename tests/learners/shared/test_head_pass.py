"""A head after the fact: on statistics that stay as they are, better than none where samples are plenty."""

from __future__ import annotations

import numpy as np
import pytest

from i2cansay.learners.shared.head_pass import train_head, with_head
from i2cansay.learners.shared.shared_i2cansay import SharedI2CANSAY

RNG = np.random.default_rng(0)
# Classes of different spreads, which one covariance cannot describe.
Y = RNG.integers(0, 3, 3000)
X = RNG.standard_normal((3000, 5)) * np.array([0.3, 1.0, 3.0])[Y][:, None] + np.eye(3, 5)[Y] * 2


def bare() -> SharedI2CANSAY:
    return SharedI2CANSAY(analogies=False, lift=0, random_state=0).partial_fit(X[:2000], Y[:2000])


def test_statistics_stay_and_an_untrained_head_changes_no_decision() -> None:
    learner = bare()
    headed = with_head(learner)
    assert headed.analogies
    assert headed.predict(X[2000:]).tolist() == learner.predict(X[2000:]).tolist()
    trained = train_head(with_head(learner), X[:2000], Y[:2000])
    for name, array in learner.state().items():
        if name.startswith(("scatter", "features")):
            np.testing.assert_array_equal(trained.state()[name], array)


def test_steps_lower_the_loss() -> None:
    learner = with_head(bare())
    for _ in range(3):
        train_head(learner, X[:2000], Y[:2000])

    def loss(model: SharedI2CANSAY) -> float:
        scores = model.class_scores(X[2000:])
        scores = scores - scores.max(axis=1, keepdims=True)
        of_class = scores[np.arange(1000), Y[2000:]]
        return float(np.mean(np.log(np.exp(scores).sum(axis=1)) - of_class))

    assert loss(learner) < loss(with_head(bare()))


def test_it_goes_on_learning_as_any_learner_with_a_head() -> None:
    learner = train_head(with_head(bare()), X[:2000], Y[:2000])
    learner.partial_fit(X[2000:2050], Y[2000:2050])
    assert learner.class_counts_.sum() == 2050


def test_what_has_no_head_or_does_not_know_a_class_is_refused() -> None:
    with pytest.raises(ValueError, match="no head to train"):
        train_head(bare(), X, Y)
    with pytest.raises(ValueError, match="not a known class"):
        train_head(with_head(bare()), X[:1], [7])
