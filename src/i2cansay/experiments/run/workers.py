"""Worker processes that play cells: each cell is played by one process, even if several runs share a folder."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import connection, get_context, parent_process

from threadpoolctl import threadpool_limits

from i2cansay.disk.file_lock import exclusive
from i2cansay.engines import Engine
from i2cansay.experiments.declare.cell import Cell
from i2cansay.experiments.run.playing import commit, play_cell
from i2cansay.experiments.run.record import Record
from i2cansay.experiments.run.record_folder import RecordFolder, Report
from i2cansay.experiments.run.shared_features import SharedFeatures

# How long to wait before trying again to claim cells that another run is playing.
SECONDS_BETWEEN_CLAIMS = 0.3


@dataclass(frozen=True)
class Task:
    """A cell with the features it is played on and where its record goes."""

    cell: Cell
    features: SharedFeatures
    folder: RecordFolder
    again: bool

    @property
    def key(self) -> str:
        """Name of the record."""
        return self.cell.key(self.features.fingerprint)

    def record(self, report: Report | None = None) -> Record | None:
        """Return the record, if the cell is finished."""
        return self.folder.get(self.cell, self.features.fingerprint, report=report)


class _BusyElsewhere(Exception):
    """Another process is playing this cell."""


def play_all(tasks: Sequence[Task], jobs: int) -> Iterator[tuple[Task, Record | str]]:
    """Yield every task with its record, or with a sentence about what went wrong."""
    if jobs == 1 or len(tasks) <= 1:
        with threadpool_limits(1):
            yield from _in_turn(tasks)
        return
    commit()  # asks git once here, not in every worker at the same moment
    pool = ProcessPoolExecutor(min(jobs, len(tasks)), mp_context=get_context("spawn"), initializer=_settle)
    try:
        yield from _in_parallel(tasks, pool, 2 * jobs)
    except BrokenProcessPool as error:
        raise OSError(
            "a worker process was killed (out of memory?); finished cells have their records: run the same command "
            "again, perhaps with fewer --jobs"
        ) from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def play_all_on(engine: Engine, tasks: Sequence[Task]) -> Iterator[tuple[Task, Record | str]]:
    """Yield the same, with the cells played by the workers of an engine, on machines that share the folders."""
    left = list(tasks)
    while left:
        busy = []
        for number, result in engine.each(_told, left):
            if result is None:
                busy.append(left[number])
            else:
                yield left[number], result
        left = busy
        if left:
            time.sleep(SECONDS_BETWEEN_CLAIMS)


def _told(task: Task) -> Record | str | None:
    with threadpool_limits(1):
        return _result(_played_here(task))


def _in_turn(tasks: Sequence[Task]) -> Iterator[tuple[Task, Record | str]]:
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
        if refused >= len(queue):  # other runs are playing all that is left
            time.sleep(SECONDS_BETWEEN_CLAIMS)


def _in_parallel(
    tasks: Sequence[Task], pool: ProcessPoolExecutor, in_flight: int
) -> Iterator[tuple[Task, Record | str]]:
    queue = deque(tasks)
    running: dict[Future[Record | None], Task] = {}
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
    """Return the record, None for a cell that another process is playing, or a sentence about what went wrong."""
    error = future.exception()
    if isinstance(error, BrokenProcessPool):
        raise error
    # An error in one method must not cost the table its other rows.
    return future.result() if error is None else f"{type(error).__name__}: {error}"


def _played_here(task: Task) -> Future[Record | None]:
    future: Future[Record | None] = Future()
    try:
        future.set_result(_play_claimed(task))
    except Exception as error:
        future.set_exception(error)
    return future


def _play_claimed(task: Task) -> Record | None:
    """Play a cell, unless another process is playing it (None) or has just finished it."""
    try:
        with exclusive(task.folder.lock_of(task.key), waiting=_refuse):
            record = None if task.again else task.record()
            if record is None:
                record = play_cell(task.cell, task.features, task.folder.bookmark_of(task.key))
                task.folder.put(record)
            return record
    except _BusyElsewhere:
        return None


def _refuse() -> None:
    raise _BusyElsewhere


def _settle() -> None:
    """Set up a new worker: one BLAS thread, and it ends when its parent ends, however that dies."""
    import scipy.linalg.blas  # noqa: F401 - loads the BLAS whose threads are limited

    threadpool_limits(1)
    # Ctrl-C reaches every process of a terminal: exit silently; the next run plays the cell.
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    parent = parent_process()
    if parent is not None:
        sentinel = parent.sentinel

        def leave() -> None:
            connection.wait([sentinel])
            os._exit(1)

        threading.Thread(target=leave, daemon=True).start()
