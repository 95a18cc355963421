"""Weights of metrics, and the noise of a finite test set against simulation."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from i2cansay.evaluate import Checkpoint, Outcome
from i2cansay.experiments.run.finite_test_set import accuracy_variance, accuracy_weights, difference_variance
from i2cansay.experiments.run.metric import metric_of
from i2cansay.experiments.run.record import Record
from tests.experiments.samples import make_record

COUNTS = (40, 10, 0, 25)
SESSIONS = ((1, 2), (0,), (3,))


def outcome_of(correct: Sequence[tuple[int, ...]], counts: tuple[int, ...] = COUNTS) -> Outcome:
    return Outcome(
        stream={},
        classes=tuple(range(len(counts))),
        test_counts=counts,
        new_classes=SESSIONS,
        checkpoints=tuple(Checkpoint(place, 10, right, 0, 0) for place, right in enumerate(correct)),
        every_session=True,
        learning_seconds=0.0,
        prediction_seconds=0.0,
        state_bytes=0,
    )


def record_of(outcome: Outcome, predictions: np.ndarray | None = None) -> Record:
    given = np.zeros(100) if predictions is None else predictions
    return replace(make_record(), outcome=outcome, predictions=given.astype(np.uint16))


@pytest.mark.parametrize("metric", ["last", "average", "average_by_sessions", "session:1", "session:2"])
def test_the_weights_sum_the_accuracies_up_to_the_metric(metric: str) -> None:
    outcome = outcome_of([(0, 7, 0, 0), (31, 5, 0, 0), (22, 9, 0, 13)])
    right = np.array([checkpoint.correct for checkpoint in outcome.checkpoints])
    summed = (accuracy_weights(outcome, metric) * right / np.maximum(COUNTS, 1)).sum()
    assert 100 * summed == pytest.approx(metric_of(metric)(record_of(outcome)))


def test_a_metric_that_is_no_sum_has_no_interval() -> None:
    with pytest.raises(ValueError, match="'forgetting'; it has no interval"):
        accuracy_weights(outcome_of([(1, 1, 0, 1)]), "forgetting")


def test_the_variance_of_the_last_accuracy_is_binomial_class_by_class() -> None:
    rng = np.random.default_rng(0)
    counts, chances = (400, 100, 0, 250), np.array([0.9, 0.3, 0.5, 0.6])
    drawn = rng.binomial(counts, chances, size=(4000, 4))
    seen = (drawn.sum(axis=1) / sum(counts)).var()
    bound = accuracy_variance(outcome_of([tuple(map(int, drawn[0]))], counts), "last")
    assert bound == pytest.approx(seen, rel=0.15)


def test_the_same_rows_at_every_checkpoint_do_not_average_out() -> None:
    """The classifier never changes, so three checkpoints of one class know as much as one."""
    right = [(0, 50, 0, 0)] * 3
    outcome = replace(outcome_of(right, (0, 100, 0, 0)), new_classes=((1,), (), ()))
    once = accuracy_variance(replace(outcome, checkpoints=outcome.checkpoints[:1]), "last")
    assert accuracy_variance(outcome, "average") == pytest.approx(once)


def test_an_accuracy_of_one_still_has_noise() -> None:
    assert accuracy_variance(outcome_of([COUNTS]), "last") > 0


def test_a_pair_that_predicts_nearly_the_same_has_less_noise_than_two_strangers() -> None:
    counts, right = (500, 500, 0, 0), [(300, 300, 0, 0)] * 3
    first = record_of(outcome_of(right, counts), np.zeros(1000))
    near = record_of(outcome_of(right, counts), np.arange(1000) < 10)
    far = record_of(outcome_of(right, counts), np.ones(1000))
    apart = 2 * accuracy_variance(first.outcome, "last")
    assert difference_variance(first, near, "last") == pytest.approx(11 / 1002 / 1000)
    assert difference_variance(first, far, "last") == pytest.approx(apart)
    assert 0 < difference_variance(first, first, "last") < difference_variance(first, near, "last")
    # The kept predictions are of the end; they say nothing about earlier sessions.
    average = 2 * accuracy_variance(first.outcome, "average")
    assert difference_variance(first, near, "average") == pytest.approx(average)


def test_the_noise_of_a_pair_is_at_least_what_is_seen_over_test_sets() -> None:
    """Rows are hard or easy for both, predictions differ on some: simulate test sets, and compare."""
    rng = np.random.default_rng(1)
    n, sets = 1000, 400
    gaps, bounds = [], []
    for _ in range(sets):
        hard = rng.random(n)
        a, b = (rng.random(n) < 0.95 - 0.8 * hard for _ in range(2))
        predicted = [np.where(right, 0, rng.integers(1, 9, n)) for right in (a, b)]
        counts = (n, 0, 0, 0)
        first, second = (
            record_of(outcome_of([(int(right.sum()), 0, 0, 0)] * 3, counts), guesses)
            for right, guesses in zip((a, b), predicted, strict=True)
        )
        gaps.append(a.mean() - b.mean())
        bounds.append(difference_variance(first, second, "last"))
    assert np.var(gaps) < np.mean(bounds) < 4 * np.var(gaps)
