"""Intervals of shares, and the smoothed curve."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from i2cansay.service.model.curve import HALF_LIFE, Curve
from i2cansay.service.model.share_interval import Z, wilson


@given(st.integers(1, 10**6), st.floats(0, 1))
def test_the_bounds_solve_the_equation_of_wilson(n: int, share: float) -> None:
    low, high = wilson(share, n)
    assert 0 <= low <= share <= high <= 1
    for bound in (low, high):  # (share - bound)^2 = z^2 bound (1 - bound) / n
        assert (share - bound) ** 2 == pytest.approx(Z**2 * bound * (1 - bound) / n, abs=1e-9)


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    for truth in (0.5, 0.8, 0.95):
        found = rng.binomial(60, truth, size=4000) / 60
        covered = np.mean([low <= truth <= high for low, high in (wilson(share, 60) for share in found)])
        assert 0.92 < covered < 0.98


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(0, 30)), min_size=1, max_size=150))
def test_smoothing_weighs_tests_by_how_many_came_later(lessons: list[tuple[int, int]]) -> None:
    curve = Curve()
    for number, (samples, correct) in enumerate(lessons):
        curve = curve.add(samples, min(samples, correct), float(number))
    n = np.array([point.samples for point in curve.points], dtype=float)
    right = np.array([point.correct for point in curve.points], dtype=float)
    last = curve.smoothed()[-1]
    weights = 0.5 ** ((n.sum() - n.cumsum()) / HALF_LIFE)
    assert last.share == pytest.approx((weights * right).sum() / (weights * n).sum())
    assert last.n == pytest.approx((weights * n).sum() ** 2 / (weights**2 * n).sum())
    assert last.low <= last.share <= last.high
    assert len(curve.smoothed()) == len(curve.points)


def test_one_bin_is_itself_and_old_bins_fade() -> None:
    (first,) = Curve().add(10, 9, 0.0).smoothed()
    assert (first.share, first.n) == (0.9, 10)
    assert (first.low, first.high) == wilson(0.9, 10)
    curve = Curve().add(1000, 0, 0.0).add(1000, 1000, 1.0)
    assert curve.smoothed()[-1].share > 0.999
    assert Curve().smoothed() == []
