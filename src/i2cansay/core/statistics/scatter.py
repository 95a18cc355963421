"""One scatter matrix shared by all classes: exact under any batching, order or merge, and it can be undone.

Symbols: S -> matrix, the sum over all samples of (f - p_y)(f - p_y)^T with p_y the mean of the sample's
class *at the end*; N -> means.total. As samples move the means, S gains Chan's term
n k/(n + k) (b - p)(b - p)^T for k new samples of mean b in a class of n samples of mean p; without it the
result would depend on the batches. With one class for everything S is the centred Gram matrix of all samples.

References
----------
Chan, Golub, LeVeque (1983), Algorithms for computing the sample variance, The American Statistician 37(3).
Chen, Wiesel, Eldar, Hero (2010), Shrinkage algorithms for MMSE covariance estimation, IEEE TSP 58(10).
"""

from collections.abc import Iterator

import numpy as np

from i2cansay.core.linalg.low_rank import LowRankFactor, LowRankMatrix, low_rank
from i2cansay.core.linalg.symmetric import Factor, SymmetricMatrix
from i2cansay.core.paper.moments import Moments, batch_moments
from i2cansay.core.rounding import check_exact, unit
from i2cansay.core.statistics.means import ClassMeans
from i2cansay.core.types import Features, Float64, Rows, State

# A mean variance below this is no spread: its inverse would overflow.
NO_SPREAD = 1e-200
# The low-rank form pays from this many dimensions on, and up to this many samples per dimension.
LOW_RANK_FROM = 1024
LOW_RANK_UP_TO = 0.25
CLASSES_AT_A_TIME = 1024


def oas_shrinkage(matrix: SymmetricMatrix, count: float) -> float:
    """Return the oracle approximating shrinkage of a scatter of `count` samples, between 0 and 1.

    The formula is scikit-learn's, which leaves out the 2/d terms of the article.

    Examples
    --------
    >>> matrix = SymmetricMatrix(2)
    >>> matrix.add_gram(np.array([[3.0, 0.0], [0.0, 1.0]]))
    >>> oas_shrinkage(matrix, 2), round(oas_shrinkage(matrix, 1000), 3)
    (1.0, 0.006)
    """
    if matrix.size == 1:
        return 0.0
    # Of S instead of S/N: the factor cancels.
    mean_square = matrix.sum_of_squares() / matrix.size**2
    squared_mean = (matrix.trace() / matrix.size) ** 2
    denominator = (count + 1) * (mean_square - squared_mean / matrix.size)
    return min((mean_square + squared_mean) / denominator, 1.0) if denominator > 0 else 1.0


