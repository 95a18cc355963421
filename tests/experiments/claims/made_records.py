"""Records made to measure: accuracy and predictions are set, not learnt."""

from collections.abc import Callable, Iterable
from zlib import crc32

import numpy as np

from i2cansay.evaluate import Checkpoint, Outcome
from i2cansay.experiments.claims.checked_claim import CheckedClaim
from i2cansay.experiments.claims.claims_on_records import check_claim
from i2cansay.experiments.claims.finding import Finding
from i2cansay.experiments.claims.judgement import judge
from i2cansay.experiments.declare.cell import Cell
from i2cansay.experiments.declare.choice import Choice
from i2cansay.experiments.declare.declaration import load_table
from i2cansay.experiments.declare.relation import load_relations
from i2cansay.experiments.run.filling import RecordIndex, fill_table
from i2cansay.experiments.run.planning import make_plan
from i2cansay.experiments.run.record import Record

# So many that the test set adds little noise, unless a test asks for a small one.
N_TEST = 1_000_000
RELATIONS = {relation.name: relation for relation in load_relations()}
# Row and column to right answers, in thousandths, and the kind of predictions.
Scenario = Callable[[str, str], tuple[float, int] | None]


def kind_of(row: str) -> int:
    """Return a kind of predictions for every row."""
    return crc32(row.encode())


def made(cell: Cell, right: float, kind: int, *, n_test: int = N_TEST) -> Record:
    """Return a run with so many thousandths of the test rows right; runs of one kind predict the same."""
    rng = np.random.default_rng([cell.seed, kind])
    correct = round(right * n_test / 1000)
    return Record(
        key=cell.key("f"),
        cell=cell.identity(),
        parameters=cell.all_parameters(),
        features={"fingerprint": "f"},
        outcome=Outcome(
            stream={"has_sessions": True},
            classes=(0, 1),
            test_counts=(n_test // 2, n_test - n_test // 2),
            new_classes=((0, 1), (), (), (), ()),
            checkpoints=tuple(
                Checkpoint(session, 100, (correct // 2, correct - correct // 2), 0, 0) for session in range(5)
            ),
            every_session=True,
            learning_seconds=1.0,
            prediction_seconds=1.0,
            state_bytes=8,
        ),
        predictions=rng.integers(0, 100, 1000).astype(np.uint16),
        seconds=2.0,
        versions={},
        commit=None,
    )


def records_of(
    table: str,
    scenario: Scenario,
    seeds: Iterable[int] | None = None,
    *,
    stand_in: bool = False,
    n_test: int = N_TEST,
    noise: float = 0.5,
    encoder: str | None = "eyes",
) -> list[Record]:
    """Return records of a table's first block: of the declared seeds, scattered by `noise` thousandths.

    Without an `encoder` they are of those that the table declares.
    """
    backbone = load_table(table).blocks[0].backbone
    plan = make_plan(load_table(table), Choice(encoder=encoder, backbone=backbone, stand_in=stand_in))
    records: dict[str, Record] = {}
    for row in plan.rows:
        for place, entry in enumerate(row.entries):
            told = scenario(row.declared.name, entry.column.name)
            if entry.cell is None or told is None:
                continue
            for seed in entry.seeds if seeds is None else seeds:
                scatter = noise * np.random.default_rng([seed, told[1], place]).normal()
                record = made(entry.cell.with_seed(seed), told[0] + scatter, told[1], n_test=n_test)
                records.setdefault(record.key, record)  # two rows can be one cell; the first tells
    return list(records.values())


def checked(name: str, records: list[Record]) -> list[CheckedClaim]:
    """Return what records say about a claim, the printed rule first."""
    relation = RELATIONS[name]
    table = fill_table(load_table(relation.table), RecordIndex(records), Choice(encoder="eyes"))
    return check_claim(relation, table, encoder="eyes")


def found_in(name: str, records: list[Record]) -> dict[str, Finding]:
    """Return the findings on one claim that is judged alone, by the rule."""
    return {finding.where: finding for finding in judge(checked(name, records))}


def check(name: str, scenario: Scenario) -> dict[str, Finding]:
    """Return the findings on one claim in a scenario with all its declared seeds."""
    return found_in(name, records_of(RELATIONS[name].table, scenario))
