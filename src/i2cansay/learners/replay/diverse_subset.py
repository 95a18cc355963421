"""The most diverse subset of gradients: the one with the smallest sum of pairwise cosines.

Aljundi et al. (2019) choose the rows of a buffer so that the region allowed by their gradients' constraints is as
small as possible; their surrogate for its angle is the sum of cosines over the chosen, and the exact choice is an
integer quadratic programme, which their solver manages for some hundred rows. Here it is solved by elimination and
exchange, for thousands.

References
----------
Aljundi, Lin, Goujaud, Bengio (2019), Gradient based sample selection for online continual learning, NeurIPS.
"""

import numpy as np

from i2cansay.core.types import Float32, Float64, Rows
from i2cansay.learners.replay.head_gradients import UnitGradients

# Exchanges are looked for among the rows that leave and those next to leave: this many of them for each that leaves,
# and at least so many.
NEXT_TO_LEAVE = 2
SMALLEST_POOL = 256
# An exchange must gain more than rounding does.
LEAST_GAIN = 1e-5
# Exchanges for each row that leaves; the gains of later ones are small.
MOST_EXCHANGES = 4


def diverse_subset(gradients: UnitGradients, size: int) -> Rows:
    """Return the places of `size` gradients whose cosines with one another sum to little, in rising order.

    The gradient most similar to the rest is removed, one after the other; then gradients inside are
    exchanged for gradients outside as long as one exchange lowers the sum. That is a local minimum, mostly the
    global one where brute force can tell.

    Examples
    --------
    >>> axes = np.array([[1, 0], [1, 0], [0, 1], [-1, 0]], dtype=np.float32)
    >>> diverse_subset(UnitGradients(np.ones((4, 1), dtype=np.float32), axes), size=3)
    array([1, 2, 3])
    """
    n, n_out = len(gradients), max(len(gradients) - size, 0)
    similarities = gradients.similarities()
    n_pool = min(n, (1 + NEXT_TO_LEAVE) * n_out + SMALLEST_POOL)
    pool = np.sort(np.argsort(-similarities, kind="stable")[:n_pool])
    among = gradients.at(pool)
    out = _Outside(similarities[pool], among.cosines(among))
    for _ in range(n_out):
        out.eliminate()
    for _ in range(MOST_EXCHANGES * n_out):
        if not out.exchange():
            break
    kept = np.ones(n, dtype=bool)
    kept[pool[out.places]] = False
    return np.flatnonzero(kept)


class _Outside:
    """Which of the pool are out, and how similar each of the pool is to all that are in."""

    def __init__(self, similarities: Float64, cosines: Float32) -> None:
        self._similarities = similarities
        self._cosines = cosines
        self._squares = cosines.diagonal()  # 1, or 0 for a gradient without length
        self._out = np.zeros(len(similarities), dtype=bool)

    @property
    def places(self) -> Rows:
        """The places in the pool that are out."""
        return np.flatnonzero(self._out)

    def eliminate(self) -> None:
        """Take out the one whose leaving lowers the sum most."""
        change = np.where(self._out, np.inf, self._squares - 2 * self._similarities)
        self._move(int(change.argmin()), out=True)

    def exchange(self) -> bool:
        """Make the best exchange of one inside for one outside; return whether any lowers the sum."""
        inside, outside = np.flatnonzero(~self._out), self.places
        if not len(inside) or not len(outside):
            return False
        leaving = self._squares[inside] - 2 * self._similarities[inside]
        entering = self._squares[outside] + 2 * self._similarities[outside]
        change = leaving[:, None] + entering - 2 * self._cosines[np.ix_(inside, outside)]
        best_in, best_out = np.unravel_index(change.argmin(), change.shape)
        if change[best_in, best_out] > -LEAST_GAIN:
            return False
        self._move(int(inside[best_in]), out=True)
        self._move(int(outside[best_out]), out=False)
        return True

    def _move(self, place: int, *, out: bool) -> None:
        self._out[place] = out
        self._similarities = self._similarities + (-1 if out else 1) * self._cosines[place]
