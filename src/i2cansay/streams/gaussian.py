"""Gaussian schedule in one pass: classes rise and fade, and each row comes exactly once.

Symbols: T -> the length of the stream, C -> the number of classes, k -> the rank of a class in the random
order. Class k peaks at (k + 1/2) T / C; sigma is `width` times T / C, the distance between two peaks.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from i2cansay.streams.stream import Batch, Labels, Stream, batches_in_stretches, batches_of_pass, require


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class GaussianStream(Stream):
    """Each row gets a time drawn around the peak of its class; the rows arrive in order of time.

    Shanahan et al. (2021) give the schedule with repetition (`gaussian_schedule`); this is its one-pass
    form. With their numbers, 10 classes in 1000 batches and sigma of 50 batches, sigma is T / (2 C), hence
    the default width.

    Parameters
    ----------
    width : float
        Sigma in units of the distance between the peaks of two neighbouring classes.
    points : int
        Stretches at whose ends the evaluator measures; they are not sessions.

    Examples
    --------
    >>> stream = GaussianStream(y=np.repeat(["a", "b", "c"], 100))
    >>> for batch in stream:
    ...     print(*(f"{np.mean(stream.y[batch.rows] == label):.2f}" for label in "abc"))
    0.98 0.00 0.02
    0.76 0.00 0.24
    0.22 0.04 0.74
    0.04 0.30 0.66
    0.00 0.70 0.30
    0.00 0.96 0.04
    """

    name: ClassVar[str] = "gaussian"
    has_sessions: ClassVar[bool] = False

    width: float = 0.5
    points: int = 10

    def check(self) -> None:
        """Raise ValueError if the width is not positive, or there would be no evaluation point."""
        require(0 < self.width < np.inf, "width", "a positive number", self.width)
        require(self.points >= 1, "points", "at least 1", self.points)

    def arrange(self, classes: Labels, rng: np.random.Generator) -> Iterable[Batch]:
        """Return all rows, sorted by their times, in batches."""
        time = rng.normal(peak_of_rows(self.y, classes), self.width / classes.size)
        batches = batches_of_pass(np.argsort(time, kind="stable"), self.batch_size, session=0)
        return batches_in_stretches([batch.rows for batch in batches], self.points)


def peak_of_rows(y: Labels, classes: Labels) -> NDArray[np.float64]:
    """Return the time at which the class of each row peaks, as a share of the stream, shape (n,).

    >>> peak_of_rows(np.array(["b", "a"]), classes=np.array(["b", "a"])).tolist()
    [0.25, 0.75]
    """
    in_label_order = np.argsort(classes)
    rank = in_label_order[np.searchsorted(classes, y, sorter=in_label_order)]
    return (rank + 0.5) / classes.size
