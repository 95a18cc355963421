"""Several steps of an embedding on rows that are known beforehand, with two large products in all.

Symbols: W -> the map before the steps, (m, d); Z -> all rows that the steps read, (n, d); A -> the sum of the steps
by row, (n, m). A step on rows z with gradients G by ``W z`` takes ``W <- W - lr G^T z``. So after some steps the map
is ``W - A^T Z``, and row i goes to ``W z_i - sum over j of (z_i . z_j) a_j``: the map is multiplied with the rows
once, before the steps, and changed once, after them.
"""

import numpy as np

from i2cansay.core.linalg.blas import add_outer, inner, product
from i2cansay.core.types import Features, Float32, Rows
from i2cansay.learners.memory.prototype_loss import unit_rows


class EmbeddingSteps:
    """The embedding of rows, (n, d), while the map, (m, d), takes steps on some of them after others.

    Products of rows are taken in single precision: their lengths should be near one.

    Examples
    --------
    >>> rows, embedding = np.array([[2.0, 0.0], [0.0, 1.0]], dtype=np.float32), np.eye(2, dtype=np.float32)
    >>> steps = EmbeddingSteps(embedding, rows)
    >>> steps.step(np.array([0]), np.array([[0.0, 1.0]]), lr=0.5)
    >>> steps.of(np.array([0, 1]))[0].round(2)
    array([[ 0.71, -0.71],
           [ 0.  ,  1.  ]], dtype=float32)
    >>> steps.apply()
    >>> embedding
    array([[ 1.,  0.],
           [-1.,  1.]], dtype=float32)
    """

    def __init__(self, embedding: Float32, rows: Float32) -> None:
        self._map, self._rows = embedding, rows
        self._mapped = inner(rows, embedding)
        self._added: Float32 = np.zeros(self._mapped.shape, dtype=np.float32)
        self._used = 0  # rows that a step has read: the others have added nothing

    def of(self, places: Rows) -> tuple[Features, Features]:
        """Return the embedding of some rows after the steps so far, of unit length, and the lengths before."""
        mapped = self._mapped[places]
        if self._used:
            alike = inner(self._rows[places], self._rows[: self._used])
            mapped -= product(alike, self._added[: self._used])
        return unit_rows(mapped)

    def step(self, places: Rows, gradient: Features, *, lr: float) -> None:
        """Take a step against the gradient, (k, m), by what the map makes of k different rows."""
        self._added[places] += np.float32(lr) * gradient
        self._used = max(self._used, int(places.max(initial=-1)) + 1)

    def apply(self) -> None:
        """Change the map by all the steps, in place."""
        add_outer(self._map, self._added[: self._used], self._rows[: self._used], scale=-1.0)
