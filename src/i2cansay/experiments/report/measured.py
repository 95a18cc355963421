"""A planned table filled from records, and from nothing else."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from i2cansay.experiments.claims.statistics import Spread, spread
from i2cansay.experiments.declare.cell import Cell, hash_of
from i2cansay.experiments.declare.declaration import Table, printed
from i2cansay.experiments.declare.metric import metric_of
from i2cansay.experiments.declare.plan import Choice, Entry, Plan, PlannedRow, make_plan
from i2cansay.experiments.run.record import Record


class RecordIndex:
    """Records by cell: all seeds of a cell together."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.records = list(records)
        self._by_cell: dict[str, dict[int, Record]] = defaultdict(dict)
        for record in self.records:
            runs = self._by_cell[_without_seed(record.cell)]
            other = runs.setdefault(record.seed, record)
            if other.features["fingerprint"] != record.features["fingerprint"]:
                cell = record.cell
                raise ValueError(
                    f"there are records of {cell['dataset']} with {cell['encoder']} on two different sets of "
                    "features; keep them in different folders and report one at a time"
                )

    def runs(self, cell: Cell) -> list[Record]:
        """Return the records of a cell, whatever its seed, in order of seed; not those made with other defaults."""
        found = self._by_cell.get(_without_seed(cell.identity()), {})
        return [found[seed] for seed in sorted(found) if cell.fits(found[seed].parameters)]


def _without_seed(identity: Mapping[str, Any]) -> str:
    return hash_of({name: value for name, value in identity.items() if name != "seed"})


@dataclass(frozen=True)
class MeasuredEntry:
    """One place of a table: the plan, the records of its seeds, and what they say."""

    entry: Entry
    records: tuple[Record, ...]
    ours: Spread | None

    @property
    def reason(self) -> str:
        """Why there is no number of ours; empty where there is one."""
        if self.ours is not None:
            return ""
        return self.entry.reason or "not played"

    @property
    def delta(self) -> float | None:
        """Ours minus the paper's, where both are there and ours is no stand-in on other images."""
        cell = self.entry.cell
        if self.ours is None or not printed(self.entry.paper) or cell is None or cell.n_classes is not None:
            return None
        return self.ours.mean - self.entry.paper


@dataclass(frozen=True)
class MeasuredRow:
    """One row of a table, filled."""

    planned: PlannedRow
    entries: tuple[MeasuredEntry, ...]

    @property
    def records(self) -> list[Record]:
        """All records of the row."""
        return [record for entry in self.entries for record in entry.records]

    @property
    def seeds(self) -> str:
        """How many seeds the row's numbers are means over; empty where there is none."""
        return _span({entry.ours.n for entry in self.entries if entry.ours is not None})

    @property
    def seconds(self) -> float | None:
        """Mean time of a run inside the learner."""
        times = [r.outcome.learning_seconds + r.outcome.prediction_seconds for r in self.records]
        return sum(times) / len(times) if times else None

    @property
    def state_bytes(self) -> int | None:
        """Largest state at the end of a run."""
        return max((record.state_bytes for record in self.records), default=None)


@dataclass(frozen=True)
class MeasuredTable:
    """A table, filled."""

    plan: Plan
    rows: tuple[MeasuredRow, ...]

    @property
    def table(self) -> Table:
        """The declaration."""
        return self.plan.table

    @property
    def records(self) -> list[Record]:
        """All records that the table is made from, each once."""
        return list({record.key: record for row in self.rows for record in row.records}.values())

    @property
    def n_played(self) -> int:
        """How many columns have a number of ours."""
        return sum(
            any(row.entries[place].records for row in self.rows) for place in range(len(self.plan.columns))
        )

    @property
    def seeds(self) -> str:
        """How many seeds the numbers are means over."""
        counts = {entry.ours.n for row in self.rows for entry in row.entries if entry.ours is not None}
        if not counts:
            return "no seeds"
        return "1 seed" if counts == {1} else f"{_span(counts)} seeds"

    @property
    def command(self) -> str:
        """The command that makes these records."""
        words = ["i2cansay", "reproduce", self.table.name]
        choice = self.plan.choice
        for option, value in (
            ("--dataset", choice.dataset),
            ("--backbone", choice.backbone),
            ("--encoder", choice.encoder),
            ("--fraction", choice.fraction),
            ("--seeds", choice.seeds),
        ):
            if value is not None:
                words += [option, str(value)]
        for row in choice.rows:
            words += ["--rows", row]
        return shlex.join([*words, *(["--stand-in"] if choice.stand_in else [])])


def _span(counts: set[int]) -> str:
    """Return "3", or "1 to 20"; nothing for nothing."""
    ends = dict.fromkeys((min(counts), max(counts))) if counts else ()
    return " to ".join(map(str, ends))


def measure(plan: Plan, index: RecordIndex) -> MeasuredTable:
    """Fill a planned table with what the records of the planned seeds say."""
    rows = [MeasuredRow(row, tuple(_entry(entry, index) for entry in row.entries)) for row in plan.rows]
    return MeasuredTable(plan, tuple(rows))


def _entry(entry: Entry, index: RecordIndex) -> MeasuredEntry:
    runs = index.runs(entry.cell) if entry.cell is not None else []
    # Tables share cells; further seeds that another table asked for would make the columns of this one unlike.
    runs = [record for record in runs if record.seed in entry.seeds]
    metric = metric_of(entry.column.metric)
    return MeasuredEntry(entry, tuple(runs), spread(map(metric, runs)) if runs else None)


def fill_table(table: Table, index: RecordIndex, choice: Choice) -> MeasuredTable:
    """Fill one declared table, its stand-ins where only those were played."""
    return measure(make_plan(table, _with_stand_in(table, choice, index)), index)


def _with_stand_in(table: Table, choice: Choice, index: RecordIndex) -> Choice:
    """Let a column stand for its stand-in where only that was played."""
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
