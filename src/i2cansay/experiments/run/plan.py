"""A planned table: the cell of each entry and, once records are filled in, its numbers."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from i2cansay.experiments.declare.cell import Cell
from i2cansay.experiments.declare.choice import Choice
from i2cansay.experiments.declare.declaration import Column, Row, Table, printed
from i2cansay.experiments.run.metric import metric_of
from i2cansay.experiments.run.record import Record
from i2cansay.experiments.run.seed_statistics import Spread, spread
from i2cansay.learners import learner_class


@dataclass(frozen=True)
class Entry:
    """One entry of a table: the cell to play, what the paper prints, and the records of its seeds.

    Attributes
    ----------
    column : Column
    cell : Cell or None
        With seed 0; None where there is nothing to play.
    seeds : tuple of int
    reason : str
        Why there is nothing to play.
    paper, pm : float
        The printed number and its deviation; nan where none is printed.
    is_papers : bool
        Whether backbone and data are the paper's, so that the printed number should be reproduced.
    memory : int
        Samples that may be stored.
    fixed : bool
        Whether every seed gives the same result: the learner is order-free, nothing is drawn, all the data are used.
    records : tuple of Record
        Those of the seeds that were played.
    """

    column: Column
    cell: Cell | None
    seeds: tuple[int, ...]
    reason: str
    paper: float
    pm: float
    is_papers: bool
    memory: int
    fixed: bool = False
    records: tuple[Record, ...] = ()

    def cells(self) -> list[Cell]:
        """Return the cells of all seeds."""
        return [] if self.cell is None else [self.cell.with_seed(seed) for seed in self.seeds]

    @cached_property
    def ours(self) -> Spread | None:
        """Mean and deviation over the records; None where there is none."""
        return spread(map(metric_of(self.column.metric), self.records)) if self.records else None

    @property
    def why_empty(self) -> str:
        """Why we have no number here; empty if we have one."""
        return "" if self.records else self.reason or "not played"

    @property
    def is_stand_in(self) -> bool:
        """Whether other data are played than the column is about."""
        return self.cell is not None and self.cell.n_classes is not None

    @property
    def delta(self) -> float | None:
        """Our number minus the paper's; None if either is missing."""
        return None if self.ours is None or not printed(self.paper) else self.ours.mean - self.paper


@dataclass(frozen=True)
class TableRow:
    """A declared row with one entry per column."""

    declared: Row
    backbone: str
    encoder: str
    entries: tuple[Entry, ...]

    @property
    def told_sessions(self) -> bool:
        """Whether the method is told where sessions end, and so is not task-free."""
        cells = [entry.cell for entry in self.entries if entry.cell is not None]
        declared = any(learner_class(cell.learner).needs_boundaries for cell in cells)
        return declared or any(record.outcome.told_sessions for record in self.records)

    @property
    def title(self) -> str:
        """The declared title, marked if the method is told where sessions end."""
        return f"{self.declared.title} (told sessions)" if self.told_sessions else self.declared.title

    @property
    def memory(self) -> str:
        """Samples stored, as the table shows it; "0 (printed: ...)" for a method that cannot store any."""
        sizes = dict.fromkeys(entry.memory for entry in self.entries)
        text = " / ".join("0" if size == 0 else f"{size / 1000:g}k" for size in sizes)
        stores = any(
            entry.cell is None or "memory_size" in entry.cell.all_parameters() for entry in self.entries
        )
        return text if stores or text == "0" else f"0 (printed: {text})"

    @property
    def records(self) -> list[Record]:
        """All records of the row."""
        return [record for entry in self.entries for record in entry.records]

    @property
    def seeds(self) -> str:
        """How many seeds the row's numbers are means over; empty if there are none."""
        return _span({len(entry.records) for entry in self.entries if entry.records})

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
class Plan:
    """A table with a choice applied: the cells to play and, once records are filled in, the numbers."""

    table: Table
    choice: Choice
    columns: tuple[Column, ...]
    rows: tuple[TableRow, ...]

    @property
    def title(self) -> str:
        """The table's title, with everything that was substituted."""
        parts = [self.table.title]
        replaced: dict[str, dict[str, None]] = {}
        for row in self.rows:
            if row.encoder != row.backbone:
                replaced.setdefault(row.encoder, {})[row.backbone] = None
        datasets = {column.dataset for column in self.table.columns}
        if self.choice.dataset is not None and self.choice.dataset not in datasets:
            parts.append(f"on {self.choice.dataset}, which is not the paper's")
        parts += [f"{encoder} in place of {' and '.join(names)}" for encoder, names in replaced.items()]
        if self.choice.fraction is not None:
            parts.append(f"{self.choice.fraction:.0%} of the training data")
        return "; ".join(parts)

    def heading(self, column: Column) -> str:
        """Return the heading of a column: that of its stand-in, where this is played."""
        return column.stand_in.name if self.choice.stand_in and column.stand_in is not None else column.name

    def cells(self) -> list[Cell]:
        """Return all cells to play, each once."""
        every = chain.from_iterable(entry.cells() for row in self.rows for entry in row.entries)
        return list(dict.fromkeys(every))

    def change_entries(self, change: Callable[[Entry], Entry]) -> Plan:
        """Return the plan with every entry changed."""
        rows = (replace(row, entries=tuple(map(change, row.entries))) for row in self.rows)
        return replace(self, rows=tuple(rows))

    @property
    def records(self) -> list[Record]:
        """All records that the table is made from, each once."""
        return list({record.key: record for row in self.rows for record in row.records}.values())

    @property
    def n_played(self) -> int:
        """How many columns were played."""
        return sum(any(row.entries[place].records for row in self.rows) for place in range(len(self.columns)))

    @property
    def seeds(self) -> str:
        """How many seeds the numbers are means over."""
        counts = {len(entry.records) for row in self.rows for entry in row.entries if entry.records}
        if not counts:
            return "no seeds"
        return "1 seed" if counts == {1} else f"{_span(counts)} seeds"

    @property
    def command(self) -> str:
        """The command that produces these records."""
        words = ["i2cansay", "reproduce", self.table.name]
        for option, value in (
            ("--dataset", self.choice.dataset),
            ("--backbone", self.choice.backbone),
            ("--encoder", self.choice.encoder),
            ("--fraction", self.choice.fraction),
            ("--seeds", self.choice.seeds),
        ):
            if value is not None:
                words += [option, str(value)]
        for row in self.choice.rows:
            words += ["--rows", row]
        for learner in self.choice.learners:
            words += ["--learner", learner]
        return shlex.join([*words, *(["--stand-in"] if self.choice.stand_in else [])])


def _span(counts: set[int]) -> str:
    """Return "3", or "1 to 20"; "" for no counts."""
    ends = dict.fromkeys((min(counts), max(counts))) if counts else ()
    return " to ".join(map(str, ends))
