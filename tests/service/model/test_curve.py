"""Accuracy over time in bounded space."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from i2cansay.service.model.curve import MOST, Curve


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=700))
def test_nothing_is_lost_and_the_length_is_bounded(lessons: list[tuple[int, int]]) -> None:
    curve = Curve()
    for number, (samples, correct) in enumerate(lessons):
        curve = curve.add(samples, min(samples, correct), float(number))
    assert len(curve.points) <= MOST
    assert sum(point.samples for point in curve.points) == sum(samples for samples, _ in lessons)
    assert sum(point.correct for point in curve.points) == sum(min(pair) for pair in lessons)
    assert Curve.from_json(curve.to_json()) == curve
    times = [point.until for point in curve.points]
    assert times == sorted(times)
