"""What holds of both learners that train a head on samples and their analogies."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from i2cansay import I2CANSAY, SharedI2CANSAY
from i2cansay.core.types import Features, Rows
from i2cansay.testing.requirements import state_difference

C, D = 4, 6
KINDS: dict[str, Callable[..., Any]] = {
    "paper": lambda **parameters: I2CANSAY(random_state=0, **parameters),
    "shared": lambda **parameters: SharedI2CANSAY(lift=0, random_state=0, **parameters),
}
kinds = pytest.mark.parametrize("kind", KINDS)


def samples(n: int = 80) -> tuple[Features, Rows]:
    rng = np.random.default_rng(0)
    y = np.arange(n) % C
    return (rng.standard_normal((n, D)) + 2 * rng.standard_normal((C, D))[y]).astype(np.float32), y


def taught(kind: str, X: Features, y: Rows) -> Any:
    model = KINDS[kind]()
    for start in range(0, len(X), 10):
        model.partial_fit(X[start : start + 10], y[start : start + 10])
    return model


@kinds
def test_counts_and_means_are_those_of_the_samples(kind: str) -> None:
    X, y = samples()
    model = taught(kind, X, y)
    assert model.class_counts_.tolist() == [20.0] * C
    expected = [X[y == c].mean(axis=0, dtype=np.float64) for c in range(C)]
    np.testing.assert_allclose(model.class_means_, expected, rtol=1e-5, atol=1e-6)


@kinds
def test_statistics_and_columns_are_in_the_order_of_the_labels(kind: str) -> None:
    X, y = samples()
    names = np.array(["d", "b", "a", "c"])[y]  # arrive as d, b, a, c
    by_number, by_name = taught(kind, X, y), taught(kind, X, names)
    order = [2, 1, 3, 0]
    np.testing.assert_array_equal(by_name.class_scores(X), by_number.class_scores(X)[:, order])
    np.testing.assert_array_equal(by_name.class_means_, by_number.class_means_[order])
    np.testing.assert_array_equal(by_name.class_counts_, by_number.class_counts_[order])


@kinds
def test_state_goes_on_to_the_bit(kind: str) -> None:
    X, y = samples()
    model = taught(kind, X[:60], y[:60])
    again = KINDS[kind]().set_state(model.state())
    for one in (model, again):
        one.partial_fit(X[60:], y[60:])
    assert state_difference(model.state(), again.state()) is None
    np.testing.assert_array_equal(again.class_scores(X), model.class_scores(X))


@pytest.mark.parametrize(
    ("kind", "parts"),
    [("paper", {"moments", "head"}), ("shared", {"features", "scatter", "shrinkage", "head"})],
)
def test_arrays_are_named_by_the_part_they_are_of(kind: str, parts: set[str]) -> None:
    X, y = samples()
    assert {name.split(".")[0] for name in taught(kind, X, y)._state()} == parts
    other = next(name for name in KINDS if name != kind)
    with pytest.raises(ValueError, match="the state lacks"):
        KINDS[kind]().set_state(taught(other, X, y).state())


@kinds
def test_unlearning_forgets_the_classes_that_have_nothing_left(kind: str) -> None:
    X, y = samples()
    model, gone = taught(kind, X, y), np.isin(y, (1, 3))
    model.unlearn(X[:8], y[:8])
    assert model.classes_.tolist() == [0, 1, 2, 3]
    model.unlearn(X[8:][gone[8:]], y[8:][gone[8:]])
    assert model.classes_.tolist() == [0, 2]
    np.testing.assert_allclose(model.class_counts_, [18.0, 18.0])


@kinds
def test_classes_behind_a_dropped_one_move_up(kind: str) -> None:
    X, y = samples()
    model = taught(kind, X, y)
    means = model.class_means_
    model.forget(1)
    np.testing.assert_array_equal(model.class_means_, means[[0, 2, 3]])
    assert model.class_scores(X).shape == (len(X), C - 1)


@kinds
def test_merging_finds_the_classes_by_their_labels_and_leaves_the_other_alone(kind: str) -> None:
    X, y = samples()
    whole, mine = taught(kind, X, y), taught(kind, X[:40], y[:40])
    theirs = taught(kind, X[:39:-1], y[:39:-1])  # the classes arrive in another order
    before = theirs.state()
    mine.merge(theirs)
    np.testing.assert_allclose(mine.class_counts_, whole.class_counts_)
    np.testing.assert_allclose(mine.class_means_, whole.class_means_, rtol=1e-6, atol=1e-6)
    assert state_difference(before, theirs.state()) is None


@kinds
def test_merged_heads_are_weighed_by_the_samples_of_each_class(kind: str) -> None:
    X, y = samples()
    mine, theirs = taught(kind, X[:20], y[:20]), taught(kind, X[20:], y[20:])
    a, b = (model.state()["head.weights"] for model in (mine, theirs))
    mine.merge(theirs)
    np.testing.assert_allclose(mine.state()["head.weights"], 0.25 * a + 0.75 * b, rtol=1e-5, atol=1e-8)


@kinds
def test_further_epochs_move_the_weights_of_the_head_alone(kind: str) -> None:
    X, y = samples()
    model = taught(kind, X, y)
    before = model.state()
    scores = model.class_scores(X)
    model._train(X, y, None)
    changed = {name for name, array in model._state().items() if not np.array_equal(array, before[name])}
    assert changed == {"head.weights"}
    assert not np.array_equal(model.class_scores(X), scores)


@kinds
def test_epochs_count_samples_once(kind: str) -> None:
    X, y = samples()
    one, many = (KINDS[kind](epochs=epochs).fit(X, y) for epochs in (1, 4))
    np.testing.assert_array_equal(many.class_counts_, one.class_counts_)
    np.testing.assert_array_equal(many.class_means_, one.class_means_)
    assert not np.array_equal(many.class_scores(X), one.class_scores(X))


@kinds
def test_samples_of_no_weight_take_part_in_no_epoch(kind: str) -> None:
    X, y = samples()
    weights = (y < 3).astype(float)  # the last class is never known
    weighed, left_out = KINDS[kind](epochs=3), KINDS[kind](epochs=3)
    weighed.fit(X, y, weights)
    left_out.fit(X[y < 3], y[y < 3], weights[y < 3])
    assert weighed.classes_.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(weighed.class_scores(X), left_out.class_scores(X))
