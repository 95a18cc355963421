from xml.etree import ElementTree

import pytest

pytest.importorskip("matplotlib")

from i2cansay.experiments.report.charts import (
    VARIABLES,
    Bar,
    Point,
    Series,
    bar_chart,
    heat_map,
    legend_html,
    line_chart,
    scatter_chart,
)

LINE = Series("a & b", [0, 1, 2], [90.0, 50.0, 10.0], [1.0, 2.0, 20.0], 0)
CHARTS = {
    "line": line_chart([LINE], x_label="x", y_label="y"),
    "named": line_chart([LINE], x_label="x", y_label="y", ticks=["p < 1", "p = 1", "p > 1"]),
    "bar": bar_chart([Bar("a <b>", 99.0, 3.0, 57.5), Bar("c", 0.0, 0.0, None)], label="bars <&>"),
    "heat": heat_map([[90.0, None], [80.0, 70.0]], x_label="x", y_label="y"),
    "scatter": scatter_chart([Point("a", 0.1, 50, 0), Point("b", 30, 60, 1)], x_label="x", y_label="y"),
    "one point": scatter_chart([Point("a", 5.0, 50, 0)], x_label="x", y_label="y"),
}


@pytest.mark.parametrize("name", CHARTS)
def test_charts_are_well_formed_and_have_the_colours_of_the_page(name: str) -> None:
    root = ElementTree.fromstring(CHARTS[name])
    assert root.attrib["viewBox"].startswith("0 0 ")
    assert "width" not in root.attrib, "the page says how wide"
    assert "var(--" in CHARTS[name]
    assert not any(colour in CHARTS[name] for colour in VARIABLES)


def test_two_charts_have_no_id_in_common_and_one_is_always_the_same() -> None:
    ids = [
        {
            element.attrib["id"]
            for element in ElementTree.fromstring(CHARTS[name]).iter()
            if "id" in element.attrib
        }
        for name in ("line", "bar")
    ]
    assert ids[0]
    assert not ids[0] & ids[1]
    assert line_chart([LINE], x_label="x", y_label="y") == CHARTS["line"]


def test_the_papers_mark_is_there_only_where_it_prints_a_number() -> None:
    assert CHARTS["bar"].count("-paper") == 1


def test_an_empty_place_of_a_matrix_stays_empty() -> None:
    assert CHARTS["heat"].count("-square") == 3


def test_names_are_text_and_those_of_positions_are_shown() -> None:
    texts = [element.text for element in ElementTree.fromstring(CHARTS["named"]).iter() if element.text]
    assert {"p < 1", "p = 1", "p > 1"} <= set(texts)
    assert "a &amp; b" in legend_html([LINE])
