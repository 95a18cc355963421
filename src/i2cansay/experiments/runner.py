"""Run many cells in parallel processes, each cell once, whoever else runs on the same folder.

A cell is claimed by a lock that the system releases when its holder dies, and its record appears in one step
when it is complete. A run that was killed therefore loses the cells it was playing and nothing else; the next run
continues with them.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import connection, get_context, parent_process
from pathlib import Path

from threadpoolctl import threadpool_limits

from i2cansay.experiments.cell import Cell
from i2cansay.experiments.playing import commit, play_cell
from i2cansay.experiments.record import Record
from i2cansay.experiments.records import RecordFolder, Report
from i2cansay.experiments.run_progress import RunMeter, RunProgress
from i2cansay.experiments.shared_features import EncodingProgress, SharedFeatures, share_features
from i2cansay.features.lock import exclusive

# How long to wait before asking again for cells that another run is playing.
SECONDS_BETWEEN_CLAIMS = 0.3


class CellsFailed(ValueError):
    """Some cells could not be played; all others were, and have their records."""

    def __init__(self, failures: Sequence[tuple[Cell, str]]) -> None:
        self.failures = list(failures)
        cell, reason = self.failures[0]
        where = f"{cell.learner} on {cell.dataset}, {cell.stream}, seed {cell.seed}"
        super().__init__(f"{len(self.failures)} of the cells failed; the first, {where}: {reason}")


@dataclass(frozen=True)
class _Task:
    """A cell with the features it is played on and where its record goes."""

    cell: Cell
    features: SharedFeatures
    folder: RecordFolder
    again: bool

    @property
    def key(self) -> str:
        return self.cell.key(self.features.fingerprint)

    def record(self, report: Report | None = None) -> Record | None:
        return self.folder.get(self.cell, self.features.fingerprint, report=report)


class _BusyElsewhere(Exception):
    """Another process plays this cell right now."""


def run_cells(
    cells: Sequence[Cell],
    folder: str | Path,
    *,
    jobs: int | None = None,
    again: bool = False,
    progress: RunProgress | None = None,
    encoding: EncodingProgress | None = None,
    report: Report | None = None,
    sources: Mapping[tuple[str, str], SharedFeatures] | None = None,
) -> list[Record]:
    """Play the cells that have no record in `folder` yet and return the records of all, in the cells' order.

    Parameters
    ----------
    cells : sequence of Cell
        May repeat; a cell is played once.
    folder : path
        Where records are kept. Several runs may use it at the same time and share the work.
    jobs : int, optional
        Processes, each with one BLAS thread; by default one per core. With 1 everything happens in this process.
    again : bool
        Play also what is finished, for instance after a change of the code.
    progress, encoding : callables, optional
        Told about finished cells, and about images that had to be encoded first.
    report : callable, optional
        Told about corrupt records, which are made anew.
    sources : mapping, optional
        Features by (data set, encoder), where they have been found already.

    Raises
    ------
    CellsFailed
        When a cell could not be played, after all others were.

    Examples
    --------
    >>> import tempfile
    >>> from i2cansay.evaluate import last_accuracy
    >>> cells = [Cell("digits", "pixels", "step:2", name) for name in ("i2cansay", "naive")]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     records = run_cells(cells, folder, jobs=1)
    >>> [f"{record.cell['learner']} {last_accuracy(record.outcome):.2f}" for record in records]
    ['i2cansay 0.91', 'naive 0.14']
    """
    jobs = jobs or os.cpu_count() or 1
    place = RecordFolder(Path(folder))
    if sources is None:
        sources = {source: share_features(*source, progress=encoding) for source in {c.source for c in cells}}
    tasks = [_Task(cell, sources[cell.source], place, again) for cell in cells]
    keys = [task.key for task in tasks]
    unique = dict(zip(keys, tasks, strict=True))
    found = {} if again else {key: task.record(report) for key, task in unique.items()}
    records = {key: record for key, record in found.items() if record is not None}
    pending = {key: task for key, task in unique.items() if key not in records}
    meter = RunMeter(list(pending.values()), jobs=min(jobs, len(pending) or 1), reused=len(records))
    if progress is not None:
        progress(meter.moment(None))
    failures = []
    for task, result in _play_all(list(pending.values()), jobs):
        if isinstance(result, Record):
            records[result.key] = result
        else:
            failures.append((task.cell, result))
        meter.finish(task, result if isinstance(result, Record) else None)
        if progress is not None:
            progress(meter.moment(result if isinstance(result, Record) else None))
    if failures:
        raise CellsFailed(failures)
    return [records[key] for key in keys]


def _play_all(tasks: Sequence[_Task], jobs: int) -> Iterator[tuple[_Task, Record | str]]:
    """Yield every task with its record, or with a sentence on what went wrong."""
    if jobs == 1 or len(tasks) <= 1:
        with threadpool_limits(1):
            yield from _in_turn(tasks)
        return
    commit()  # asked once here, not by every worker at the same moment
    pool = ProcessPoolExecutor(min(jobs, len(tasks)), mp_context=get_context("spawn"), initializer=_settle)
    try:
        yield from _in_parallel(tasks, pool, 2 * jobs)
    except BrokenProcessPool as error:
        raise OSError(
            "a worker process was killed from outside (out of memory?); what is finished is kept: "
            "run the same again, perhaps with fewer --jobs"
        ) from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _in_turn(tasks: Sequence[_Task]) -> Iterator[tuple[_Task, Record | str]]:
    queue = deque(tasks)
    refused = 0
    while queue:
        task = queue.popleft()
        result = _result(_played_here(task))
        if result is not None:
            refused = 0
            yield task, result
            continue
        queue.append(task)
        refused += 1
        if refused >= len(queue):  # all that is left is being played by others
            time.sleep(SECONDS_BETWEEN_CLAIMS)


def _in_parallel(
    tasks: Sequence[_Task], pool: ProcessPoolExecutor, in_flight: int
) -> Iterator[tuple[_Task, Record | str]]:
    queue = deque(tasks)
    running: dict[Future[Record | None], _Task] = {}
    while queue or running:
        while queue and len(running) < in_flight:
            task = queue.popleft()
            running[pool.submit(_play_claimed, task)] = task
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            task = running.pop(future)
            result = _result(future)
            if result is None:
                queue.append(task)
                if len(queue) == 1 or not running:
                    time.sleep(SECONDS_BETWEEN_CLAIMS)
            else:
                yield task, result


def _result(future: Future[Record | None]) -> Record | str | None:
    """Return the record, None for a cell that is busy elsewhere, or a sentence on what went wrong."""
    error = future.exception()
    if isinstance(error, BrokenProcessPool):
        raise error
    # Whatever goes wrong inside one method must not cost the table its other rows.
    return future.result() if error is None else f"{type(error).__name__}: {error}"


def _played_here(task: _Task) -> Future[Record | None]:
    future: Future[Record | None] = Future()
    try:
        future.set_result(_play_claimed(task))
    except Exception as error:
        future.set_exception(error)
    return future


def _play_claimed(task: _Task) -> Record | None:
    """Play a cell unless another process is at it (None) or has just finished it."""
    try:
        with exclusive(task.folder.lock_of(task.key), waiting=_refuse):
            record = None if task.again else task.record()
            if record is None:
                record = play_cell(task.cell, task.features)
                task.folder.put(record)
            return record
    except _BusyElsewhere:
        return None


def _refuse() -> None:
    raise _BusyElsewhere


def _settle() -> None:
    """Make a fresh worker modest: one BLAS thread, and gone when its parent is gone, however that died."""
    import scipy.linalg.blas  # noqa: F401 - loads the BLAS whose threads are limited

    threadpool_limits(1)
    parent = parent_process()
    if parent is not None:
        sentinel = parent.sentinel

        def leave() -> None:
            connection.wait([sentinel])
            os._exit(1)

        threading.Thread(target=leave, daemon=True).start()
