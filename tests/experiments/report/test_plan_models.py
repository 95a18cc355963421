"""Tables over seeds and differences, from records whose accuracy is set."""

import re
from dataclasses import replace

import numpy as np

from i2cansay.experiments.declare.cell import Cell
from i2cansay.experiments.declare.choice import Choice
from i2cansay.experiments.declare.declaration import OURS, load_table
from i2cansay.experiments.report.plan_models import differences_model, seeds_model
from i2cansay.experiments.report.report_prose import which_method
from i2cansay.experiments.run.filling import RecordIndex, fill_table
from i2cansay.experiments.run.plan import Plan
from i2cansay.experiments.run.planning import make_plan
from i2cansay.experiments.run.record import Record
from tests.experiments.samples import make_record

RIGHT = {"i2cansay_shared": 9, "slda": 5, "ranpac": 7, "i2cansay": 4, "joint": 8}


def record_of(cell: Cell) -> Record:
    blank = make_record()
    right = (RIGHT[cell.learner], cell.seed if cell.learner == "i2cansay_shared" else 0)
    outcome = replace(blank.outcome, checkpoints=(replace(blank.outcome.checkpoints[-1], correct=right),))
    return replace(
        blank, key=cell.key("f"), cell=cell.identity(), parameters=cell.all_parameters(), outcome=outcome
    )


def filled(name: str, rows: tuple[str, ...] = ("shared", "slda", "ranpac_10k")) -> Plan:
    choice = Choice(rows=rows)
    records = [record_of(cell) for cell in make_plan(load_table(name), choice).cells()]
    return fill_table(load_table(name), RecordIndex(records), choice)


def texts(plan: Plan, row: str) -> list[str]:
    title = plan.table.row(row).title
    (line,) = (line for line in seeds_model(plan).lines if line.cells[0].text == title)
    return [cell.text for cell in line.cells[1:]]


def test_a_fixed_row_is_played_once_where_all_the_data_are_used() -> None:
    cells = make_plan(load_table("shared-step"), Choice(rows=["slda"])).cells()
    assert {cell.fraction: 0 for cell in cells if cell.seed > 0} == {0.1: 0, 0.3: 0}
    assert len(cells) == 4 + 2 * 5


def test_rows_that_do_not_mind_the_order_are_those_of_the_steps() -> None:
    plan = make_plan(load_table("shared-gaussian"), Choice(rows=["slda", "ranpac_10k", "shared", "paper"]))
    streams = {
        row.declared.name: {entry.cell.stream for entry in row.entries if entry.cell} for row in plan.rows
    }
    assert streams["slda"] == streams["ranpac_10k"] == {"step:2", "step:5"}
    assert streams["shared"] == streams["paper"] == {"gaussian"}


def test_a_row_has_fewer_seeds_in_the_columns_it_names() -> None:
    (row,) = make_plan(load_table("shared-step"), Choice(rows=["wide"])).rows
    assert [len(entry.seeds) for entry in row.entries] == [5, 3, 5, 3, 5, 3]
    (row,) = make_plan(load_table("shared-step"), Choice(rows=["wide"], seeds=4)).rows
    assert [len(entry.seeds) for entry in row.entries] == [4] * 6


def test_a_row_that_is_played_in_one_order_says_that_any_other_gives_the_same() -> None:
    plan = make_plan(load_table("resnet50"), Choice(rows=["ncm", "stages_best"]))
    for row in plan.rows:
        assert {entry.why_empty for entry in row.entries if entry.cell is None} == {
            "any order gives the same"
        }
    (row,) = make_plan(load_table("shared-step"), Choice(rows=["stages_best"])).rows
    assert [entry.why_empty for entry in row.entries if entry.cell is None] == ["not tried", "not tried"]


