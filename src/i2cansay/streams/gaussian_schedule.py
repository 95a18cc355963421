"""The Gaussian schedule to the letter (Shanahan et al. 2021): classes take part at random, and rows repeat.

Symbols: T -> `n_batches`, t -> batch, C -> the number of classes, k -> the rank of a class in the random
order. Class k peaks at (k + 1/2) T / C and takes part in an episode that begins at batch t with
probability exp(-(t - peak)^2 / 2 sigma^2), where sigma is `width` times T / C.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.types import Rows
from i2cansay.streams.stream import (
    Batch,
    Labels,
    Stream,
    batches_in_stretches,
    batches_of_pass,
    require,
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class GaussianScheduleStream(Stream):
    """Episodes of a few batches from the classes that take part; every episode draws from all of their rows.

    A row can come several times or never: this is not a single pass (`gaussian` is). If an episode is not much
    shorter than T / C, a whole class can be missed; then shorten `episode` or lengthen the stream.

    Parameters
    ----------
    width : float
        Sigma in units of the distance between the peaks of two neighbouring classes.
    episode : int
        Batches for which the classes that take part stay the same.
    batches : int or None
        Length of the stream, T; by default as many full batches as the rows would fill, at least one.
    points : int
        Stretches at whose ends the evaluator measures; they are not sessions.

    Examples
    --------
    >>> stream = GaussianScheduleStream(y=np.repeat(["a", "b", "c"], 200), batch_size=20)
    >>> [np.unique(stream.y[batch.rows]).tolist() for batch in stream][::5]
    [['a'], ['a'], ['a'], ['c'], ['b', 'c'], ['b']]
    """

    name: ClassVar[str] = "gaussian_schedule"
    has_sessions: ClassVar[bool] = False

    width: float = 0.5
    episode: int = 5
    batches: int | None = None
    points: int = 10

    def check(self) -> None:
        """Raise ValueError if a parameter is out of range."""
        require(0 < self.width < np.inf, "width", "a positive number", self.width)
        require(self.episode >= 1, "episode", "at least 1", self.episode)
        require(self.batches is None or self.batches >= 1, "batches", "at least 1", self.batches)
        require(self.points >= 1, "points", "at least 1", self.points)

    def arrange(self, classes: Labels, rng: np.random.Generator) -> Iterable[Batch]:
        """Draw one episode after another."""
        n_batches = self.batches or max(1, self.y.size // self.batch_size)
        spacing = n_batches / classes.size
        peaks = (np.arange(classes.size) + 0.5) * spacing
        parts: list[Rows] = []
        for start in range(0, n_batches, self.episode):
            taking_part = draw_classes(np.abs(start - peaks), self.width * spacing, rng)
            n_rows = min(self.episode, n_batches - start) * self.batch_size
            rows = _passes(self.rows_of(classes[taking_part]), n_rows, rng)
            parts.extend(batch.rows for batch in batches_of_pass(rows, self.batch_size, session=0))
        return batches_in_stretches(parts, self.points)


def draw_classes(distance: NDArray[np.floating], sigma: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw which classes take part, at least one, given their distances from their peaks, shape (c,).

    The distribution is that of drawing again while no class takes part, but without repeated draws: first draw which
    class is the first to take part, then draw each of the later ones independently.

    >>> draw_classes(np.array([900.0, 0.0, 300.0]), 1.0, np.random.default_rng(0))
    array([False,  True, False])
    """
    probability = np.exp(-0.5 * (distance / sigma) ** 2)
    none_before = np.concatenate([[1.0], np.cumprod(1.0 - probability)[:-1]])
    first_weight = probability * none_before
    if first_weight.sum() > 0:
        first = int(rng.choice(distance.size, p=first_weight / first_weight.sum()))
    else:  # all probabilities are too small for a float; the nearest class has the largest by far
        first = int(np.argmin(distance))
    taking_part: NDArray[np.bool_] = rng.random(distance.size) < probability
    taking_part[:first] = False
    taking_part[first] = True
    return taking_part


def _passes(rows: Rows, n_rows: int, rng: np.random.Generator) -> Rows:
    """Return `n_rows` rows: a shuffled pass, and more passes if one is too short."""
    n_passes = -(-n_rows // rows.size)
    return np.concatenate([rng.permutation(rows) for _ in range(n_passes)])[:n_rows]
