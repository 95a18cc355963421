"""Intra-class significance analysis (ISAY): distances that count the dimensions in which a class varies least.

Symbols of the paper: r^y -> std, u^y -> a row of `significance`, P -> mean, dist(f_x, P) -> the differences by
dimension, gamma -> distances, tau -> importance.

The distance of every sample to every class is two matrix products, because
``sum_d u_d (f_d - p_d)^2 = (f*f) . u - 2 f . (u*p) + u . (p*p)``; no array of shape (n, c, d) is ever built.
"""

import math
from copy import deepcopy
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.copyable_lock import CopyableLock
from i2cansay.core.linalg.blas import inner
from i2cansay.core.linalg.row_buffer import RowBuffer
from i2cansay.core.paper.moments import ClassMoments
from i2cansay.core.types import Features, Float32, Float64, Rows, State

Distance: TypeAlias = Literal["euclidean", "squared", "absolute"]
DISTANCES: tuple[str, ...] = get_args(Distance)
BiasScale: TypeAlias = Literal["paper", "mean"]
BIAS_SCALES: tuple[str, ...] = get_args(BiasScale)

# Where the three terms nearly cancel, float32 has few digits left: below this share of what was added and
# subtracted the pair is computed again, difference by difference.
CANCELLED = 0.02
# Rows, stale classes and doubtful pairs worked on at a time, so that temporaries stay small, and rows in the cache.
BLOCK = 512
CLASSES = 256
PAIRS = 1024


def significance(std: Features) -> Features:
    """Return how much each dimension says about each class: rows that sum to one, (k, d).

    Examples
    --------
    >>> significance(np.array([[0.0, 0.0, 2.0]])).round(3)
    array([[0.468, 0.468, 0.063]])
    """
    weights: Features = np.exp(
        std.min(axis=1, keepdims=True) - std
    )  # max(r) - r, less a constant softmax cannot see
    weights /= weights.sum(axis=1, keepdims=True)  # Eq. 6
    return weights


def squared_distances(
    x: Float32, u: Float32, u_mean: Float32, constant: Float64
) -> tuple[Float32, NDArray[np.bool_]]:
    """Return the squared weighted distance of each sample to each class, (n, c), and where it has lost its digits.

    Parameters
    ----------
    x : (n, d) samples, used up
    u, u_mean : (c, d) significances, and significances times prototypes
    constant : (c,) sums of significance times squared prototype
    """
    cross = inner(x, u_mean)
    total: Float32 = inner(np.multiply(x, x, out=x), u)
    total += constant.astype(np.float32)
    cross *= 2
    doubtful = cross > (1 - CANCELLED) * total
    total -= cross  # Eq. 7, squared, expanded
    return total, doubtful


def squared_distance_pairs(difference: Float64, u: Float32) -> Float64:
    """Return the squared weighted distance for pairs of a sample and a class: (p, d) differences, (p,) out."""
    pairs: Float64 = np.einsum("pd,pd,pd->p", difference, difference, u)  # Eq. 7, squared, as it stands
    return pairs


def absolute_distances(X: Features, mean: Float64, u: Float32) -> Float32:
    """Return the sums of significance times absolute difference, (n, c), a class at a time."""
    result = np.empty((len(X), len(mean)), dtype=np.float32)
    difference = np.empty(X.shape, dtype=np.float64)
    for row in range(len(mean)):
        np.subtract(X, mean[row], out=difference)
        np.abs(difference, out=difference)
        result[:, row] = np.einsum("nd,d->n", difference, u[row])  # Eq. 7, linear in dist
    return result


def importance(distances: Features, scale: BiasScale = "paper") -> Features:
    """Return the correction of the decision, (n, c): large where the distance is small.

    "paper" divides the sum of the distances by each of them; "mean" divides their mean, so that the correction
    does not grow with the number of classes.

    Examples
    --------
    >>> importance(np.array([[1.0, 3.0]]))
    array([[4.        , 1.33333333]])
    """
    mean = distances.mean(axis=1, keepdims=True)
    # A point on a prototype has distance zero; it stays finite, and by far the nearest.
    floor = np.where(mean > 0, 1e-6 * mean, 1.0)
    total = mean if scale == "mean" else mean * distances.shape[1]
    # All distances zero: every class is equally near.
    return np.where(mean > 0, total, floor) / np.maximum(distances, floor)  # Eq. 8


def decision(probabilities: Features, correction: Features) -> Features:
    """Return the scores of the classes, (n, c)."""
    return probabilities + correction  # Eq. 9


