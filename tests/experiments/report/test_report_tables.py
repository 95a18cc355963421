"""Which tables come of which records; accuracy is set, not learnt."""

from dataclasses import replace

import pytest

from i2cansay.experiments.claims.finding import PRINTED, Finding, Verdict
from i2cansay.experiments.claims.verification import verify
from i2cansay.experiments.declare.cell import Cell
from i2cansay.experiments.declare.choice import Choice
from i2cansay.experiments.declare.declaration import DECLARED, load_table
from i2cansay.experiments.report.report_findings import by_kind
from i2cansay.experiments.report.report_prose import counted
from i2cansay.experiments.report.report_tables import left_out, measure_all
from i2cansay.experiments.run.planning import make_plan
from i2cansay.experiments.run.record import Record
from tests.experiments.samples import make_record


def played(table: str, choice: Choice) -> list[Record]:
    return [_record(cell) for cell in make_plan(load_table(table), choice).cells()]


def _record(cell: Cell) -> Record:
    parameters = cell.all_parameters()
    blank = make_record()
    sessions = tuple(replace(blank.outcome.checkpoints[-1], session=session) for session in range(5))
    outcome = replace(blank.outcome, checkpoints=sessions, new_classes=((0, 1), (), (), (), ()))
    return replace(blank, key=cell.key("f"), cell=cell.identity(), parameters=parameters, outcome=outcome)


def test_the_papers_own_backbones_are_in_place_of_nothing() -> None:
    (table,) = (t for t in measure_all(played("table1", Choice(seeds=2))) if t.table.name == "table1")
    assert table.title == "Table 1: online task-free continual learning"
    assert table.command == "i2cansay reproduce table1 --seeds 2"
    assert {row.encoder for row in table.rows if row.records} == {"resnet50", "dino_vits8"}


def test_another_encoder_has_a_table_of_its_own() -> None:
    records = [*played("table4", Choice(seeds=2)), *played("table4", Choice(seeds=2, encoder="eyes"))]
    titles = [table.title for table in measure_all(records)]
    assert titles == ["Table 4: components", "Table 4: components; eyes in place of resnet50"]


def test_cells_of_another_table_do_not_add_to_declared_seeds() -> None:
    """The generation figure begins at seed 6, and shares a column with Table 4, which has seeds up to 19."""
    records = [*played("generation", Choice(encoder="eyes")), *played("table4", Choice(encoder="eyes"))]
    (figure,) = (table for table in measure_all(records) if table.table.name == "generation")
    assert {
        len(entry.records) for row in figure.rows if row.declared.name == "ican" for entry in row.entries
    } == {10}


def test_declared_low_data_rows_are_no_table_with_that_fraction() -> None:
    tables = measure_all(played("table1", Choice(seeds=2, encoder="eyes")))
    assert {table.choice.fraction for table in tables} == {None}


@pytest.mark.parametrize("name", ["floors", "shared-gaussian", "tuning-er"])
def test_tables_of_our_own_are_found_too(name: str) -> None:
    records = played(name, Choice())
    assert name in [table.table.name for table in measure_all(records)]
    assert not left_out(records, measure_all(records))


def test_a_table_of_the_paper_does_not_also_appear_as_one_of_ours() -> None:
    tables = measure_all(played("table1", Choice(seeds=2, encoder="efficientnet-lite0")))
    assert {table.table.name for table in tables} <= set(DECLARED)


def test_a_fraction_that_was_asked_for_is_found_beside_the_declared() -> None:
    records = [
        *played("table4", Choice(seeds=2, encoder="eyes")),
        *played("table4", Choice(seeds=3, encoder="eyes", fraction=0.2)),
    ]
    tables = measure_all(records)
    assert [table.command for table in tables] == [
        "i2cansay reproduce table4 --encoder eyes --seeds 2",
        "i2cansay reproduce table4 --encoder eyes --fraction 0.2 --seeds 3",
    ]
    assert not left_out(records, tables)
    assert left_out(records, tables[:1]) == len(records) - len(tables[0].records)


def test_more_seeds_than_declared_are_not_lost() -> None:
    records = played("table4", Choice(seeds=23, encoder="eyes"))
    (table,) = measure_all(records)
    assert table.command.endswith("--seeds 23")
    assert not left_out(records, [table])


def test_the_declared_number_of_seeds_is_not_repeated() -> None:
    (table,) = measure_all(played("table4", Choice(encoder="eyes")))
    assert table.command == "i2cansay reproduce table4 --encoder eyes"


def test_printed_numbers_and_relations_of_our_own_are_no_claims_of_the_paper() -> None:
    findings = verify(played("table4", Choice(seeds=2, encoder="eyes")))
    claims, own, numbers = by_kind(findings)
    assert sorted(map(id, findings)) == sorted(map(id, [*claims, *own, *numbers]))
    assert not any("our relation" in each.says for each in claims)
    assert all("our relation" in each.says for each in own)
    assert own
    assert all(each.says.startswith("The numbers printed in") for each in numbers)
    assert numbers
    assert counted(findings) == counted(claims) != counted(own)


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        (
            [Verdict.HOLDS, Verdict.HOLDS, Verdict.FAILS, Verdict.UNTESTABLE],
            "2 hold, 1 does not hold and 1 cannot be",
        ),
        ([Verdict.HOLDS], "1 holds."),
        ([], "none is checked."),
    ],
)
def test_claims_are_counted_in_words(verdicts: list[Verdict], said: str) -> None:
    assert said in counted([Finding("a", "it is so", PRINTED, each, "", "eyes") for each in verdicts])
