"""Fills planned tables from records, and from nothing else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from i2cansay.experiments.declare.cell import Cell, hash_of
from i2cansay.experiments.declare.choice import Choice
from i2cansay.experiments.declare.declaration import Table
from i2cansay.experiments.run.plan import Entry, Plan
from i2cansay.experiments.run.planning import make_plan
from i2cansay.experiments.run.record import Record


class RecordIndex:
    """Finds the records of a cell, all seeds together."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.records = list(records)
        # By what is played, then by all parameters of the learner, then by seed.
        self._runs: dict[str, dict[str, dict[int, Record]]] = defaultdict(lambda: defaultdict(dict))
        sources: dict[tuple[str, str], str] = {}
        for record in self.records:
            source = str(record.cell["dataset"]), str(record.cell["encoder"])
            if sources.setdefault(source, record.features["fingerprint"]) != record.features["fingerprint"]:
                raise ValueError(
                    f"the records of {source[0]} with {source[1]} are of two different sets of features; keep "
                    "them in different folders and report one at a time"
                )
            runs = self._runs[_setting(record.cell)][hash_of(record.parameters)]
            runs.setdefault(record.seed, record)

    def runs(self, cell: Cell) -> list[Record]:
        """Return the records of a cell for any seed, in order of seed, without those made with other defaults.

        For a cell that is measured only at its end, records that were measured after every session count too.
        """
        identity = cell.identity()
        found: dict[int, Record] = {}
        for every_session in dict.fromkeys((cell.every_session, True)):
            for runs in self._runs.get(_setting({**identity, "every_session": every_session}), {}).values():
                if cell.fits(next(iter(runs.values())).parameters):
                    found = {**runs, **found}
        return [found[seed] for seed in sorted(found)]


def _setting(identity: Mapping[str, Any]) -> str:
    return hash_of({name: value for name, value in identity.items() if name not in ("seed", "parameters")})


def measure(plan: Plan, index: RecordIndex) -> Plan:
    """Fill a planned table with the records of the planned seeds."""

    def fill(entry: Entry) -> Entry:
        runs = index.runs(entry.cell) if entry.cell is not None else []
        # Tables share cells. More seeds, which another table asked for, would make the columns of this one unequal.
        return replace(entry, records=tuple(record for record in runs if record.seed in entry.seeds))

    return plan.change_entries(fill)


def fill_table(table: Table, index: RecordIndex, choice: Choice) -> Plan:
    """Fill one declared table, with its stand-ins if only those were played."""
    return measure(make_plan(table, _with_stand_in(table, choice, index)), index)


def _with_stand_in(table: Table, choice: Choice, index: RecordIndex) -> Choice:
    """Return a choice of stand-ins if only those were played."""
    if all(column.stand_in is None for column in table.columns):
        return choice
    changed = replace(choice, stand_in=True)
    played = {
        (stand_in, entry.column.name)
        for stand_in in (False, True)
        for row in make_plan(table, changed if stand_in else choice).rows
        for entry in row.entries
        if entry.column.stand_in is not None and entry.cell is not None and index.runs(entry.cell)
    }
    own, other = ({name for is_other, name in played if is_other is wanted} for wanted in (False, True))
    return changed if other and not own else choice
