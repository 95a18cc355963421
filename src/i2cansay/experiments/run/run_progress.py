"""Progress of a run of many cells, and the time it will still take."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TextIO

from i2cansay.evaluate import last_accuracy
from i2cansay.experiments.declare.cell import Cell
from i2cansay.experiments.run.record import Record

SECONDS_BETWEEN_LINES = 10.0


@dataclass(frozen=True)
class RunMoment:
    """Cells done in this run, and in all; cells that had a record; seconds left, None before the first is done."""

    done: int
    total: int
    reused: int
    seconds_left: float | None
    latest: Record | None

    def sentence(self) -> str:
        """Return the moment in words.

        >>> RunMoment(3, 120, 40, 234.0, None).sentence()
        '3 of 120 cells, 40 more had records, 3:54 left'
        """
        reused = f", {self.reused} more had records" if self.reused else ""
        left = "" if self.seconds_left is None else f", {clock(self.seconds_left)} left"
        return f"{self.done} of {self.total} cells{reused}{left}{self._latest()}"

    def _latest(self) -> str:
        if self.latest is None:
            return ""
        cell = self.latest.cell
        where = f"{cell['learner']} on {cell['dataset']}, {cell['stream']}, seed {cell['seed']}"
        return f"; {where}: {last_accuracy(self.latest.outcome):.1%}"


class RunProgress(Protocol):
    """Anything that can show how far a run has come."""

    def __call__(self, moment: RunMoment, /) -> None: ...


class HasCell(Protocol):
    """What the meter needs to know of a task."""

    @property
    def cell(self) -> Cell: ...


class RunMeter:
    """Estimates the time left from finished cells of the same kind, which differ only in their seed."""

    def __init__(self, tasks: Sequence[HasCell], *, jobs: int, reused: int) -> None:
        self._jobs, self._reused, self._total = jobs, reused, len(tasks)
        self._left: dict[Any, int] = defaultdict(int)
        self._seconds: dict[Any, list[float]] = defaultdict(list)
        for task in tasks:
            self._left[task.cell.with_seed(0)] += 1

    def finish(self, task: HasCell, record: Record | None) -> None:
        """Count a cell as done; `record` is None if it failed."""
        kind = task.cell.with_seed(0)
        self._left[kind] -= 1
        if record is not None:
            self._seconds[kind].append(record.seconds)

    def moment(self, latest: Record | None) -> RunMoment:
        """Return where the run stands."""
        left = sum(self._left.values())
        return RunMoment(self._total - left, self._total, self._reused, self._seconds_left(), latest)

    def _seconds_left(self) -> float | None:
        every = [second for seconds in self._seconds.values() for second in seconds]
        if not every:
            return None
        # A kind of which nothing is finished counts as average.
        average = sum(every) / len(every)
        mean = {kind: sum(seconds) / len(seconds) for kind, seconds in self._seconds.items()}
        return sum(left * mean.get(kind, average) for kind, left in self._left.items()) / self._jobs


def clock(seconds: float) -> str:
    """Return seconds as minutes and seconds, or hours where there are any.

    >>> clock(5), clock(3725)
    ('0:05', '1:02:05')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


@contextmanager
def show_run(title: str, *, file: TextIO | None = None) -> Iterator[RunProgress]:
    """Draw a bar if `file` (by default stderr) is a terminal; otherwise print a line now and then."""
    target = sys.stderr if file is None else file
    if not target.isatty():
        yield _lines(title, target)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=Console(file=target), transient=True) as bar:
        drawn = bar.add_task(title, total=None, note="")

        def draw(moment: RunMoment, /) -> None:
            left = "" if moment.seconds_left is None else f"{clock(moment.seconds_left)} left"
            bar.update(drawn, completed=moment.done, total=moment.total, note=left)

        yield draw


def _lines(title: str, file: TextIO, now: Callable[[], float] = time.monotonic) -> RunProgress:
    printed = -SECONDS_BETWEEN_LINES

    def line(moment: RunMoment, /) -> None:
        nonlocal printed
        is_end = moment.done == moment.total
        if is_end or now() - printed >= SECONDS_BETWEEN_LINES:
            printed = now()
            print(f"{title}: {moment.sentence()}", file=file, flush=True)

    return line