class Significance:
    """Significances of all classes, kept ready for the two products and refreshed only where a class changed.

    The features are shifted first, by one number for all dimensions, near the mean of everything: far from the
    origin the expanded squares would cancel. The shift follows from the statistics as they are now, rounded to
    their spread so that it rarely moves: nothing of the past has to be kept for it, and a resumed learner rounds
    as an uninterrupted one does.

    Threads may ask at the same time: the first brings it up to date, and the others wait. A class that changes
    meanwhile is marked afterwards, so that nothing computed from what it was before stays.
    """

    def __init__(self, n_features: int) -> None:
        self._n_classes = 0
        # Caches are as large as the weights themselves: no spare room, and no growth before they are needed.
        self._u = RowBuffer(width=n_features, dtype=np.float32, spare=False)
        self._u_mean = RowBuffer(width=n_features, dtype=np.float32, spare=False)
        self._constant = RowBuffer(width=None, dtype=np.float64, spare=False)
        self._level = RowBuffer(width=None, dtype=np.float64)
        self._spread = RowBuffer(width=None, dtype=np.float64)
        self._shift = 0.0
        self._stale: set[int] = set()
        self._lock = CopyableLock()

    def __deepcopy__(self, memo: dict[int, Any]) -> "Significance":
        """Return a consistent copy, also while other threads ask."""
        twin = Significance.__new__(Significance)
        with self._lock:
            twin.__dict__ = deepcopy(self.__dict__, memo)
        return twin

    def resize(self, n_classes: int) -> None:
        """Grow to `n_classes` rows; the new ones are stale."""
        with self._lock:
            self._stale.update(range(self._n_classes, n_classes))
            self._n_classes = n_classes

    def mark(self, rows: Rows) -> None:
        """Note that the moments of these classes have changed."""
        with self._lock:
            self._stale.update(rows.tolist())

    def drop(self, row: int) -> None:
        """Remove one class."""
        with self._lock:
            for part in (self._u, self._u_mean, self._constant, self._level, self._spread):
                if row < len(part):
                    part.drop(row)
            self._n_classes -= 1
            self._stale = {stale - (stale > row) for stale in self._stale if stale != row}

    def state(self) -> State:
        """Return nothing: the significances follow from the moments."""
        return {}

    def restore(self, state: State, n_classes: int) -> None:
        """Begin with `n_classes` classes, all of them stale."""
        self.resize(n_classes)

    def weights(self, moments: ClassMoments) -> Float32:
        """Return a copy of the significances of all classes, (c, d)."""
        with self._lock:
            self._refresh(moments)
            return self._u.view.copy()

    def distances(self, X: Features, moments: ClassMoments, distance: Distance) -> Float32:
        """Return the significance-weighted distance of each row of `X`, (n, d), to each class, (n, c)."""
        with self._lock:
            self._refresh(moments)
        if distance == "absolute":
            return absolute_distances(X, moments.mean, self._u.view)
        result = np.empty((len(X), len(moments)), dtype=np.float32)
        for start in range(0, len(X), BLOCK):
            block = slice(start, start + BLOCK)
            result[block] = self._squared(X[block], moments)
        return result if distance == "squared" else np.sqrt(result, out=result)

    def _refresh(self, moments: ClassMoments) -> None:
        for part in (self._u, self._u_mean, self._constant, self._level, self._spread):
            part.resize(self._n_classes)
        stale = np.array(sorted(self._stale), dtype=np.int64)
        for rows in _blocks(stale):
            self._level.view[rows] = moments.mean[rows].mean(axis=1)
            self._spread.view[rows] = moments.m2[rows].mean(axis=1)
        total = moments.count.sum()
        shift = rounded(
            float((moments.count * self._level.view).sum() / total),
            math.sqrt(self._spread.view.sum() / total),
        )
        if shift != self._shift:
            stale = np.arange(self._n_classes)
            self._stale.update(
                stale.tolist()
            )  # first: if this is interrupted, all of them are still marked as stale
            self._shift = shift
        for rows in _blocks(stale):
            mean = (moments.mean[rows] - self._shift).astype(np.float32)
            u = significance(moments.std(rows))
            self._u.view[rows] = u
            u *= mean
            self._u_mean.view[rows] = u
            u *= mean
            self._constant.view[rows] = u.sum(axis=1, dtype=np.float64)
        self._stale = set()

    def _squared(self, X: Features, moments: ClassMoments) -> Float32:
        x = np.subtract(X, self._shift).astype(np.float32, copy=False)
        total, doubtful = squared_distances(x, self._u.view, self._u_mean.view, self._constant.view)
        samples, classes = np.nonzero(doubtful)
        for start in range(0, len(samples), PAIRS):
            i, c = samples[start : start + PAIRS], classes[start : start + PAIRS]
            total[i, c] = squared_distance_pairs(X[i] - moments.mean[c], self._u.view[c])
        return np.maximum(total, 0, out=total)


def rounded(value: float, spread: float) -> float:
    """Return the value to the nearest multiple of a power of two near `spread`; 0 where there is no spread.

    Examples
    --------
    >>> rounded(100.3, 2.0), rounded(0.3, 2.0)
    (100.0, 0.0)
    """
    if spread == 0:
        return 0.0
    step = 2.0 ** round(math.log2(spread))
    return step * round(value / step)


def _blocks(rows: Rows) -> list[Rows]:
    """Return the rows a few at a time: many new classes at once need no float64 copies of everything."""
    return [rows[start : start + CLASSES] for start in range(0, len(rows), CLASSES)]
