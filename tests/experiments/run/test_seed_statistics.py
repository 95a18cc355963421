import math

import pytest

from i2cansay.evaluate import last_accuracy
from i2cansay.experiments.run.record import Record
from i2cansay.experiments.run.seed_statistics import (
    changed_share,
    confidence_interval,
    paired_difference,
    spread,
)
from tests.experiments.samples import make_record


def last(record: Record) -> float:
    return 100 * last_accuracy(record.outcome)


def test_spread_of_one_has_no_deviation() -> None:
    assert str(spread([59.44])) == "59.4"
    assert str(spread([1.0, 3.0])) == "2.0 ± 1.4"


def test_spread_of_nothing_raises() -> None:
    with pytest.raises(ValueError, match="no value"):
        spread([])


def test_differences_are_paired_by_seed_not_by_position() -> None:
    first = [make_record(seed, (correct, 5)) for seed, correct in ((0, 9), (1, 3))]
    second = [make_record(seed, (correct, 5)) for seed, correct in ((1, 2), (0, 8), (7, 0))]
    difference = paired_difference(first, second, last)
    assert difference.n == 2
    assert difference.mean == pytest.approx(5)
    assert (difference.low, difference.high) == pytest.approx((5, 5))


def test_without_a_common_seed_there_is_no_difference() -> None:
    with pytest.raises(ValueError, match="no seed in common"):
        paired_difference([make_record(0)], [make_record(1)], last)


def test_the_interval_shrinks_with_the_number_of_values_and_is_unknown_for_one() -> None:
    assert math.isnan(confidence_interval([1.0])[0])
    few, many = confidence_interval([0.0, 1.0] * 2), confidence_interval([0.0, 1.0] * 20)
    assert few[0] < many[0] < 0.5 < many[1] < few[1]


def test_the_same_predictions_have_changed_nowhere() -> None:
    assert changed_share(make_record(0), make_record(1)) == 0
