"""The chart of lessons: only methods whose accuracy and lesson are both known."""

from i2cansay.experiments.declare.choice import Choice
from i2cansay.experiments.declare.declaration import load_table
from i2cansay.experiments.report.lesson_chart import COSTS, RUNS, TABLE, marks_of
from i2cansay.experiments.report.study_tables import load_studies
from i2cansay.experiments.run.filling import RecordIndex, fill_table


def test_a_method_without_records_has_no_mark() -> None:
    plan = fill_table(load_table("shared-step"), RecordIndex([]), Choice())
    runs = {(TABLE, f"{run}, cost", 0): {"MB written": 1.0, "ms": 2.0} for run in RUNS.values()}
    assert not list(marks_of(plan, runs, "ms"))


def test_every_run_is_declared_with_its_costs() -> None:
    (study,) = (each for each in load_studies() if each.name == "cost of a lesson")
    assert set(RUNS.values()) <= set(study.rows)
    assert set(COSTS) <= {column.value for column in study.columns}


def test_every_row_is_one_of_the_table_of_methods() -> None:
    names = {row.name for block in load_table("shared-step").blocks for row in block.rows}
    assert set(RUNS) <= names
