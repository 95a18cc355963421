"""Paired differences: their pairing, their interval and its coverage."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student

from i2cansay.evaluate import Checkpoint
from i2cansay.experiments.run.paired_difference import (
    Difference,
    StandardError,
    difference_of,
    half_width,
    paired_difference,
    tail_beyond,
)
from i2cansay.experiments.run.record import Record
from tests.experiments.samples import make_record


def run_of(seed: int, right: np.ndarray) -> Record:
    """Return a run of one class; a prediction is kept for every row, and wrong ones are alike."""
    record = make_record(seed)
    outcome = replace(
        record.outcome,
        test_counts=(len(right), 0),
        checkpoints=(Checkpoint(1, 90, (int(right.sum()), 0), 0, 0),),
    )
    return replace(record, outcome=outcome, predictions=np.where(right, 0, 1).astype(np.uint16))


def test_differences_are_paired_by_seed_not_by_position() -> None:
    first = [make_record(seed, (correct, 5)) for seed, correct in ((0, 9), (1, 3))]
    second = [make_record(seed, (correct, 5)) for seed, correct in ((1, 2), (0, 8), (7, 0))]
    difference = paired_difference(first, second, "last")
    assert difference.n == 2
    assert difference.mean == pytest.approx(5)
    assert not difference.varies
    assert difference.low < 5 < difference.high, "two equal differences on twenty rows are not certain"


def test_without_a_common_seed_there_is_no_difference() -> None:
    with pytest.raises(ValueError, match="no seed in common"):
        paired_difference([make_record(0)], [make_record(1)], "last")


def test_one_pair_has_no_interval() -> None:
    difference = paired_difference([make_record(0)], [make_record(0, (9, 8))], "last")
    assert math.isnan(difference.low)
    assert math.isnan(difference.p_above(0))
    assert str(difference) == "-5.00 (one seed)"


def test_one_error_alone_gives_students_interval() -> None:
    assert half_width([StandardError(0.5, 4)], 0.025) == pytest.approx(0.5 * student.isf(0.025, 4))
    assert half_width([StandardError(0.5, 4), StandardError(0.0, 9)], 0.025) == pytest.approx(
        0.5 * student.isf(0.025, 4)
    )


@pytest.mark.parametrize("n", [2, 5, 20])
def test_another_source_of_noise_never_narrows_the_interval(n: int) -> None:
    for size in (0.01, 0.1, 1.0, 10.0):
        for tail in (0.025, 1e-4):
            alone = half_width([StandardError(1.0, n - 1)], tail)
            assert half_width([StandardError(1.0, n - 1), StandardError(size, 9999)], tail) >= alone


@pytest.mark.parametrize("bound", [-3.0, 0.0, 0.4, 2.0])
def test_the_p_value_is_the_level_at_which_the_interval_reaches_the_bound(bound: float) -> None:
    difference = Difference(0.4, 5, (StandardError(0.3, 4), StandardError(0.2, 999)), 0.1, True)
    p = difference.p_above(bound)
    assert p + difference.reversed().p_above(-bound) == pytest.approx(1)
    if bound != 0.4:
        reach = half_width(difference.errors, min(p, 1 - p))
        assert abs(difference.mean - bound) == pytest.approx(reach)
    else:
        assert p == pytest.approx(0.5)


def test_a_p_value_beyond_all_tails_is_zero() -> None:
    assert tail_beyond(1e9, [StandardError(1e-6, 30)]) == 0


@pytest.mark.parametrize(("seed_noise", "row_noise"), [(1.0, 0.0), (0.0, 1.0), (0.6, 0.8), (0.95, 0.3)])
def test_the_interval_covers_at_least_as_often_as_it_says(seed_noise: float, row_noise: float) -> None:
    rng = np.random.default_rng(2)
    n, trials = 5, 4000
    seeds = rng.normal(scale=seed_noise * np.sqrt(n), size=(trials, n))
    means = seeds.mean(axis=1) + rng.normal(scale=row_noise, size=trials)
    deviations = seeds.std(axis=1, ddof=1) / np.sqrt(n)
    halves = np.hypot(deviations * student.isf(0.025, n - 1), row_noise * student.isf(0.025, 9999))
    some = [
        half_width([StandardError(each, n - 1), StandardError(row_noise, 9999)], 0.025)
        for each in deviations[:9]
    ]
    np.testing.assert_allclose(halves[:9], some)
    assert np.mean(np.abs(means) <= halves) > 0.94


def test_runs_on_one_test_set_do_not_know_what_another_would_show() -> None:
    """Two learners, equally good on all images; one test set favours one of them with every seed."""
    rng = np.random.default_rng(3)
    missed = missed_by_seeds_alone = 0
    trials, rows, n = 200, 400, 8
    for _ in range(trials):
        chances = rng.beta(0.5, 0.5, size=(2, rows))  # what each learner makes of each image
        pairs = [tuple(run_of(seed, rng.random(rows) < chance) for chance in chances) for seed in range(n)]
        difference = difference_of(((a, b) for a, b in pairs), "last")
        missed += not difference.low <= 0 <= difference.high
        alone = half_width(difference.errors[:1], 0.025)
        missed_by_seeds_alone += not abs(difference.mean) <= alone
    assert missed / trials < 0.05
    assert missed_by_seeds_alone / trials > 0.2
