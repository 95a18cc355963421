"""A panel of methods: every name beside its mark, and none on top of another."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.figure import Figure

from i2cansay.experiments.report.mark_panel import GAP, LINE, Label, Mark, _free, draw_panel
from i2cansay.experiments.run.seed_statistics import Spread


@pytest.mark.parametrize("seed", range(5))
def test_names_cover_neither_marks_nor_each_other(seed: int) -> None:
    places = np.random.default_rng(seed).uniform(0.3, 0.7, size=(10, 2))
    taken = [Label(x - 0.01, x + 0.01, y) for x, y in places]
    for number, (x, y) in enumerate(places):
        taken.append(_free(x, y, 0.2, taken, on_left=number % 2 == 0))
    assert not any(first.covers(second) for first, second in combinations(taken[10:], 2))
    assert not any(name.covers(mark) for name in taken[10:] for mark in taken[:10])


def test_a_name_that_has_room_lies_beside_its_mark_on_the_side_asked_for() -> None:
    right, left = (_free(0.5, 0.4, 0.2, [], on_left=on_left) for on_left in (False, True))
    assert right == Label(0.5 + GAP, 0.7 + GAP, 0.4)
    assert left.right == pytest.approx(0.5 - GAP)


def test_a_name_stays_inside_the_panel() -> None:
    label = _free(0.99, 1.0, 0.2, [Label(0.7, 0.98, 1.0)], on_left=False)
    assert label.right <= 1
    assert label.height == pytest.approx(1.0 - LINE)


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
