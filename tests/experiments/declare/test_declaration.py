import tomllib
from math import isnan
from pathlib import Path

import pytest

from i2cansay.experiments.declare.choice import Choice
from i2cansay.experiments.declare.declaration import DECLARED, OURS, load_table
from i2cansay.experiments.report.illustration import ILLUSTRATIONS
from i2cansay.experiments.run.metric import metric_of
from i2cansay.experiments.run.planning import make_plan
from i2cansay.learners import LEARNERS, learner_class
from i2cansay.streams import STREAMS


@pytest.mark.parametrize("name", [*DECLARED, *OURS])
def test_every_declared_cell_can_be_asked_for(name: str) -> None:
    table = load_table(name)
    for column in table.columns:
        assert column.stream.partition(":")[0] in STREAMS
        metric_of(column.metric)
        assert column.every_session or column.metric == "last", "an average needs every session"
    for block in table.blocks:
        for row in block.rows:
            if row.learner in LEARNERS:
                known = learner_class(row.learner)().get_params()
                assert set(row.parameters) <= set(known)


@pytest.mark.parametrize("name", [*DECLARED, *OURS])
def test_rows_and_columns_have_names_of_their_own(name: str) -> None:
    table = load_table(name)
    assert len({column.name for column in table.columns}) == len(table.columns)
    for block in table.blocks:
        assert len({row.name for row in block.rows}) == len(block.rows)


def test_the_paper_has_so_many_rows() -> None:
    """Counted in the paper: none may be dropped because its method is not built."""
    counts = {
        name: sum(row.is_papers for block in load_table(name).blocks for row in block.rows)
        for name in ("table1", "table2", "table3", "table4", "table5", "table6")
    }
    assert counts == {"table1": 13, "table2": 22, "table3": 8, "table4": 4, "table5": 1, "table6": 1}


def test_printed_numbers_are_percentages_and_only_cope_and_cndpm_leave_gaps() -> None:
    for name in DECLARED:
        table = load_table(name)
        # Table 3 prints averages; our accuracy at the end stands beside them.
        expected = sum(not column.name.endswith("(last)") for column in table.columns)
        for block in table.blocks:
            for row in block.rows:
                numbers = [value for value in row.paper if not isnan(value)]
                assert all(0 < value < 100 for value in numbers)
                if name.startswith("table") and row.is_papers and row.name not in ("cope", "cndpm"):
                    assert len(numbers) == expected


def test_a_row_that_was_added_says_so_and_has_no_printed_number() -> None:
    added = [row for name in DECLARED for block in load_table(name).blocks for row in block.rows if row.added]
    rivals, closed_forms = (
        {"er", "ewc", "icarl", "eeil", "fearnet", "dsdm_sessions"},
        {"ncm", "slda", "ridge", "i2cansay_shared"},
    )
    assert {row.learner for row in added} == {*rivals, *closed_forms, "naive"}
    for row in added:
        assert row.title.endswith("not in the paper")
        assert all(map(isnan, row.paper))


def test_an_unknown_table_is_named() -> None:
    with pytest.raises(ValueError, match="declared are table1, table2"):
        load_table("table7")


def test_the_declared_files_are_all_in_the_table() -> None:
    folder = Path(load_table.__wrapped__.__code__.co_filename).parents[1] / "declared"
    files = {path.name for path in folder.glob("*.toml")} - {"relations.toml", "tuning.toml", "studies.toml"}
    assert files == {*DECLARED.values(), *OURS.values(), *ILLUSTRATIONS.values()}
    for path in folder.glob("*.toml"):
        tomllib.loads(path.read_text())


@pytest.mark.parametrize(
    ("one", "other", "differs"),
    [
        ("l2p_alone", "l2p_batch", "mask"),
        ("dualprompt_alone", "dualprompt_batch", "mask"),
        ("coda_alone", "coda_batch", "mask"),
        ("single_prompt_alone", "single_prompt_seen", "mask"),
        ("l2p_sessions", "l2p_sessions_seen", "mask"),
        ("l2p_sessions_seen", "l2p_sessions_seen_once", "epochs"),
    ],
)
def test_rows_that_show_what_a_mask_is_worth_differ_in_nothing_else(
    one: str, other: str, differs: str
) -> None:
    column = "CIFAR-10 10% step 2"
    table = load_table("prompts")
    plan = make_plan(table, Choice(rows=[one, other], seeds=1))
    first, second = (entry.cell for row in plan.rows for entry in row.entries if entry.column.name == column)
    assert first is not None
    assert second is not None
    assert first.learner == second.learner
    before, after = first.all_parameters(), second.all_parameters()
    assert [name for name in before if before[name] != after[name]] == [differs]
