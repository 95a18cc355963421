"""From a declared table and what the user asked for to cells: what is to be played, and what cannot be and why."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from math import nan
from typing import Any

from i2cansay.core.import_by_name import is_import_name
from i2cansay.experiments.claims.statistics import Spread, spread
from i2cansay.experiments.declare.cell import Cell, default_parameters
from i2cansay.experiments.declare.declaration import Block, Column, Row, Table, printed
from i2cansay.experiments.declare.metric import metric_of
from i2cansay.experiments.run.record import Record
from i2cansay.learners import LEARNERS, learner_class, make_learner

NOT_BUILT = "not built yet"


@dataclass(frozen=True)
class Choice:
    """What differs from the table as declared.

    Parameters
    ----------
    dataset : str, optional
        One of the table's data sets: only its columns. Any other: every column is played on it instead.
    backbone : str, optional
        Only the block of this backbone.
    encoder : str, optional
        Stands in for the backbones.
    fraction : float, optional
        Share of the training data for every row, instead of the declared one.
    seeds : int, optional
        Number of seeds, from 0.
    rows : sequence of str
        Names of the rows to play; all by default.
    learners : sequence of str
        Further methods, each a row of its own in every block: names of `LEARNERS`, or "package.module:Class".
    stand_in : bool
        Play a column whose data set is not to be had on its declared stand-in.
    """

    dataset: str | None = None
    backbone: str | None = None
    encoder: str | None = None
    fraction: float | None = None
    seeds: int | None = None
    rows: Sequence[str] = ()
    stand_in: bool = False
    learners: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.fraction is not None and not 0 < self.fraction <= 1:
            raise ValueError(
                f"a fraction is a share of the training data, above 0 and at most 1, but {self.fraction:g} was "
                "given; leave it out for the declared share"
            )
        if self.seeds is not None and self.seeds < 1:
            raise ValueError(f"there must be at least one seed, but {self.seeds} were asked for")


@dataclass(frozen=True)
class Entry:
    """One place in a table: the cell to play, what the paper prints there, and the records of its seeds.

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
        Whether backbone and data are the paper's, so that the printed number should come out.
    memory : int
        Samples that may be stored.
    fixed : bool
        Whether every seed gives the same: the order does not matter, nothing is drawn, all the data are used.
    records : tuple of Record
        Of the seeds that were played.
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
        """Why there is no number of ours; empty where there is one."""
        return "" if self.records else self.reason or "not played"

    @property
    def delta(self) -> float | None:
        """Ours minus the paper's, where both are there and ours is no stand-in on other images."""
        if (
            self.ours is None
            or not printed(self.paper)
            or self.cell is None
            or self.cell.n_classes is not None
        ):
            return None
        return self.ours.mean - self.paper


@dataclass(frozen=True)
class TableRow:
    """A declared row with one entry per column."""

    declared: Row
    backbone: str
    encoder: str
    entries: tuple[Entry, ...]

    @property
    def memory(self) -> str:
        """Samples stored, as the table shows it; where a method has no place for any, none, whatever is printed."""
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
        """How many seeds the row's numbers are means over; empty where there is none."""
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
    """A table with a choice applied: what to play, and once records are filled in, what they say."""

    table: Table
    choice: Choice
    columns: tuple[Column, ...]
    rows: tuple[TableRow, ...]

    @property
    def title(self) -> str:
        """The table's title, saying what was substituted."""
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
        """Return the heading of a column, marked where it is a stand-in."""
        is_stand_in = self.choice.stand_in and column.stand_in is not None
        return f"{column.name} (stand-in)" if is_stand_in else column.name

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
        """How many columns have a number of ours."""
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
        """The command that makes these records."""
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
    """Return "3", or "1 to 20"; nothing for nothing."""
    ends = dict.fromkeys((min(counts), max(counts))) if counts else ()
    return " to ".join(map(str, ends))


def make_plan(table: Table, choice: Choice) -> Plan:
    """Apply a choice to a table.

    Examples
    --------
    >>> from i2cansay.experiments.declare.declaration import load_table
    >>> plan = make_plan(load_table("table4"), Choice(encoder="efficientnet-lite0", seeds=2))
    >>> plan.title
    'Table 4: components; efficientnet-lite0 in place of resnet50'
    >>> len(plan.cells())  # five rows and two of their variants that are no other row already; two seeds
    14
    """
    positions, columns = _columns(table, choice)
    blocks = [block for block in table.blocks if choice.backbone in (None, block.backbone)]
    if not blocks:
        known = ", ".join(block.backbone for block in table.blocks)
        raise ValueError(f"{table.name} has no backbone {choice.backbone!r}; it has {known}")
    known_rows = row_names(table, choice.backbone)
    if unknown := [name for name in choice.rows if name not in known_rows]:
        raise ValueError(f"{table.name} has no row {', '.join(unknown)}; it has {', '.join(known_rows)}")
    rows = [
        _row(table, block, row, positions=positions, columns=columns, choice=choice)
        for block in blocks
        for row in (*block.rows, *_further_rows(choice, len(table.columns)))
        if not choice.rows or row.name in (*choice.rows, *choice.learners)
    ]
    return Plan(table, choice, columns, tuple(rows))


