"""How `SharedI2CANSAY` makes its steps and decisions of its parts."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from i2cansay import SharedI2CANSAY
from i2cansay.core.linalg.symmetric import SymmetricMatrix, unpack32
from i2cansay.core.statistics.discriminant import shrink_means
from i2cansay.core.statistics.scatter import SharedScatter
from i2cansay.learners.shared.head_schedule import base_temperature
from i2cansay.learners.shared.preconditioned_head import PreconditionedHead
from i2cansay.learners.shared.shared_i2cansay import HEAD_SHARE
from i2cansay.testing.requirements import CALIBRATION

C, D = 4, 6


def draw(n: int = 200, d: int = D, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % C
    centres = np.random.default_rng(99).standard_normal((C, d))
    return (rng.standard_normal((n, d)) + centres[y]).astype(np.float32), y


def taught(X: np.ndarray, y: np.ndarray, batch: int = 20, **parameters: Any) -> SharedI2CANSAY:
    model = SharedI2CANSAY(**{"lift": 0, "random_state": 0, **parameters})
    for start in range(0, len(X), batch):
        model.partial_fit(X[start : start + batch], y[start : start + batch])
    return model


def closed_form(X: np.ndarray, y: np.ndarray, shrinkage: float) -> np.ndarray:
    scatter = SharedScatter(X.shape[1])
    scatter.resize(C)
    scatter.add(X, y)
    return shrink_means(scatter, shrinkage, 0.02).scores.of(X)


def inverse_of(state: Mapping[str, np.ndarray]) -> np.ndarray:
    return unpack32(D, state["head.inverse"])


def test_scores_are_the_closed_form_divided_by_the_temperature_plus_a_share_of_the_head() -> None:
    X, y = draw()
    model = taught(X, y, shrinkage=0.2)
    state = model.state()
    head = (X - state["head.centre"]) @ state["head.weights"].T
    assert np.abs(head).max() > 1e-3
    expected = closed_form(X, y, 0.2) / base_temperature(model.class_counts_) + HEAD_SHARE * head
    np.testing.assert_allclose(model.class_scores(X), expected, rtol=1e-4, atol=1e-5)
    alone = taught(X, y, shrinkage=0.2, analogies=False)
    np.testing.assert_allclose(alone.class_scores(X), closed_form(X, y, 0.2), rtol=1e-8, atol=1e-8)
    assert "head.weights" not in alone.state()


@pytest.mark.parametrize(
    ("per_class", "classes", "temperature"), [(20, 60, 1.0), (160, 60, 2.0), (4000, 60, 3.0), (4000, 5, 1.0)]
)
def test_temperature_grows_with_samples_per_class_up_to_a_share_of_the_classes(
    per_class: int, classes: int, temperature: float
) -> None:
    assert base_temperature(np.full(classes, float(per_class))) == pytest.approx(temperature)


def test_asking_changes_nothing_of_what_is_learnt_next() -> None:
    X, y = draw()
    silent, asked = taught(X[:40], y[:40]), taught(X[:40], y[:40])
    for start in range(40, 200, 20):
        rows = slice(start, start + 20)
        asked.class_scores(X)
        for model in (silent, asked):
            model.partial_fit(X[rows], y[rows])
    for name, array in silent.state().items():
        if not name.startswith(CALIBRATION):  # a learner with its solution at hand scores the next lesson
            np.testing.assert_array_equal(asked.state()[name], array)
    assert asked._evidence.n_scored > silent._evidence.n_scored


def test_inverses_are_made_as_often_as_the_logarithm_of_the_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[float] = []
    inverse = SharedScatter.shrunk_inverse

    def counted(scatter: SharedScatter, shrinkage: float) -> SymmetricMatrix:
        made.append(scatter.means.total)
        return inverse(scatter, shrinkage)

    monkeypatch.setattr(SharedScatter, "shrunk_inverse", counted)
    X, y = draw(4000)
    taught(X, y, batch=10)
    assert made == [10 * 2**power for power in range(9)]
    # What fades makes way for as much that is new: then one whenever as much has come as is remembered.
    made.clear()
    taught(X, y, forgetting=0.005, batch=10)
    assert 4000 / 200 * 0.7 < len(made) < 4000 / 200 * 1.5


def test_what_fades_is_the_same_in_any_batches() -> None:
    X, y = draw(60)
    once, each = (taught(X, y, batch, forgetting=0.01, analogies=False) for batch in (60, 1))
    np.testing.assert_allclose(once.class_counts_, each.class_counts_)
    np.testing.assert_allclose(once.class_means_, each.class_means_, rtol=1e-5, atol=1e-6)
    matrix, expected = (model.state()["scatter.matrix"] for model in (once, each))
    np.testing.assert_allclose(matrix, expected, rtol=1e-4, atol=1e-4)


def test_part_of_a_batch_that_is_moved_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[np.ndarray] = []
    step = PreconditionedHead.step

    def watching(head: PreconditionedHead, *arguments: Any, sources: np.ndarray, **others: Any) -> None:
        moved.append(sources)
        step(head, *arguments, sources=sources, **others)

    monkeypatch.setattr(PreconditionedHead, "step", watching)
    X, y = draw(400)
    taught(X, y, n_pseudo=0.5)
    assert {len(rows) for rows in moved} == {10}
    assert set(np.concatenate(moved).tolist()) == set(range(20))


def test_head_waits_for_some_spread() -> None:
    X, y = draw()
    model = SharedI2CANSAY(lift=0, epochs=3, random_state=0).fit(X[:4], y[:4])  # one sample of each
    assert not model.state()["head.weights"].any()
    assert (model.predict(X[:4]) == y[:4]).all()
    model.partial_fit(X[4:5], y[4:5])
    assert model.state()["head.weights"].any()
    inverse = model._scatter.shrunk_inverse(model.shrinkage_).into_dense32()
    np.testing.assert_allclose(inverse_of(model.state()), inverse, rtol=1e-5)


@pytest.mark.parametrize("forgetting", [0.0, 0.01])
def test_preconditioned_means_are_those_of_the_statistics_all_along(forgetting: float) -> None:
    X, y = draw()
    model = SharedI2CANSAY(lift=0, forgetting=forgetting, random_state=0)
    for start in range(0, 200, 10):
        batch = slice(start, start + 10)
        model.partial_fit(X[batch], y[batch], sample_weight=np.linspace(0.5, 2.0, 10))
        state = model.state()
        expected = (state["scatter.mean"] - state["head.centre"]) @ inverse_of(state)
        np.testing.assert_allclose(state["head.preconditioned_means"], expected, rtol=1e-4, atol=1e-4)


def test_old_classes_absent_from_the_batch_are_the_only_ones_moved_into() -> None:
    # A batch of all classes leaves none: the step is then one without analogies.
    X, y = draw(20)
    absent, nobody, all_others = (
        taught(X, y, **parameters).state()["head.weights"]
        for parameters in ({"old_classes": "absent"}, {"n_pseudo": 0.0}, {})
    )
    np.testing.assert_array_equal(absent, nobody)
    assert not np.array_equal(all_others, nobody)


def test_damaged_state_is_named() -> None:
    X, y = draw()
    state = taught(X, y).state()
    for name, match in [
        ("shrinkage.penalty", "one number"),
        ("features.root_and_seed", "two numbers"),
        ("head.weights", "of shape"),
        ("head.shrink_means", "of shape"),
    ]:
        with pytest.raises(ValueError, match=match):
            SharedI2CANSAY(lift=0).set_state({**state, name: np.zeros(7)})


def test_wide_features_are_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("i2cansay.learners.shared.feature_map.WIDEST", 64)
    X, y = draw(300, d=500)
    model = taught(X[:200], y[:200], lift=20)
    assert model.class_means_.shape == (C, 64 + 20)  # the lift stands beside the fold
    assert model.score(X[200:], y[200:]) > 0.9


def test_head_shrinks_means_no_further_than_is_safe_for_classes_on_one_line() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(400) % C
    X = rng.standard_normal((400, D)) * 0.1
    X[:, 0] += 10.0 * y
    in_line, apart = (
        taught(*samples, feature_transform="none").state()["head.shrink_means"]
        for samples in ((X.astype(np.float32), y), draw())
    )
    assert in_line < 0.02
    assert apart == 0.02
