"""One scatter matrix shared by all classes: exact under any batching, order or merge, and it can be undone.

Symbols: S -> matrix, the sum over all samples of (f - p_y)(f - p_y)^T with p_y the mean of the sample's
class *at the end*; N -> means.total. As samples move the means, S gains Chan's term
n k/(n + k) (b - p)(b - p)^T for k new samples of mean b in a class of n samples of mean p; without it the
result would depend on the batches. With one class for everything S is the centred Gram matrix of all samples.

Blocks of features (`core.statistics.blocks`) differ in their unit, and no decision may depend on it. With
v_b -> `spheres`, the mean variance of block b, and R = diag(v_b^-1/2) -> `scales`, all that is solved is solved for
R S R, which has no unit; what goes in and what comes out is multiplied by R. That shrinks S/N towards
blockdiag(v_b I) in place of v I. One block is measured as it is: R = I.

References
----------
Chan, Golub, LeVeque (1983), Algorithms for computing the sample variance, The American Statistician 37(3).
Chen, Wiesel, Eldar, Hero (2010), Shrinkage algorithms for MMSE covariance estimation, IEEE TSP 58(10).
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.linalg.low_rank import LowRankFactor, LowRankMatrix, low_rank
from i2cansay.core.linalg.scaled import ScaledMatrix
from i2cansay.core.linalg.symmetric import Factor, SymmetricMatrix
from i2cansay.core.paper.moments import Moments, batch_moments
from i2cansay.core.rounding import check_exact, unit
from i2cansay.core.statistics.blocks import Blocks
from i2cansay.core.statistics.means import ClassMeans
from i2cansay.core.types import Features, Float64, Rows, State

# A mean variance below this is no spread: its inverse would overflow.
NO_SPREAD = 1e-200
# Of several blocks, one that varies by less than this share of itself is constant, up to the rounding of features.
CONSTANT = float(np.finfo(np.float32).eps)
# The low-rank form pays from this many dimensions on, and up to this many samples per dimension.
LOW_RANK_FROM = 1024
LOW_RANK_UP_TO = 0.25
CLASSES_AT_A_TIME = 1024


def oas_shrinkage(matrix: SymmetricMatrix | ScaledMatrix, count: float, size: int | None = None) -> float:
    """Return the oracle approximating shrinkage of a scatter of `count` samples, between 0 and 1.

    The formula is scikit-learn's, which leaves out the 2/d terms of the article. Of d dimensions `size` count, where
    it is given; the matrix is zero in the others.

    Examples
    --------
    >>> matrix = SymmetricMatrix(2)
    >>> matrix.add_gram(np.array([[3.0, 0.0], [0.0, 1.0]]))
    >>> oas_shrinkage(matrix, 2), round(oas_shrinkage(matrix, 1000), 3)
    (1.0, 0.006)
    """
    size = matrix.size if size is None else size
    if size < 2:
        return 1.0 - size  # of one dimension there is nothing but the sphere
    # Of S instead of S/N: the factor cancels.
    mean_square = matrix.sum_of_squares() / size**2
    squared_mean = (matrix.trace() / size) ** 2
    denominator = (count + 1) * (mean_square - squared_mean / size)
    return min((mean_square + squared_mean) / denominator, 1.0) if denominator > 0 else 1.0


class SharedScatter:
    """The scatter of the samples around the means of their classes.

    Parameters
    ----------
    n_features : int
    blocks : sequence of int, optional
        Widths of the blocks that have a unit of their own; one block where not given.

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

    def __init__(self, n_features: int, blocks: Sequence[int] | None = None) -> None:
        self.means = ClassMeans(n_features)
        self.matrix = SymmetricMatrix(n_features)
        self.blocks = Blocks((n_features,) if blocks is None else blocks)
        # How far entries of the matrix, and sums of a class, may be off because samples were taken out; by block.
        self._rounding: Float64 = np.zeros((2, len(self.blocks)))

    @property
    def variances(self) -> Float64:
        """Variance within the classes, averaged over the dimensions of each block, (b,); 0 without any spread."""
        squares = self.blocks.sums(self.matrix.diagonal())
        variances: Float64 = squares / max(self.means.total, 1e-300) / self.blocks.widths
        return np.where(variances > self._least_variances(), variances, 0.0)

    @property
    def mean_variance(self) -> float:
        """Variance within the classes, averaged over the dimensions; 0 where there is no spread yet.

        With several blocks 1, as each is measured in a unit of its own, or 0.
        """
        variances = self.variances
        return float(variances[0] if len(variances) == 1 else variances.any())

    @property
    def width(self) -> int:
        """How many dimensions count in the shrinkage: of several blocks those that have any spread."""
        if len(self.blocks) == 1:
            return self.matrix.size
        return int(self.blocks.widths[self.variances > 0].sum())

    def spheres(self) -> Float64:
        """Return the variance of the sphere that each block is shrunk towards, (b,).

        That within the classes; of a block that has none yet, that of the class means. A block that is constant has
        0 and is left out; if all of them are, as after the first sample, it is the mean square.
        """
        spheres, least = self.variances, self._least_variances()
        for number, block in enumerate(self.blocks):
            if spheres[number] == 0:
                between = float(self.means.mean[:, block].var(axis=0).mean())
                spheres[number] = between if between > least[number] else 0.0
        if not spheres.any():
            spheres = self.blocks.means(np.square(self.means.centre))
            spheres[spheres <= NO_SPREAD] = 0.0
        return spheres

    def scales(self) -> Float64 | None:
        """Return the diagonal of R, (d,), which makes blocks comparable; None for one block, where R = I."""
        if len(self.blocks) == 1:
            return None
        spheres = self.spheres()
        return self.blocks.expand(
            np.divide(1.0, np.sqrt(spheres), out=np.zeros_like(spheres), where=spheres > 0)
        )

    def scaled(self) -> SymmetricMatrix | ScaledMatrix:
        """Return R S R."""
        scales = self.scales()
        return self.matrix if scales is None else ScaledMatrix(self.matrix, scales)

    def oas_shrinkage(self) -> float:
        """Return the oracle approximating shrinkage of R S R."""
        return oas_shrinkage(self.scaled(), self.means.total, self.width)

    def _least_variances(self) -> Float64:
        """Return up to where a variance is none, by block, (b,)."""
        least: Float64 = np.full(len(self.blocks), NO_SPREAD)
        if len(least) == 1:
            return least
        sizes = self.blocks.means(np.square(self.means.centre))
        return np.maximum(least, CONSTANT**2 * sizes, out=least)

    def resize(self, n_classes: int) -> None:
        """Grow to `n_classes` classes."""
        self.means.resize(n_classes)

    def drop(self, row: int) -> None:
        """Remove the mean of one class; what its samples added to the shared matrix stays."""
        self.means.drop(row)

    def add(self, X: Features, classes: Rows, weights: Float64 | None = None) -> None:
        """Add samples, (n, d), of the given classes, (n,)."""
        self.gain(X, classes, weights)

    def gain(self, X: Features, classes: Rows, weights: Float64 | None = None) -> Float64:
        """Add samples, as `add` does, and return the rows, (r, d), whose Gram matrix S has gained by them."""
        touched, batch, deviations = _within_batch(X, classes, weights)
        steps = _steps(self.means.count[touched], batch.count, batch.mean - self.means.mean[touched])
        gained = np.concatenate([deviations, steps])
        self.matrix.add_gram(gained)
        self.means.take(batch.count, batch.mean, touched)
        return gained

    def subtract(
        self, X: Features, classes: Rows, weights: Float64 | None = None, *, precision: float | Float64 = 0.0
    ) -> None:
        """Take samples that were added out again, exactly.

        Parameters
        ----------
        precision : float, or (b,) array
            How far the rows may differ from those that were added, as a share of them; by block.

        Raises
        ------
        ValueError
            If a class has fewer samples than are to leave, or a spread would become negative: then the
            samples cannot be ones it was taught. If rounding would be left in place of what the other samples
            were, in any block: see `core.rounding`. Nothing has changed then.
        """
        touched, batch, deviations = _within_batch(X, classes, weights)
        count_left, mean_left = self.means.without(batch.count, batch.mean, touched)
        leaving = np.concatenate([deviations, _steps(count_left, batch.count, batch.mean - mean_left)])
        before, less = self.matrix.diagonal(), np.einsum("nd,nd->d", leaving, leaving)
        # Samples may be rounded differently the second time, as a lift of float32 rows in other batches is.
        largest = self.blocks.largest(np.square(X, dtype=np.float64).max(axis=0, initial=0.0))
        rounding = 1e-6 * (before + less) + self.blocks.expand(1e-9 * len(X) * largest)
        if np.any(before - less < -rounding):
            raise ValueError("these samples cannot be taken out: the classes were not taught them")
        left = np.maximum(self.blocks.means(before - less), 0.0)
        most = self.blocks.largest(np.maximum(before, less))
        error = self._error(batch, touched, most)
        if np.any(precision):
            different = [4 * self.blocks.largest(less) * largest, batch.count.max() * largest]
            error = np.hypot(error, precision * np.sqrt(different))
        self._check_exact(error, left, touched, batch, (count_left, mean_left), weighted=weights is not None)
        self._rounding = error
        self.matrix.add_gram(leaving, scale=-1.0)
        self._clear((left <= error[0]) & (most > 0))
        self.means.take_out(batch.count, batch.mean, touched)

    def _clear(self, blocks: NDArray[np.bool_]) -> None:
        """Set the rows and columns of `blocks`, (b,), to zero: what is left there is rounding, not a spread."""
        if blocks.all():
            self.matrix.packed[:] = 0.0
        elif blocks.any():
            self.matrix.scale_by(self.blocks.expand(np.where(blocks, 0.0, 1.0)))

    def _error(self, leaving: Moments, rows: Rows, squares: Float64) -> Float64:
        """Return how far entries of the matrix, and sums of classes, may be off once groups have left `rows`.

        By block, (2, b). An entry between two blocks is off by the geometric mean of the two at most.
        """
        total, share = self.means.total, unit(self.means.total)
        count, mean = self.means.count[rows, None], self.means.mean[rows]
        size = self.blocks.largest(np.abs(mean))
        away = self.blocks.largest(np.abs(leaving.mean - mean))
        # The means that squares are measured from are rounded as well.
        of_squares = share * (squares + size.max(axis=0) * np.sqrt(total * squares))
        return np.hypot(self._rounding, [of_squares, (share * count * (size + away)).max(axis=0)])

    def _check_exact(
        self,
        error: Float64,
        squares: Float64,
        rows: Rows,
        leaving: Moments,
        left: tuple[Float64, Float64],
        *,
        weighted: bool,
    ) -> None:
        """Raise where the matrix, the means `left` to the classes `rows`, or the centre would be rounding."""
        count, mean = left
        means, gone, largest = self.means, float(leaving.count.sum()), self.blocks.largest
        total = max(means.total - gone, 0.0)
        step = np.average(leaving.mean, axis=0, weights=leaving.count) - means.centre
        centre = means.centre - step * (gone / total) if total else 0 * step
        of_centre = unit(means.total) * means.total * (largest(np.abs(means.centre)) + largest(np.abs(step)))
        counts = means.count.copy()
        counts[rows] = count
        size = largest(np.abs(mean))
        size = np.vstack([size, np.maximum(largest(np.abs(centre)), size.max(axis=0))])
        # First the classes, of which only the means are kept, then everything; each by block.
        none, each = np.zeros((len(rows), len(self.blocks))), np.ones((len(rows), 1))
        of_class = np.maximum(squares - error[0], 0.0) / max(total, 1e-300) * count[:, None]
        alone = np.append(np.zeros(len(rows), dtype=bool), not weighted and counts.max() <= 1)
        check_exact(
            np.vstack([none, error[0]]),
            np.vstack([each * error[1], np.hypot(self._rounding[1], of_centre)]),
            count=np.append(count, total)[:, None],
            squares=np.vstack([of_class, squares]),
            size=size,
            alone=alone[:, None],
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
        """Return the rows ``A^-1 b`` for the rows of `B`, (k, d), with ``A = (1 - e) S/N + e blockdiag(v_b I)``.

        Where no class has any spread yet, A is the identity, with several blocks ``blockdiag(v_b I)``. With
        `overwrite` the result takes the place of `B`.
        """
        scales, mean_variance = self.scales(), self.mean_variance
        if scales is not None:
            B, overwrite = np.multiply(B, scales, out=B if overwrite else None), True
        if mean_variance:
            B = self._shrunk(shrinkage, mean_variance).solve(B, overwrite=overwrite)
        elif not overwrite:
            B = B.copy()
        return B if scales is None else np.multiply(B, scales, out=B)

    def solve_with_means(self, B: Float64, shrinkage: float, centre: Float64) -> Float64:
        """Return the rows ``(A + mean_c p_c p_c^T)^-1 b`` for the rows of `B`, (k, d); means p_c from `centre`."""
        mean_variance, mean, scales = self.mean_variance, self.means.mean, self.scales()
        scale, shift = (1 - shrinkage) / self.means.total, shrinkage * mean_variance
        if not mean_variance:
            scale, shift = 0.0, 1.0

        def between() -> Iterator[Float64]:
            for start in range(0, len(mean), CLASSES_AT_A_TIME):
                rows = (mean[start : start + CLASSES_AT_A_TIME] - centre) / len(mean) ** 0.5
                yield rows if scales is None else rows * scales

        factor = self.scaled().factor(scale=scale, shift=shift, plus=between)
        return factor.solve(B) if scales is None else factor.solve(B * scales, overwrite=True) * scales

    def shrunk_inverse(self, shrinkage: float) -> SymmetricMatrix:
        """Return ``A^-1``, with A as in `solve_shrunk`."""
        scales, mean_variance = self.scales(), self.mean_variance
        if mean_variance:
            inverse = self._shrunk(shrinkage, mean_variance).inverse()
        else:
            inverse = SymmetricMatrix(self.matrix.size).inverse(shift=1.0)
        if scales is not None:
            inverse.scale_by(scales)
        return inverse

    def compact(self) -> SymmetricMatrix | ScaledMatrix | LowRankMatrix:
        """Return R S R in the cheaper form: low rank as long as there are few samples."""
        scaled = self.scaled()
        if scaled.size < LOW_RANK_FROM or self.means.total > LOW_RANK_UP_TO * scaled.size:
            return scaled
        # Weights or fading may hide that there were more samples than they add up to.
        return low_rank(scaled, most=int(self.means.total)) or scaled

    def _shrunk(self, shrinkage: float, mean_variance: float) -> Factor | LowRankFactor:
        scale = (1 - shrinkage) / self.means.total
        matrix = self.compact() if scale else self.scaled()
        return matrix.factor(scale=scale, shift=shrinkage * mean_variance)

    def state(self) -> State:
        """Return the means and the packed `matrix`, and `rounding` once samples were taken out."""
        state = {**self.means.state(), "matrix": self.matrix.packed}
        if not self._rounding.any():
            return state
        return state | {"rounding": self._rounding[:, 0] if len(self.blocks) == 1 else self._rounding}

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned, which must be of `n_classes` classes of this width."""
        self.means.restore(state, n_classes)
        self.matrix.restore(state["matrix"])
        shape = (2,) if len(self.blocks) == 1 else self._rounding.shape
        rounding = np.array(state.get("rounding", np.zeros(shape)), dtype=np.float64)
        if rounding.shape != shape or not (rounding >= 0).all():
            raise ValueError("the rounding of the scatter should be two numbers for a block, none below zero")
        self._rounding = rounding.reshape(2, -1)


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
