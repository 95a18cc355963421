"""Progress of one cell whose learner reads images, which takes minutes: a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

from i2cansay.evaluate.progress import Moment
from i2cansay.experiments.declare.cell import Cell
from i2cansay.experiments.run.run_progress import clock as as_clock

SECONDS_BETWEEN_LINES = 30.0


class ImageProgress:
    """Writes how many images a cell has learnt, how many it learns in a second, and how long learning will take.

    Examples
    --------
    >>> seconds = iter([0.0, 40.0])
    >>> cell = Cell("cifar10", "deit_tiny", "step:2", "l2p")
    >>> show = ImageProgress(cell, file=sys.stdout, clock=lambda: next(seconds))
    >>> show(Moment(batches=1, n_batches=101, samples=50, accuracy=None))
    >>> show(Moment(batches=41, n_batches=101, samples=2050, accuracy=None))
    l2p on cifar10, step:2, seed 0: 2,050 images, 50 a second, 1:00 left
    """

    def __init__(
        self, cell: Cell, *, file: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._title = f"{cell.learner} on {cell.dataset}, {cell.stream}, seed {cell.seed}"
        self._file, self._clock = file or sys.stderr, clock
        self._first: Moment | None = None
        self._begun = self._shown = 0.0

    def __call__(self, moment: Moment, /) -> None:
        now = self._clock()
        if self._first is None:  # what comes before may be from a bookmark, and takes no time
            self._first, self._begun, self._shown = moment, now, now
        if now - self._shown < SECONDS_BETWEEN_LINES:
            return
        self._shown, seconds = now, now - self._begun
        rate = (moment.samples - self._first.samples) / seconds
        per_batch = seconds / (moment.batches - self._first.batches)
        left = as_clock(per_batch * (moment.n_batches - moment.batches))
        shown = f"{rate:.0f}" if rate >= 10 else f"{rate:.1f}"  # many passes over large images: below one
        text = f"{self._title}: {moment.samples:,} images, {shown} a second, {left} left"
        print(text, file=self._file, flush=True)
