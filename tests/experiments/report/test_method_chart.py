"""The chart at the top of the results: which rows it has, and that it is drawn."""

from collections import Counter
from pathlib import Path

from i2cansay.experiments.declare.choice import Choice
from i2cansay.experiments.declare.declaration import load_table
from i2cansay.experiments.report.mark_panel import mark_of
from i2cansay.experiments.report.method_chart import COLUMN, ROWS, draw_methods, marks_of
from i2cansay.experiments.run.filling import RecordIndex, fill_table
from i2cansay.experiments.run.seed_statistics import Spread

PLAN = fill_table(load_table("shared-step"), RecordIndex([]), Choice())


def test_a_method_without_records_has_no_mark() -> None:
    assert not list(marks_of(PLAN))


def test_every_row_and_the_column_are_in_the_table() -> None:
    assert set(ROWS) <= {row.declared.name for row in PLAN.rows}
    assert COLUMN in {column.name for column in PLAN.columns}


def test_a_name_stands_once_for_filled_and_once_for_hollow_marks_with_the_same_settings() -> None:
    rows = [row for row in PLAN.rows if row.declared.name in ROWS]
    marks = [mark_of(row, Spread(70.0, 0.0, 1), 1.0) for row in rows]
    assert max(Counter((mark.title, mark.on_stages) for mark in marks).values()) == 1
    settings: dict[str, set[str]] = {}
    for row, mark in zip(rows, marks, strict=True):
        title = row.declared.title.strip("*").removeprefix("stages: ")
        settings.setdefault(mark.title, set()).add(title)
    assert all(len(titles) == 1 for titles in settings.values()), settings


def test_the_chart_has_one_panel_and_a_legend_also_without_records(tmp_path: Path) -> None:
    draw_methods(PLAN, tmp_path / "methods.svg")
    drawn = (tmp_path / "methods.svg").read_text(encoding="utf-8")
    assert drawn.count('<g id="axes_') == 1
    assert all(label in drawn for label in ("shared mode", "paper mode", "other methods", "filled", "hollow"))