def row_names(table: Table, backbone: str | None = None) -> list[str]:
    """Return the names of a table's rows, each once."""
    blocks = [block for block in table.blocks if backbone in (None, block.backbone)]
    return list(dict.fromkeys(row.name for block in blocks for row in block.rows))


def _further_rows(choice: Choice, n_columns: int) -> list[Row]:
    for name in choice.learners:
        learner_class(name)  # raises here rather than in every cell
    nothing, none_printed = (0,) * n_columns, (nan,) * n_columns
    return [
        Row(name, name, name, nothing, none_printed, none_printed, added=True) for name in choice.learners
    ]


def _columns(table: Table, choice: Choice) -> tuple[list[int], tuple[Column, ...]]:
    """Return which of the table's columns are played, and as what."""
    declared = list(enumerate(table.columns))
    if choice.dataset is None:
        chosen = declared
    elif any(column.dataset == choice.dataset for column in table.columns):
        chosen = [(place, column) for place, column in declared if column.dataset == choice.dataset]
    else:
        # Columns that differed in the data set only are the same now; one with a stand-in belongs to its data set.
        unique: dict[str, tuple[int, Column]] = {}
        for place, column in declared:
            if column.stand_in is not None:
                continue
            name = _renamed(column, choice.dataset)
            changed = replace(column, dataset=choice.dataset, name=name)
            unique.setdefault(name, (place, changed))
        chosen = list(unique.values())
    return [place for place, _ in chosen], tuple(column for _, column in chosen)


def _renamed(column: Column, dataset: str) -> str:
    names = {"cifar10": "CIFAR-10", "cifar100": "CIFAR-100", "cub200": "CUB-200", "core50": "CoRe50"}
    return column.name.replace(names[column.dataset], dataset)


def _row(
    table: Table,
    block: Block,
    row: Row,
    *,
    positions: Sequence[int],
    columns: Sequence[Column],
    choice: Choice,
) -> TableRow:
    encoder = choice.encoder or block.backbone
    seeds = choice.seeds or table.seeds
    if row.seeds is not None and choice.seeds is None:
        seeds = min(seeds, row.seeds)
    entries = []
    for place, column in zip(positions, columns, strict=True):
        own_data = column.dataset == table.columns[place].dataset
        cell, reason = _cell(row, place, column, choice.encoder or column.encoder or encoder, choice)
        fixed = row.fixed and cell is not None and cell.fraction is None
        given = range(seeds) if column.seeds is None or choice.seeds is not None else column.seeds
        entries.append(
            Entry(
                column=column,
                cell=cell,
                seeds=(0,) if fixed else tuple(given),
                reason=reason,
                memory=int(column.parameters.get("memory_size", row.memory[place])),
                paper=row.paper[place] if own_data else nan,
                pm=row.pm[place] if own_data else nan,
                is_papers=own_data
                and encoder == block.backbone
                and choice.fraction is None
                and (cell is None or cell.n_classes is None),
                fixed=fixed,
            )
        )
    return TableRow(row, block.backbone, encoder, tuple(entries))


def _fraction(row: Row, column: Column, choice: Choice) -> float | None:
    if choice.fraction is not None:
        return choice.fraction
    return column.low if row.low_data else column.fraction


def _cell(row: Row, place: int, column: Column, encoder: str, choice: Choice) -> tuple[Cell | None, str]:
    """Return the cell with seed 0, or None and the reason."""
    if row.learner not in LEARNERS and not is_import_name(row.learner):
        return None, NOT_BUILT
    if row.only_in and column.name not in row.only_in:
        return None, "not tried"
    try:
        known = default_parameters(row.learner)
    except ImportError as error:
        return None, f"not testable here: {error}"
    parameters = {**row.parameters, **row.in_column.get(column.name, {}), **column.parameters}
    if row.memory[place] and "memory_size" in known:
        parameters.setdefault("memory_size", row.memory[place])
    # A column that varies what this learner does not have says nothing about it.
    if missing := sorted(set(column.parameters) - set(known)):
        return None, f"{row.learner} has no {', '.join(missing)}"
    dataset, n_classes = column.dataset, None
    if choice.stand_in and column.stand_in is not None:
        dataset, n_classes = column.stand_in.dataset, column.stand_in.n_classes
    stream = column.stream
    if column.order_free_stream is not None and _is_order_free(row.learner, parameters):
        stream = column.order_free_stream
    cell = Cell(
        dataset=dataset,
        encoder=encoder,
        stream=stream,
        learner=row.learner,
        parameters=parameters,
        fraction=_fraction(row, column, choice),
        n_classes=n_classes,
        every_session=column.every_session,
        held_out=column.held_out,
    )
    return cell, ""


def _is_order_free(learner: str, parameters: Mapping[str, Any]) -> bool:
    """Whether one stream tells all: the order of the samples does not matter to the learner."""
    made = make_learner(learner, **parameters)
    return made.order_free or not made.streaming