class SharedScatter:
    """The scatter of the samples around the means of their classes.

    Examples
    --------
    >>> scatter = SharedScatter(n_features=2)
    >>> scatter.resize(2)
    >>> X, y = np.array([[0.0, 0.0], [2.0, 2.0], [9.0, 0.0], [9.0, 4.0]]), np.array([0, 0, 1, 1])
    >>> for x, row in zip(X, y):  # one by one or all at once: the same
    ...     scatter.add(x[None], row[None])
    >>> scatter.matrix.dense()
    array([[ 2.,  2.],
           [ 2., 10.]])
    """

    def __init__(self, n_features: int) -> None:
        self.means = ClassMeans(n_features)
        self.matrix = SymmetricMatrix(n_features)
        # How far any entry of the matrix, and any sum of a class, may be off because samples were taken out.
        self._rounding: Float64 = np.zeros(2)

    @property
    def mean_variance(self) -> float:
        """Variance within the classes, averaged over the dimensions; 0 where there is no spread yet."""
        variance = self.matrix.trace() / max(self.means.total, 1e-300) / self.matrix.size
        return variance if variance > NO_SPREAD else 0.0

    def resize(self, n_classes: int) -> None:
        """Grow to `n_classes` classes."""
        self.means.resize(n_classes)

    def drop(self, row: int) -> None:
        """Remove the mean of one class; what its samples added to the shared matrix stays."""
        self.means.drop(row)

    def add(self, X: Features, classes: Rows, weights: Float64 | None = None) -> None:
        """Add samples, (n, d), of the given classes, (n,)."""
        touched, batch, deviations = _within_batch(X, classes, weights)
        steps = _steps(self.means.count[touched], batch.count, batch.mean - self.means.mean[touched])
        self.matrix.add_gram(np.concatenate([deviations, steps]))
        self.means.take(batch.count, batch.mean, touched)

    def subtract(
        self, X: Features, classes: Rows, weights: Float64 | None = None, *, precision: float = 0.0
    ) -> None:
        """Take samples that were added out again, exactly.

        Parameters
        ----------
        precision : float
            How far the rows may differ from those that were added, as a share of them.

        Raises
        ------
        ValueError
            If a class has fewer samples than are to leave, or a spread would become negative: then the
            samples cannot be ones it was taught. If rounding would be left in place of what the other samples
            were: see `core.rounding`. Nothing has changed then.
        """
        touched, batch, deviations = _within_batch(X, classes, weights)
        count_left, mean_left = self.means.without(batch.count, batch.mean, touched)
        leaving = np.concatenate([deviations, _steps(count_left, batch.count, batch.mean - mean_left)])
        before, less = self.matrix.diagonal(), np.einsum("nd,nd->d", leaving, leaving)
        # Samples may be rounded differently the second time, as a lift of float32 rows in other batches is.
        largest = float(np.square(X, dtype=np.float64).max(initial=0.0))
        rounding = 1e-6 * (before + less) + 1e-9 * len(X) * largest
        if np.any(before - less < -rounding):
            raise ValueError("these samples cannot be taken out: the classes were not taught them")
        left = max(float((before - less).mean()), 0.0)
        error = self._error(batch, touched, float(max(before.max(), less.max())))
        if precision:
            different = np.sqrt([4 * less.max() * largest, (batch.count * largest).max()])
            error = np.hypot(error, precision * different)
        self._check_exact(error, left, touched, batch, (count_left, mean_left), weighted=weights is not None)
        self._rounding = error
        self.matrix.add_gram(leaving, scale=-1.0)
        if left <= error[0]:
            self.matrix.packed[:] = 0.0  # what is left is rounding, not a spread
        self.means.take_out(batch.count, batch.mean, touched)

    def _error(self, leaving: Moments, rows: Rows, squares: float) -> Float64:
        """Return how far entries of the matrix, and sums of classes, may be off once groups have left `rows`."""
        total, share = self.means.total, unit(self.means.total)
        count, mean = self.means.count[rows], self.means.mean[rows]
        size, away = np.abs(mean).max(axis=1), np.abs(leaving.mean - mean).max(axis=1)
        # The means that squares are measured from are rounded as well.
        of_squares = share * (squares + size.max() * np.sqrt(total * squares))
        return np.hypot(self._rounding, [of_squares, (share * count * (size + away)).max()])

    def _check_exact(
        self,
        error: Float64,
        squares: float,
        rows: Rows,
        leaving: Moments,
        left: tuple[Float64, Float64],
        *,
        weighted: bool,
    ) -> None:
        """Raise where the matrix, the means `left` to the classes `rows`, or the centre would be rounding."""
        count, mean = left
        means, gone = self.means, float(leaving.count.sum())
        total = max(means.total - gone, 0.0)
        step = np.average(leaving.mean, axis=0, weights=leaving.count) - means.centre
        centre = means.centre - step * (gone / total) if total else 0 * step
        of_centre = unit(means.total) * means.total * (np.abs(means.centre).max() + np.abs(step).max())
        counts = means.count.copy()
        counts[rows] = count
        size = np.append(np.abs(mean).max(axis=1), max(np.abs(centre).max(), np.abs(mean).max()))
        # First the classes, of which only the means are kept, then everything.
        check_exact(
            np.append(np.zeros(len(rows)), error[0]),
            np.append(np.full(len(rows), error[1]), np.hypot(self._rounding[1], of_centre)),
            count=np.append(count, total),
            squares=np.append(max(squares - error[0], 0.0) / max(total, 1e-300) * count, squares),
            size=size,
            alone=np.append(np.zeros(len(rows), dtype=bool), not weighted and counts.max() <= 1),
            way_out="forget the class (its share in the common covariance stays), or begin anew without them",
        )

    def fade(self, keep: float) -> None:
        """Let all samples so far count `keep` times as much."""
        self.means.fade(keep)
        self.matrix.packed *= keep

    def merge(self, other: "SharedScatter", rows: Rows) -> None:
        """Add the samples of `other`, whose class i is class ``rows[i]`` here."""
        theirs = other.means
        self.matrix.add(other.matrix)
        self.matrix.add_gram(
            _steps(self.means.count[rows], theirs.count, theirs.mean - self.means.mean[rows])
        )
        self.means.merge(theirs, rows)
        self._rounding = np.hypot(self._rounding, other._rounding)

    def solve_shrunk(self, B: Float64, shrinkage: float, *, overwrite: bool = False) -> Float64:
        """Return the rows ``A^-1 b`` for the rows of `B`, (k, d), with ``A = (1 - e) S/N + e tr(S/N)/d I``.

        Where no class has any spread yet, A is the identity. With `overwrite` the result takes the place of `B`.
        """
        mean_variance = self.mean_variance
        if not mean_variance:
            return B if overwrite else B.copy()
        return self._shrunk(shrinkage, mean_variance).solve(B, overwrite=overwrite)

    def solve_with_means(self, B: Float64, shrinkage: float, centre: Float64) -> Float64:
        """Return the rows ``(A + mean_c p_c p_c^T)^-1 b`` for the rows of `B`, (k, d); means p_c from `centre`."""
        mean_variance, mean = self.mean_variance, self.means.mean
        scale, shift = (1 - shrinkage) / self.means.total, shrinkage * mean_variance
        if not mean_variance:
            scale, shift = 0.0, 1.0

        def between() -> Iterator[Float64]:
            for start in range(0, len(mean), CLASSES_AT_A_TIME):
                yield (mean[start : start + CLASSES_AT_A_TIME] - centre) / len(mean) ** 0.5

        return self.matrix.factor(scale=scale, shift=shift, plus=between).solve(B)

    def shrunk_inverse(self, shrinkage: float) -> SymmetricMatrix:
        """Return ``A^-1``, with A as in `solve_shrunk`."""
        mean_variance = self.mean_variance
        if not mean_variance:
            return SymmetricMatrix(self.matrix.size).inverse(shift=1.0)
        return self._shrunk(shrinkage, mean_variance).inverse()

    def compact(self) -> SymmetricMatrix | LowRankMatrix:
        """Return S in the cheaper form: low rank as long as there are few samples."""
        if self.matrix.size < LOW_RANK_FROM or self.means.total > LOW_RANK_UP_TO * self.matrix.size:
            return self.matrix
        # Weights or fading may hide that there were more samples than they add up to.
        return low_rank(self.matrix, most=int(self.means.total)) or self.matrix

    def _shrunk(self, shrinkage: float, mean_variance: float) -> Factor | LowRankFactor:
        scale = (1 - shrinkage) / self.means.total
        matrix = self.compact() if scale else self.matrix
        return matrix.factor(scale=scale, shift=shrinkage * mean_variance)

    def state(self) -> State:
        """Return the means and the packed `matrix`, and `rounding` once samples were taken out."""
        state = {**self.means.state(), "matrix": self.matrix.packed}
        return state | {"rounding": self._rounding} if self._rounding.any() else state

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned, which must be of `n_classes` classes of this width."""
        self.means.restore(state, n_classes)
        self.matrix.restore(state["matrix"])
        self._rounding = np.array(state.get("rounding", (0.0, 0.0)), dtype=np.float64)
        if self._rounding.shape != (2,) or not (self._rounding >= 0).all():
            raise ValueError("the rounding of the scatter should be two numbers, none below zero")


def _within_batch(X: Features, classes: Rows, weights: Float64 | None) -> tuple[Rows, Moments, Float64]:
    """Return the classes of a batch, its moments, and rows whose Gram matrix is its within-class scatter."""
    touched, groups = np.unique(classes, return_inverse=True)
    batch = batch_moments(X, groups, len(touched), weights)
    alone = np.bincount(groups, minlength=len(touched)) == 1
    several = np.flatnonzero(~alone[groups])  # a sample alone is its own mean and has no deviation
    deviations = X[several] - batch.mean[groups[several]]
    if weights is not None:
        deviations *= np.sqrt(weights[several])[:, None]
    return touched, batch, deviations


def _steps(count: Float64, added: Float64, difference: Float64) -> Float64:
    """Return the rows whose Gram matrix is Chan's term for means, (k, d), that move apart by `difference`."""
    moved = np.flatnonzero(count * added > 0)  # a class's first samples move no mean
    n, k = count[moved], added[moved]
    return difference[moved] * np.sqrt(n * (k / (n + k)))[:, None]