def test_which_method_is_said_by_the_records() -> None:
    plan = filled("shared-step", ("stages_best", "stages_small", "paper", "stages_joint", "last_best"))
    text = which_method(plan)
    assert (
        "It is 25.0 to 35.0 points above the paper's method. Of these, 25.0 to 35.0 come from the rule"
        in text
    )
    assert "and 0.0 to 0.0 from reading the stages" in text
    assert "at once it comes to 5.0 to 10.0" in text
    assert which_method(filled("shared-step", ("stages_best", "paper", "stages_joint"))) == ""


def test_a_difference_that_no_seed_changes_has_the_noise_of_the_test_images() -> None:
    """Both rows are fixed: in a column with all the data each is one run."""
    plan = filled("shared-step", ("stages_best", "stages_slda_oas"))
    (line,) = differences_model(plan, "stages_best", rows=["stages_slda_oas"], columns=["CIFAR-100"]).lines
    assert re.fullmatch(r"[+-]\d+\.\d\d \[[+-]\d+\.\d\d, [+-]\d+\.\d\d\]", line.cells[1].text)
    assert len(line.cells) == 2


def test_parameters_and_encoders_by_column() -> None:
    (row,) = make_plan(load_table("shared-step"), Choice(rows=["ranpac_10k_held_out"])).rows
    cells = {entry.column.name: entry.cell for entry in row.entries}
    penalties = [cell.parameters["penalty"] for cell in cells.values() if cell]
    assert penalties == [3000.0, 3000.0, 1000.0, 300.0, 1000.0, 300.0]
    assert [cell.encoder for cell in cells.values() if cell] == ["efficientnet-lite0"] * 5 + ["deit_tiny"]


def test_the_ablation_says_null_where_it_means_none() -> None:
    rows = {row.name: row.parameters for row in load_table("shared-ablation").blocks[0].rows}
    assert rows["closed_root"] == {"analogies": False, "feature_transform": "none"}


def test_every_table_of_ours_can_be_planned() -> None:
    for name in OURS:
        assert all(len(cell.key("f")) == 24 for cell in make_plan(load_table(name), Choice(seeds=1)).cells())


def test_means_have_their_deviation_and_their_seeds() -> None:
    plan = filled("shared-step")
    # 9 and the seed, of 20: 45 to 65 percent.
    assert texts(plan, "shared")[0] == f"55.00 ± {np.std([45, 50, 55, 60, 65], ddof=1):.2f} (5)"
    assert texts(plan, "slda")[1] == "25.00 (1)"
    assert texts(plan, "slda")[-1] == "0", "MB of 4,096 bytes"


def test_a_fixed_row_is_compared_with_every_seed_and_others_seed_by_seed() -> None:
    plan = filled("shared-step")
    lines = {
        line.cells[0].text: [cell.text for cell in line.cells[1:]]
        for line in differences_model(plan, "shared").lines
    }
    # Twenty test rows: the seeds alone would give an interval of ±9.82.
    assert lines[plan.table.row("slda").title][1] == "+30.00 [+6.65, +53.35]"
    assert lines[plan.table.row("ranpac_10k").title][0] == "+20.00 [-1.73, +41.73]"
    one = fill_table(plan.table, RecordIndex(plan.records), replace(plan.choice, seeds=1))
    assert differences_model(one, "shared").lines[0].cells[1].text == "+20.00 (one seed)"


def test_a_record_measured_after_every_session_answers_for_its_end() -> None:
    choice = Choice(rows=["paper"], seeds=1)
    (entry, *_) = make_plan(load_table("shared-step"), choice).rows[0].entries
    assert entry.cell is not None
    index = RecordIndex([replace(record_of_paper(entry.cell), key="x")])
    assert len(index.runs(entry.cell)) == 1
    assert not RecordIndex([record_of_paper(entry.cell, every_session=False)]).runs(
        replace(entry.cell, every_session=True)
    )


def record_of_paper(cell: Cell, *, every_session: bool = True) -> Record:
    played = replace(cell, every_session=every_session)
    return replace(make_record(), cell=played.identity(), parameters=played.all_parameters())
