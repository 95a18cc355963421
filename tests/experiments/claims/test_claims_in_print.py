import pytest

from i2cansay.experiments.claims.claims_in_print import check_paper
from i2cansay.experiments.claims.finding import Verdict
from i2cansay.experiments.declare.declaration import load_table
from i2cansay.experiments.declare.relation import Relation, load_relations

RELATIONS = {relation.name: relation for relation in load_relations()}

# Worked out by hand from the printed tables.
EXPECTED = {
    "over-naive": Verdict.HOLDS,
    "over-ensemble": Verdict.HOLDS,
    "low-data-over-dsdm": Verdict.FAILS,
    "vit-average-gain": Verdict.HOLDS,
    "prompt-methods-poor": Verdict.HOLDS,
    "best-in-every-session": Verdict.UNTESTABLE,
    "core50-over-second-5k": Verdict.HOLDS,
    "core50-over-second-1k": Verdict.FAILS,
    "beats-all-with-5k": Verdict.FAILS,
    "offline-over-second": Verdict.HOLDS,
    "ican-over-baseline": Verdict.HOLDS,
    "isay-over-baseline": Verdict.HOLDS,
    "both-over-ican": Verdict.HOLDS,
    "flat-in-memory": Verdict.HOLDS,
    "flat-in-beta": Verdict.HOLDS,
    "best-beta": Verdict.HOLDS,
    "generation-order": Verdict.UNTESTABLE,
    "cifar100-step5-printed-twice": Verdict.FAILS,
    "cifar10-step1-printed-twice": Verdict.FAILS,
}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_papers_tables_answer_as_worked_out_by_hand(name: str) -> None:
    assert check_paper(RELATIONS[name]).verdict == EXPECTED[name]


def test_the_figures_are_given() -> None:
    assert "the tables 3.9, 2.2" in check_paper(RELATIONS["over-ensemble"]).detail
    assert "the tables 1.6" in check_paper(RELATIONS["low-data-over-dsdm"]).detail
    assert "78.6 against 78.7" in check_paper(RELATIONS["low-data-over-dsdm"]).detail
    assert "25.9, 19.9" in check_paper(RELATIONS["core50-over-second-1k"]).detail
    assert "57.5 in Table 1, 59.4 in Table 4" in check_paper(RELATIONS["cifar100-step5-printed-twice"]).detail


@pytest.mark.parametrize("relation", RELATIONS.values(), ids=RELATIONS)
def test_every_relation_names_rows_and_columns_that_exist(relation: Relation) -> None:
    if relation.kind == "same":
        for name, row, column in relation.places:
            assert load_table(name).row(row)
            assert column in [each.name for each in load_table(name).columns]
        return
    table = relation.declaration()
    assert relation.row_names()
    for row in relation.row_names():
        table.row(row, relation.backbone)
    names = {column.name for column in table.columns}
    assert set(relation.columns) <= names
    assert {name for pair in relation.pairs for name in pair} <= names
    assert not relation.at or relation.at in names
    assert relation.chosen_columns()
