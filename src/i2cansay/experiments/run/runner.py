"""Plays many cells in parallel processes and keeps a record of each.

A process claims a cell by a lock, which the system releases when the process dies. The record appears in one step
when the cell is done. So a run that is killed loses only the cells it was playing, and the next run plays them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from i2cansay.engines import Engine
from i2cansay.experiments.declare.cell import Cell
from i2cansay.experiments.run.record import Record
from i2cansay.experiments.run.record_folder import RecordFolder, Report
from i2cansay.experiments.run.run_progress import RunMeter, RunProgress
from i2cansay.experiments.run.shared_features import EncodingProgress, SharedFeatures, share_features
from i2cansay.experiments.run.workers import Task, play_all, play_all_on


class CellsFailed(ValueError):
    """Some cells could not be played; all others have records."""

    def __init__(self, failures: Sequence[tuple[Cell, str]]) -> None:
        self.failures = list(failures)
        cell, reason = self.failures[0]
        where = f"{cell.learner} on {cell.dataset}, {cell.stream}, seed {cell.seed}"
        super().__init__(f"{len(self.failures)} of the cells failed; the first, {where}: {reason}")


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
    engine: Engine | None = None,
) -> list[Record]:
    """Play the cells that have no record in `folder` yet and return the records of all, in the cells' order.

    Parameters
    ----------
    cells : sequence of Cell
        A cell may occur several times; it is played once.
    folder : path
        Where records are kept, one to a file or packed into files of many (`.jsonl`). Several runs may use it at the
        same time; they share the work.
    jobs : int, optional
        Processes, each with one BLAS thread; by default one per core. With 1 everything happens in this process.
    again : bool
        Play finished cells again, for instance after a change of the code.
    progress, encoding : callables, optional
        Called after every cell, and while images are encoded.
    report : callable, optional
        Called with a sentence about every damaged record, which is then made again.
    sources : mapping, optional
        Features by (data set, encoder), if they have been found already.
    engine : Engine, optional
        Plays the cells in place of processes of this machine. Its machines must share, under the same paths, the
        folder of the records and that of the features, on a file system whose locks hold between machines.

    Raises
    ------
    CellsFailed
        If a cell could not be played; raised after all others were.

    Examples
    --------
    >>> import tempfile
    >>> from unittest.mock import patch
    >>> from i2cansay.evaluate import last_accuracy
    >>> cells = [Cell("digits", "pixels", "step:2", name) for name in ("i2cansay", "naive")]
    >>> with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, I2CANSAY_CACHE=folder):
    ...     records = run_cells(cells, folder, jobs=1)
    >>> ours, naive = (last_accuracy(record.outcome) for record in records)
    >>> ours > 0.8, naive < 0.3  # about 0.91 and 0.14
    (True, True)
    """
    jobs = engine.workers if engine is not None else jobs or os.cpu_count() or 1
    place = RecordFolder(Path(folder) if engine is None else Path(folder).absolute())
    if sources is None:
        sources = {source: share_features(*source, progress=encoding) for source in {c.source for c in cells}}
    tasks = [Task(cell, sources[cell.source], place, again) for cell in cells]
    keys = [task.key for task in tasks]
    unique = dict(zip(keys, tasks, strict=True))
    records = {} if again else _finished(unique, place, report)
    pending = {key: task for key, task in unique.items() if key not in records}
    meter = RunMeter(list(pending.values()), jobs=min(jobs, len(pending) or 1), reused=len(records))
    if progress is not None:
        progress(meter.moment(None))
    failures = []
    waiting = list(pending.values())
    for task, result in play_all(waiting, jobs) if engine is None else play_all_on(engine, waiting):
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


def _finished(tasks: Mapping[str, Task], folder: RecordFolder, report: Report | None) -> dict[str, Record]:
    """Return the records that are there already: one to a file, or in a file of many."""
    found = {key: task.record(report) for key, task in tasks.items()}
    records = {key: record for key, record in found.items() if record is not None}
    if len(records) < len(tasks):
        packed = folder.packed(report=report)
        records |= {
            key: packed[key]
            for key, task in tasks.items()
            if key not in records and key in packed and task.cell.fits(packed[key].parameters)
        }
    return records
