"""What holds of either rule that `I2CANSAY` can learn and decide by."""

from collections.abc import Callable

import numpy as np
import pytest

from i2cansay import I2CANSAY
from i2cansay.core.types import Features, Rows
from i2cansay.learners.paper_rule import PaperRule
from i2cansay.learners.rule import Rule
from i2cansay.learners.shared.shared_rule import SharedRule
from i2cansay.testing.comparison import state_difference

C, D = 4, 6


def samples(n: int = 80) -> tuple[Features, Rows]:
    rng = np.random.default_rng(0)
    y = np.arange(n) % C
    return (rng.standard_normal((n, D)) + 2 * rng.standard_normal((C, D))[y]).astype(np.float32), y


def learner(kind: type[Rule]) -> I2CANSAY:
    return I2CANSAY(covariance="diagonal" if kind is PaperRule else "shared", random_state=0)


def empty(kind: type[Rule]) -> Rule:
    """Return a rule as the learner makes it, with room for the classes."""
    model = learner(kind)
    model._start(D)
    assert type(model._rule) is kind
    model._rule.resize(C)
    return model._rule


def taught(kind: type[Rule], X: Features, y: Rows) -> Rule:
    rule, rng = empty(kind), np.random.default_rng(0)
    for start in range(0, len(X), 10):
        rule.learn(X[start : start + 10], y[start : start + 10], None, rng)
    return rule


kinds: Callable[[Callable[..., None]], Callable[..., None]] = pytest.mark.parametrize(
    "kind", [PaperRule, SharedRule]
)


@kinds
def test_learner_adds_labels_to_its_rule_and_nothing_else(kind: type[Rule]) -> None:
    X, y = samples()
    rule, model = taught(kind, X, y), learner(kind)
    for start in range(0, len(X), 10):
        model.partial_fit(X[start : start + 10], y[start : start + 10])
    assert state_difference(rule.state(), model._rule.state()) is None
    np.testing.assert_array_equal(model.class_scores(X), rule.scores(X))
    np.testing.assert_array_equal(model.class_counts_, rule.counts)
    np.testing.assert_array_equal(model.class_means_, rule.means)


@kinds
def test_counts_and_means_are_those_of_the_samples(kind: type[Rule]) -> None:
    X, y = samples()
    rule = taught(kind, X, y)
    assert rule.counts.tolist() == [20.0] * C
    expected = [X[y == c].mean(axis=0, dtype=np.float64) for c in range(C)]
    np.testing.assert_allclose(rule.means, expected, rtol=1e-5, atol=1e-6)


@kinds
def test_state_is_found_among_other_things_and_goes_on_to_the_bit(kind: type[Rule]) -> None:
    X, y = samples()
    rule, again = taught(kind, X[:60], y[:60]), empty(kind)
    again.restore({**rule.state(), "rows": np.zeros(3), "other.weights": np.zeros(3)}, C)
    for one in (rule, again):
        one.learn(X[60:], y[60:], None, np.random.default_rng(1))
    assert state_difference(rule.state(), again.state()) is None
    np.testing.assert_array_equal(again.scores(X), rule.scores(X))


def test_names_in_the_two_states_are_never_the_same() -> None:
    X, y = samples()
    paper, shared = (taught(kind, X, y).state() for kind in (PaperRule, SharedRule))
    assert {name.split(".")[0] for name in paper} == {"moments", "head"}
    assert {name.split(".")[0] for name in shared} == {"shared"}


@kinds
def test_unlearning_names_the_classes_that_have_nothing_left(kind: type[Rule]) -> None:
    X, y = samples()
    rule, gone = taught(kind, X, y), np.isin(y, (1, 3))
    assert rule.unlearn(X[:8], y[:8], None).tolist() == []
    assert rule.unlearn(X[8:][gone[8:]], y[8:][gone[8:]], None).tolist() == [1, 3]
    np.testing.assert_allclose(rule.counts, [18.0, 0.0, 18.0, 0.0])


@kinds
def test_classes_behind_a_dropped_one_move_up(kind: type[Rule]) -> None:
    X, y = samples()
    rule = taught(kind, X, y)
    means = rule.means.copy()
    rule.drop(1)
    np.testing.assert_array_equal(rule.means, means[[0, 2, 3]])
    assert rule.scores(X).shape == (len(X), C - 1)


@kinds
def test_merging_finds_the_classes_by_their_rows_and_leaves_the_other_alone(kind: type[Rule]) -> None:
    X, y = samples()
    order = np.array([2, 0, 3, 1])
    whole, mine, theirs = (
        taught(kind, X, y),
        taught(kind, X[:40], y[:40]),
        taught(kind, X[40:], order[y[40:]]),
    )
    before = {name: array.copy() for name, array in theirs.state().items()}
    mine.check_mergeable(theirs)
    mine.merge(theirs, np.argsort(order), np.random.default_rng(0))
    np.testing.assert_allclose(mine.counts, whole.counts)
    np.testing.assert_allclose(mine.means, whole.means, rtol=1e-6, atol=1e-6)
    assert state_difference(before, theirs.state()) is None


@kinds
def test_further_training_leaves_the_statistics_alone(kind: type[Rule]) -> None:
    X, y = samples()
    rule, rng = taught(kind, X, y), np.random.default_rng(0)
    means, scores = rule.means.copy(), rule.scores(X)
    rule.train(X, y, None, rng)
    assert rule.counts.tolist() == [20.0] * C
    np.testing.assert_array_equal(rule.means, means)
    assert not np.array_equal(rule.scores(X), scores)
