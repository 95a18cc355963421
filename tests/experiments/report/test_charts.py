import re
from xml.etree import ElementTree

import pytest

from i2cansay.experiments.report.chart_frame import WIDTH, Frame, log_ticks, percent_extent
from i2cansay.experiments.report.charts import (
    Bar,
    Point,
    Series,
    bar_chart,
    heat_map,
    line_chart,
    scatter_chart,
)

LINE = Series("a & b", [0, 1, 2], [90.0, 50.0, 10.0], [1.0, 2.0, 20.0], 0)
CHARTS = {
    "line": line_chart([LINE], x_label="x", y_label="y"),
    "named": line_chart([LINE], x_label="x", y_label="y", ticks=["p < 1", "p = 1", "p > 1"]),
    "bar": bar_chart([Bar("a <b>", 99.0, 3.0, 57.5), Bar("c", 0.0, 0.0, None)], label="bars"),
    "heat": heat_map([[90.0, None], [80.0, 70.0]], x_label="x", y_label="y"),
    "scatter": scatter_chart([Point("a", 0.1, 50, 0), Point("b", 30, 60, 1)], x_label="x", y_label="y"),
    "one point": scatter_chart([Point("a", 5.0, 50, 0)], x_label="x", y_label="y"),
}


@pytest.mark.parametrize("name", CHARTS)
def test_charts_are_well_formed_and_stay_inside(name: str) -> None:
    root = ElementTree.fromstring(CHARTS[name])
    assert root.attrib["viewBox"].startswith(f"0 0 {WIDTH} ")
    height = float(root.attrib["viewBox"].split()[3])
    for element in root.iter():
        for key in ("x", "x1", "x2", "cx"):
            assert 0 <= float(element.attrib.get(key, 0)) <= WIDTH
        for key in ("y", "y1", "y2", "cy"):
            assert 0 <= float(element.attrib.get(key, 0)) <= height
        for pair in element.attrib.get("points", "").split():
            x, y = map(float, pair.split(","))
            assert 0 <= x <= WIDTH
            assert 0 <= y <= height


def test_higher_values_are_drawn_higher_and_later_ones_further_right() -> None:
    points = re.search(r'<polyline[^>]*points="([^"]*)"', CHARTS["line"])
    assert points is not None
    corners = [tuple(map(float, pair.split(","))) for pair in points[1].split()]
    assert [x for x, _ in corners] == sorted(x for x, _ in corners)
    assert [y for _, y in corners] == sorted(y for _, y in corners), "SVG counts downwards"


def test_the_papers_mark_is_there_only_where_it_prints_a_number() -> None:
    assert CHARTS["bar"].count('class="paper"') == 1


def test_an_empty_place_of_a_matrix_stays_empty() -> None:
    assert CHARTS["heat"].count("<rect") == 3


def test_frame_maps_its_corners_to_the_edges() -> None:
    frame = Frame(0, 10, 20, 40)
    assert frame.x(0) < frame.x(10)
    assert frame.y(40) < frame.y(20)


def test_close_percentages_are_not_drawn_from_zero() -> None:
    assert percent_extent([61.0, 62.0])[0] > 50
    assert percent_extent([10.0, 90.0])[0] == 0


def test_log_ticks_lie_on_the_axis() -> None:
    for low, high in ((0.0, 0.3), (-2.0, 4.0), (5.1, 5.9)):
        assert all(low <= x <= high for x, _ in log_ticks(low, high))
