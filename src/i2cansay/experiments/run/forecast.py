"""What a run will take: which cells have records, and how long the others took before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from statistics import median

from i2cansay.experiments.declare.cell import Cell, hash_of
from i2cansay.experiments.run.plan import Plan, TableRow
from i2cansay.experiments.run.record import Record


class Durations:
    """How long a cell takes, judged by the records that have most in common with it.

    The median is taken over records of the same run with any seed. Where there are none, over records of the same
    learner on the same share of the same features; then over all records of the learner, by their seconds per sample
    and feature. A learner without records has no estimate.
    """

    def __init__(self, records: Iterable[Record]) -> None:
        self._same: dict[str, list[float]] = defaultdict(list)
        self._alike: dict[Hashable, list[float]] = defaultdict(list)
        self._rates: dict[str, list[float]] = defaultdict(list)
        self._shapes: dict[tuple[str, str], tuple[int, int]] = {}
        for record in records:
            cell = record.cell
            source = str(cell["dataset"]), str(cell["encoder"])
            self._same[_run(cell)].append(record.seconds)
            self._alike[cell["learner"], source, cell["fraction"]].append(record.seconds)
            if "train" in record.features:
                rows, width = record.features["train"]
                self._shapes[source] = rows, width
                numbers = rows * (cell["fraction"] or 1.0) * width
                self._rates[str(cell["learner"])].append(record.seconds / numbers)

    def seconds(self, cell: Cell) -> float | None:
        """Return how long a cell is expected to take; None if nothing is known of its learner or its features."""
        identity = cell.identity()
        same = self._same.get(_run(identity))
        alike = self._alike.get((cell.learner, cell.source, cell.fraction))
        if found := same or alike:
            return median(found)
        rates, shape = self._rates.get(cell.learner), self._shapes.get(cell.source)
        if not rates or shape is None:
            return None
        rows, width = shape
        return median(rates) * rows * (cell.fraction or 1.0) * width


def _run(identity: Mapping[str, object]) -> str:
    """Name a run: everything that is played but its seed."""
    return hash_of({name: value for name, value in identity.items() if name != "seed"})


@dataclass(frozen=True)
class RowForecast:
    """Cells of a row that have records, and the seconds of those to play; None where nothing is known."""

    title: str
    n_there: int
    seconds: tuple[float | None, ...]

    @property
    def known(self) -> list[float]:
        """Seconds of the cells to play that have an estimate."""
        return [each for each in self.seconds if each is not None]

    @property
    def n_unknown(self) -> int:
        """Cells to play without an estimate."""
        return len(self.seconds) - len(self.known)


@dataclass(frozen=True)
class Forecast:
    """What it takes to play a table to its end."""

    title: str
    rows: tuple[RowForecast, ...]
    dirty: int

    @property
    def seconds(self) -> float:
        """Seconds of all cells to play that have an estimate, one after the other."""
        return sum(sum(row.known) for row in self.rows)

    @property
    def n_unknown(self) -> int:
        """Cells to play without an estimate."""
        return sum(row.n_unknown for row in self.rows)

    @property
    def n_to_play(self) -> int:
        """Cells to play."""
        return sum(len(row.seconds) for row in self.rows)

    @property
    def n_there(self) -> int:
        """Cells that have records."""
        return sum(row.n_there for row in self.rows)


def forecast(measured: Plan, durations: Durations) -> Forecast:
    """Say what it takes to play the cells of a table that have no records; one that two rows share counts once."""
    counted: set[Cell] = set()
    rows = tuple(_row(row, durations, counted) for row in measured.rows)
    dirty = sum((record.commit or "").endswith("-dirty") for record in measured.records)
    return Forecast(measured.title, rows, dirty)


def _row(row: TableRow, durations: Durations, counted: set[Cell]) -> RowForecast:
    there: set[Cell] = set()
    to_play: dict[Cell, None] = {}
    for entry in row.entries:
        played = {record.seed for record in entry.records}
        for cell in entry.cells():
            if cell in counted:
                continue
            counted.add(cell)
            if cell.seed in played:
                there.add(cell)
            else:
                to_play[cell] = None
    return RowForecast(row.title, len(there), tuple(map(durations.seconds, to_play)))
