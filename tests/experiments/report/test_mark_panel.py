"""A panel of methods: every name beside its mark, and none on top of anything."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from i2cansay.experiments.report.mark_panel import (
    KINDS,
    MARKS,
    Mark,
    _extent,
    draw_panel,
    kinds_of_methods,
)
from i2cansay.experiments.report.name_places import places
from i2cansay.experiments.run.seed_statistics import Spread

PANEL, NAME = Bbox([[0, 0], [100, 100]]), Bbox([[0, 0], [30, 10]])


def scattered(seed: int, n: int) -> list[Mark]:
    """Return methods of every kind in the upper half of a panel, which is crowded."""
    rng = np.random.default_rng(seed)
    learners = [*MARKS, "slda", "ridge", "ranpac"]
    drawn = [Mark("lowest", "i2cansay", on_stages=False, accuracy=Spread(50.0, 0.4, 3), cost=2.0)]
    for number in range(n):
        accuracy = Spread(float(rng.uniform(60, 78)), float(rng.uniform(0, 0.4)), 3)
        learner, cost = learners[number % len(learners)], float(10 ** rng.uniform(0.5, 2.8))
        drawn.append(Mark(f"a method {number}", learner, bool(rng.integers(2)), accuracy, cost))
    return drawn


def drawn_on(axes: Axes, marks: list[Mark]) -> tuple[list[Bbox], list[Bbox]]:
    """Draw the marks; return what they and their names cover."""
    draw_panel(axes, marks, room=2)
    return [_extent(axes, mark) for mark in marks], [text.get_window_extent() for text in axes.texts]


@pytest.mark.parametrize("seed", range(5))
def test_names_cover_neither_marks_nor_lines_nor_each_other(seed: int) -> None:
    axes = Figure(figsize=(9, 6)).add_axes((0.07, 0.09, 0.92, 0.86))
    marks, names = drawn_on(axes, scattered(seed, 18))
    leaders = [line.get_path() for line in axes.lines if line.get_transform() == axes.transAxes]
    lines = [axes.transAxes.transform_path(leader) for leader in leaders]
    assert not any(first.overlaps(second) for first, second in combinations(names, 2))
    assert not any(name.overlaps(mark) for name in names for mark in marks)
    # A line may end at its own name, so names are a little smaller here.
    assert not any(line.intersects_bbox(name.padded(-2), False) for line in lines for name in names)
    assert not any(first.intersects_path(second, False) for first, second in combinations(lines, 2))


def test_names_and_error_bars_stay_inside_the_panel() -> None:
    marks = scattered(0, 8)
    marks.append(Mark("noisy", "slda", on_stages=True, accuracy=Spread(49.0, 9.0, 3), cost=900.0))
    axes = Figure(figsize=(9, 6)).subplots()
    _, names = drawn_on(axes, marks)
    assert all(axes.bbox.contains(*corner) for name in names for corner in name.corners())
    low, high = axes.get_ylim()
    assert all(
        low < mark.accuracy.mean - mark.accuracy.std < mark.accuracy.mean + mark.accuracy.std < high
        for mark in marks
    )


def test_a_name_that_has_room_lies_beside_its_mark_on_the_side_asked_for() -> None:
    mark = Bbox([[48, 48], [52, 52]])
    right, left = (places(mark, NAME, PANEL, on_left=on_left)[0] for on_left in (False, True))
    assert (right.align, left.align) == ("left", "right")
    assert right.box.x0 - mark.x1 == pytest.approx(mark.x0 - left.box.x1)
    assert right.box.y0 + right.box.y1 == left.box.y0 + left.box.y1 == pytest.approx(100)
    assert not right.is_apart


def test_only_a_name_far_from_its_mark_has_a_line() -> None:
    found = places(Bbox([[48, 48], [52, 52]]), NAME, PANEL, on_left=False)
    assert not found[0].is_apart
    assert found[-1].is_apart


def test_peers_that_lie_on_each_other_are_named_together() -> None:
    spread = Spread(70.0, 0.0, 3)
    same = [Mark(name, name, on_stages=True, accuracy=spread, cost=76.0) for name in ("slda", "ridge")]
    hollow = Mark("hollow", "slda", on_stages=False, accuracy=spread, cost=76.0)
    ours = Mark("ours", "i2cansay_shared", on_stages=True, accuracy=spread, cost=76.0)
    lowest = Mark("lowest", "slda", on_stages=True, accuracy=Spread(60.0, 0.0, 3), cost=5.0)
    axes = Figure().subplots()
    draw_panel(axes, [*same, hollow, ours, lowest], room=4)
    assert {text.get_text() for text in axes.texts} == {"slda and ridge", "hollow", "ours", "lowest"}


def test_the_legend_has_every_shape_once() -> None:
    shapes = [line.get_marker() for line in kinds_of_methods()]
    assert len(set(shapes)) == len(shapes) == len(KINDS) == len(MARKS) + 1


def test_every_method_is_named_and_stages_are_filled() -> None:
    marks = [
        Mark("one", "slda", on_stages=False, accuracy=Spread(60.0, 0.5, 3), cost=8.0),
        Mark("two", "slda", on_stages=True, accuracy=Spread(70.0, 0.5, 3), cost=54.0),
    ]
    axes = Figure().subplots()
    draw_panel(axes, marks, room=12)
    assert {text.get_text() for text in axes.texts} == {"one", "two"}
    faces = {
        float(np.asarray(line.get_ydata(), dtype=float)[0]): line.get_markerfacecolor() for line in axes.lines
    }
    assert faces[60.0] == "white"
    assert faces[70.0] != "white"
