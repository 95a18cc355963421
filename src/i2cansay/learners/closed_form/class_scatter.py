"""A scatter matrix for every class: exact under any batching, order or merge.

Symbols: S_c -> packed[c], the sum over the samples of class c of (f - p_c)(f - p_c)^T with p_c their mean *at the
end*, as one triangle in LAPACK's rectangular full packed format (see `symmetric`). In float32: with 100 classes
of 1280 dimensions that is 328 MB instead of 655, and to invert such a matrix from few samples one must shrink it
by far more than what rounding moves.
"""

from typing import Any

import numpy as np
from scipy.linalg import lapack

from i2cansay.core.linalg.blas import threads_for
from i2cansay.core.linalg.ensure_writeable import ensure_writeable
from i2cansay.core.linalg.symmetric import SymmetricMatrix, check_room
from i2cansay.core.paper.moments import batch_moments
from i2cansay.core.state_parts import LARGEST_FEATURE, check_range
from i2cansay.core.statistics.means import ClassMeans
from i2cansay.core.types import Features, Float32, Float64, Rows, State


class ClassScatter:
    """Count, mean and scatter of every class, in the order of arrival.

    Examples
    --------
    >>> scatter = ClassScatter(n_features=2)
    >>> scatter.resize(1)
    >>> for x in ([0.0, 0.0], [2.0, 2.0], [1.0, 4.0]):  # one by one or all at once: the same
    ...     scatter.add(np.array([x]), np.array([0]))
    >>> scatter.dense(0).round(3)
    array([[2., 2.],
           [2., 8.]], dtype=float32)
    """

    def __init__(self, n_features: int) -> None:
        check_room(n_features, 2 * n_features * (n_features + 1))
        self.n_features = n_features
        self.means = ClassMeans(n_features)
        # A list, not one array: growing by a class then copies nothing.
        self.packed: list[Float32] = []
        """The triangle of each class, (d * (d + 1) / 2,)."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.packed = [ensure_writeable(one) for one in self.packed]

    def resize(self, n_classes: int) -> None:
        """Grow to `n_classes` classes."""
        size = self.n_features * (self.n_features + 1) // 2
        check_room(self.n_features, 4 * size * n_classes)
        self.means.resize(n_classes)
        self.packed += [np.zeros(size, dtype=np.float32) for _ in range(n_classes - len(self.packed))]

    def drop(self, row: int) -> None:
        """Remove one class, with its scatter."""
        self.means.drop(row)
        del self.packed[row]

    def add(self, X: Features, classes: Rows, weights: Float64 | None = None) -> None:
        """Add samples, (n, d), of the given classes, (n,)."""
        touched, groups = np.unique(classes, return_inverse=True)
        batch = batch_moments(X, groups, len(touched), weights)
        for group, row in enumerate(touched.tolist()):
            members = groups == group
            deviations = X[members] - batch.mean[group]
            if weights is not None:
                deviations = deviations * np.sqrt(weights[members])[:, None]
            if members.sum() > 1:  # a sample alone is its own mean
                self._add_gram(row, deviations)
            self._move(row, float(batch.count[group]), batch.mean[group])
        self.means.take(batch.count, batch.mean, touched)

    def merge(self, other: "ClassScatter", rows: Rows) -> None:
        """Add the samples of `other`, whose class i is class ``rows[i]`` here."""
        theirs = other.means
        for i, row in enumerate(rows.tolist()):
            self.packed[row] += other.packed[i]
            self._move(row, float(theirs.count[i]), theirs.mean[i])
        self.means.merge(theirs, rows)

    def dense(self, row: int) -> Float32:
        """Return the scatter of one class as a whole matrix, (d, d)."""
        upper: Float32 = np.triu(lapack.stfttr(self.n_features, self.packed[row])[0])
        return upper + np.triu(upper, 1).T

    def _move(self, row: int, added: float, mean: Float64) -> None:
        """Add Chan's term for `added` samples of this mean that join a class."""
        count = float(self.means.count[row])
        if count * added > 0:  # the first samples of a class move no mean
            step = (mean - self.means.mean[row]) * np.sqrt(count * (added / (count + added)))
            self._add_gram(row, step[None])

    def _add_gram(self, row: int, X: Features) -> None:
        rows, target = np.ascontiguousarray(X, dtype=np.float32), self.packed[row]
        with threads_for(len(rows) * target.size):
            written = lapack.ssfrk(self.n_features, len(rows), 1.0, rows.T, 1.0, target, overwrite_c=1)
        # f2py copies silently when the layout does not fit, and the sum would be lost silently.
        if not np.shares_memory(written, target):
            raise AssertionError("the packed triangle was copied instead of added to")

    def state(self) -> State:
        """Return the means and, as `scatter.0`, `scatter.1`, ..., the triangles."""
        return {**self.means.state(), **{f"scatter.{row}": packed for row, packed in enumerate(self.packed)}}

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned, which must be of `n_classes` classes of this width."""
        self.means.restore(state, n_classes)
        size = self.n_features * (self.n_features + 1) // 2
        for row in range(n_classes):
            if state[f"scatter.{row}"].shape != (size,):
                raise ValueError(
                    f"the scatter of a class should be {size} numbers, not {state[f'scatter.{row}'].shape}"
                )
        self.packed = [np.array(state[f"scatter.{row}"], dtype=np.float32) for row in range(n_classes)]
        for packed, count in zip(self.packed, self.means.count.tolist(), strict=True):
            diagonal = SymmetricMatrix(self.n_features, packed.astype(np.float64)).diagonal()
            # No covariance is larger than the larger of the two variances.
            most = min(1.001 * float(diagonal.max()), 4 * LARGEST_FEATURE**2 * count)
            check_range("the variances of a class", diagonal, 0.0, most)
            check_range("the covariances of a class", packed, -most, most)
