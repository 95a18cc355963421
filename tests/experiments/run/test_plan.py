from math import isnan

import pytest

from i2cansay.experiments.declare.choice import Choice
from i2cansay.experiments.declare.declaration import DECLARED, load_table
from i2cansay.experiments.run.planning import NOT_BUILT, make_plan
from i2cansay.learners import LEARNERS


@pytest.mark.parametrize("name", DECLARED)
def test_rows_that_are_not_built_say_so_and_the_others_have_cells(name: str) -> None:
    plan = make_plan(load_table(name), Choice())
    assert len(plan.rows) == sum(len(block.rows) for block in load_table(name).blocks)
    for row in plan.rows:
        for entry in row.entries:
            is_built = row.declared.learner in LEARNERS
            assert (entry.cell is not None) == is_built
            assert (entry.reason == NOT_BUILT) == (not is_built)


@pytest.mark.parametrize("name", DECLARED)
def test_every_cell_has_a_key(name: str) -> None:
    for cell in make_plan(load_table(name), Choice(seeds=1)).cells():
        assert len(cell.key("f")) == 24


def test_a_substitute_encoder_is_in_the_title_and_makes_the_numbers_not_the_papers() -> None:
    plan = make_plan(load_table("table4"), Choice(encoder="efficientnet-lite0"))
    assert "efficientnet-lite0 in place of resnet50" in plan.title
    assert not any(entry.is_papers for row in plan.rows for entry in row.entries)


def test_the_papers_own_setting_is_recognised() -> None:
    plan = make_plan(load_table("table4"), Choice())
    assert plan.title == "Table 4: components"
    assert all(entry.is_papers for row in plan.rows for entry in row.entries)


def test_a_data_set_of_the_table_picks_its_columns_and_keeps_their_numbers() -> None:
    plan = make_plan(load_table("table1"), Choice(dataset="cifar100", backbone="resnet50"))
    assert [column.name for column in plan.columns] == [
        "CIFAR-100 step 5",
        "CIFAR-100 step 1",
        "CIFAR-100 Gaussian",
    ]
    naive = next(row for row in plan.rows if row.declared.name == "naive")
    assert [entry.paper for entry in naive.entries] == [3.8, 1.0, 6.9]


def test_another_data_set_replaces_all_and_drops_the_printed_numbers() -> None:
    plan = make_plan(load_table("table1"), Choice(dataset="digits", encoder="pixels"))
    names = [column.name for column in plan.columns]
    assert names == ["digits step 2", "digits step 1", "digits Gaussian", "digits step 5"]
    assert all(cell.dataset == "digits" for cell in plan.cells())
    assert all(entry.paper != entry.paper for row in plan.rows for entry in row.entries)
    assert "on digits, which is not the paper's" in plan.title


def test_low_data_rows_take_the_declared_share() -> None:
    plan = make_plan(
        load_table("table1"), Choice(backbone="resnet50", rows=["i2cansay_low", "i2cansay"], seeds=1)
    )
    shares = {
        (row.declared.name, entry.column.dataset): entry.cell.fraction
        for row in plan.rows
        for entry in row.entries
        if entry.cell
    }
    assert shares == {
        ("i2cansay_low", "cifar10"): 0.1,
        ("i2cansay_low", "cifar100"): 0.3,
        ("i2cansay", "cifar10"): None,
        ("i2cansay", "cifar100"): None,
    }


def test_the_stand_in_is_played_only_when_asked_for() -> None:
    table = load_table("table2")
    own = make_plan(table, Choice(rows=["i2cansay"]))
    other = make_plan(table, Choice(rows=["i2cansay"], stand_in=True))
    assert {cell.dataset for cell in own.cells()} == {"cifar10", "core50"}
    assert {(cell.dataset, cell.n_classes) for cell in other.cells()} == {("cifar10", None), ("cifar100", 50)}
    assert not other.rows[0].entries[-1].is_papers


def test_whoever_has_a_memory_gets_the_declared_one() -> None:
    for name in ("table1", "table2", "sessions"):
        for row in make_plan(load_table(name), Choice()).rows:
            for place, entry in enumerate(row.entries):
                if entry.cell is None:
                    continue
                given = entry.cell.all_parameters()
                assert given.get("memory_size", 0) == (
                    0 if row.declared.learner == "ensemble" else row.declared.memory[place]
                )


def test_a_method_without_a_place_for_samples_stores_none_whatever_is_printed() -> None:
    plan = make_plan(load_table("table1"), Choice(backbone="resnet50"))
    memory = {row.declared.name: row.memory for row in plan.rows}
    assert memory["ensemble"] == "0 (printed: 2k / 6k)"
    assert memory["cope"] == "2k / 6k"
    assert memory["naive"] == memory["i2cansay"] == "0"


def test_seeds_and_rows_are_as_chosen() -> None:
    plan = make_plan(load_table("table6"), Choice(seeds=2, rows=["i2cansay"]))
    assert len(plan.rows) == 1
    assert len(plan.cells()) == 6 * 2


@pytest.mark.parametrize("fraction", [0.0, -0.1, 1.5, float("nan")])
def test_a_fraction_is_a_share(fraction: float) -> None:
    with pytest.raises(ValueError, match="above 0 and at most 1"):
        Choice(fraction=fraction)


def test_a_fraction_holds_for_every_row() -> None:
    plan = make_plan(load_table("table1"), Choice(fraction=0.2, seeds=1))
    assert {cell.fraction for cell in plan.cells()} == {0.2}


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (Choice(backbone="vgg"), "no backbone 'vgg'; it has resnet50, dino_vits8"),
        (Choice(rows=["gpt"]), "no row gpt; it has cope"),
    ],
)
def test_what_is_not_there_is_named(choice: Choice, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_plan(load_table("table1"), choice)


def test_further_learners_are_rows_of_their_own_without_printed_numbers() -> None:
    own = "i2cansay.learners.closed_form.ncm:NearestClassMean"
    plan = make_plan(load_table("table1"), Choice(dataset="digits", rows=["i2cansay"], learners=[own, "ncm"]))
    n_blocks = len(load_table("table1").blocks)
    assert {row.entries[0].cell.learner for row in plan.rows if row.entries[0].cell} == {
        "i2cansay",
        own,
        "ncm",
    }
    further = [row for row in plan.rows if row.entries[0].cell and row.entries[0].cell.learner != "i2cansay"]
    assert len(further) == 2 * n_blocks
    assert all(isnan(entry.paper) for row in further for entry in row.entries)
    with pytest.raises(ValueError, match="there is no learner 'oracle'"):
        make_plan(load_table("table1"), Choice(learners=["oracle"]))
