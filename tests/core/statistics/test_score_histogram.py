import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from i2cansay.core.statistics.score_histogram import BINS, ScoreHistogram

numbers = st.lists(st.integers(-(10**7), 10**7).map(lambda number: number / 64), min_size=1, max_size=60)


def of(*parts: list[float]) -> ScoreHistogram:
    histogram = ScoreHistogram()
    for part in parts:
        histogram.add(np.array(part))
    return histogram


@given(numbers)
@settings(deadline=None)
def test_the_limit_lies_above_its_share_and_at_most_a_bin_further(values: list[float]) -> None:
    histogram, ordered = of(values), np.sort(values)
    spread = max(float(ordered[-1] - ordered[0]), float(np.abs(ordered).max()) * 2.0**-10, 2.0**-10)
    for weight in range(1, len(values) + 1):
        limit = histogram.upper_limit(weight)
        assert (ordered < limit).sum() >= weight
        assert limit <= ordered[weight - 1] + 4 * spread / BINS


@given(numbers, numbers)
@settings(deadline=None)
def test_parts_add_up_to_the_whole(one: list[float], other: list[float]) -> None:
    together, whole = of(one), of(one + other)
    before = of(other)
    together.merge(before)
    assert together.weight == pytest.approx(whole.weight)
    wide = max(together.state()["bins"][0], whole.state()["bins"][0])
    for weight in range(1, len(one + other) + 1):
        assert together.upper_limit(weight) == pytest.approx(whole.upper_limit(weight), abs=2.0 * 2.0**wide)
    assert before.weight == len(other)


def test_an_outlier_does_not_blur_the_others() -> None:
    histogram = of(list(np.linspace(0, 1, 1000)), [1e9])
    assert histogram.weight == 1001
    assert histogram.upper_limit(950) == pytest.approx(0.95, abs=0.04)


def test_bins_follow_a_range_that_shrinks_and_moves() -> None:
    rng = np.random.default_rng(0)
    histogram = of(list(1000 * rng.standard_normal(500)))
    for _ in range(60):
        histogram.fade(0.5)
        histogram.add(50 + 0.01 * rng.standard_normal(100))
    assert histogram.upper_limit(0.95 * histogram.weight) == pytest.approx(50.0164, abs=0.01)


def test_what_fades_weighs_less() -> None:
    histogram = of([0.0] * 100)
    histogram.fade(0.1)
    histogram.add(np.full(30, 8.0))
    assert histogram.weight == pytest.approx(40)
    assert histogram.upper_limit(9) < 1
    assert histogram.upper_limit(20) > 8


def test_numbers_that_are_none_are_left_out_and_infinite_ones_are_far_out() -> None:
    histogram = of([1.0, 2.0, float("nan"), float("inf")])
    assert histogram.weight == 3
    assert histogram.upper_limit(3) > 1e50


@given(numbers)
@settings(deadline=None)
def test_the_state_is_all_there_is(values: list[float]) -> None:
    histogram, again = of(values), ScoreHistogram()
    again.restore({name: array.copy() for name, array in histogram.state().items()})
    for each in (histogram, again):
        each.add(np.array(values) + 3)
    assert all(np.array_equal(array, again.state()[name]) for name, array in histogram.state().items())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("counts", np.full(BINS, -1.0)),
        ("counts", np.full(BINS, np.nan)),
        ("counts", np.zeros(BINS - 1)),
        ("bins", np.array([10**6, 0])),
        ("bins", np.array([0, 2**50])),
        ("bins", np.array([0])),
    ],
)
def test_a_damaged_state_is_refused(name: str, value: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"histogram of scores|weight of a score|bins of scores"):
        ScoreHistogram().restore({**of([1.0, 2.0]).state(), name: value})
