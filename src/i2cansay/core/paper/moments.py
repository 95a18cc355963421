"""Running mean and spread of every class (Eq. 1 and 2), exact under any batching, order or merge.

Symbols of the paper: n^y -> count, p^y -> mean, r^y -> std. In place of the paper's E(f^2) we keep the centred
sum of squares `m2`: the same value in exact arithmetic, but E(f^2) - p^2 cancels (float32 lost 8% of a small
variance and can fall below zero).

References
----------
Chan, Golub, LeVeque (1983), Algorithms for computing the sample variance, The American Statistician 37(3).
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg.blas import daxpy

from i2cansay.core.linalg.allocator import keep_freed_memory
from i2cansay.core.linalg.blas import threads_for
from i2cansay.core.linalg.row_buffer import RowBuffer
from i2cansay.core.rounding import check_exact, unit
from i2cansay.core.state_parts import LARGEST_FEATURE, check_range
from i2cansay.core.types import Features, Float32, Float64, Rows, State

# Below this share of what it was, the difference of two counts is rounding.
ROUNDING = 1e-12
# Samples that were taught leave moments that agree to this share; others are told apart by it.
AGREEMENT = 1e-6
# A spread is made of them in single precision, which ends at 3e38: 100 million samples at the largest features.
LARGEST_SQUARES = 1e38
# Up to this many samples of a class join one by one, in place; of more, sums are formed first.
FEW_SAMPLES = 4


@dataclass(frozen=True)
class Moments:
    """Moments of k groups: `count` (k,), `mean` (k, d) and the centred squares `m2` (k, d), all float64.

    `rounding`, (k, 2), is how far any of `m2`, and of the sums ``count * mean``, may be off because samples were
    taken out; None where none were.
    """

    count: Float64
    mean: Float64
    m2: Float64
    rounding: Float64 | None = field(default=None, repr=False)


def add_samples(
    count: float, mean: Float64, m2: Float64, x: Float64, weights: Float64 | None = None
) -> float:
    """Let samples join one class: `mean` and `m2`, both (d,), change in place; return the new count.

    Parameters
    ----------
    count : float
        Samples, or weight, so far; above 0, or `mean` must hold the first of `x`: offsets from anywhere else
        would cancel when they are squared.
    x : (m, d) float64 array
    weights : (m,) positive weights, or None for one each

    Examples
    --------
    >>> mean, m2 = np.array([2.0]), np.array([0.0])  # the sample 2 was seen; now comes 4
    >>> add_samples(1.0, mean, m2, np.array([[4.0]])), mean, m2
    (2.0, array([3.]), array([2.]))
    """
    offset = x - mean
    if weights is not None:
        total = np.einsum("m,md->d", weights, offset)
        squares = np.einsum("m,md,md->d", weights, offset, offset)
        count += float(weights.sum())
    else:
        total = offset.sum(axis=0)
        squares = np.einsum("md,md->d", offset, offset)
        count += len(x)
    step = total * (1 / count)
    mean += step  # Eq. 1, several samples at once
    step *= total
    squares -= step
    m2 += np.maximum(squares, 0.0, out=squares)
    return count


def add_one_by_one(moments: Moments, x: Float64, classes: list[int], weights: list[float]) -> None:
    """Let samples join their classes one by one; `moments` change in place.

    Three calls for a sample and no temporary: of the few samples that a batch has of each of many classes, sums
    would take longer.

    Parameters
    ----------
    moments : of all classes; zero for a class without samples
    x : (m, d) float64 array, used up
    classes : class of each sample
    weights : weight of each sample, positive

    Examples
    --------
    >>> moments = Moments(np.array([1.0, 0.0]), np.array([[2.0], [0.0]]), np.zeros((2, 1)))
    >>> add_one_by_one(moments, np.array([[4.0], [7.0]]), [0, 1], [1.0, 1.0])
    >>> moments.count, moments.mean.ravel(), moments.m2.ravel()
    (array([2., 1.]), array([3., 7.]), array([2., 0.]))
    """
    count, mean, m2 = moments.count, moments.mean, moments.m2
    factors = []
    for sample, row, weight in zip(x, classes, weights, strict=True):
        count[row] += weight
        share = weight / count.item(row)
        own_mean = mean[row]
        offset = np.subtract(sample, own_mean, out=sample)
        daxpy(offset, own_mean, a=share)  # Eq. 1
        factors.append(weight * (1 - share))
    squares = np.multiply(x, x, out=x)  # all at once: a call less for a sample
    for square, row, factor in zip(squares, classes, factors, strict=True):
        daxpy(square, m2[row], a=factor)


def batch_moments(X: Features, groups: Rows, n_groups: int, weights: Float64 | None = None) -> Moments:
    """Return the moments of each group of rows.

    Parameters
    ----------
    X : (n, d) array
    groups : (n,) group of each row, every one of ``range(n_groups)`` present
    weights : (n,) positive weights, or None for one each

    Examples
    --------
    >>> batch_moments(np.array([[1.0], [3.0], [7.0]]), np.array([0, 0, 1]), 2).m2.ravel()
    array([2., 0.])
    """
    moments = ClassMoments(X.shape[1])
    moments.resize(n_groups)
    moments.add(X, groups, weights)
    return Moments(moments.count, moments.mean, moments.m2)


def merge_moments(a: Moments, b: Moments) -> Moments:
    """Return the moments of the samples of `a` and `b` together, group by group.

    A count of zero in `a` starts a class.

    Examples
    --------
    >>> one = Moments(np.array([1.0]), np.array([[2.0]]), np.array([[0.0]]))
    >>> two = Moments(np.array([1.0]), np.array([[4.0]]), np.array([[0.0]]))
    >>> merge_moments(one, two)
    Moments(count=array([2.]), mean=array([[3.]]), m2=array([[2.]]))
    """
    count = a.count + b.count
    share = (b.count / count)[:, None]
    delta = b.mean - a.mean
    step = delta * share
    mean = a.mean + step
    delta *= step
    delta *= a.count[:, None]
    delta += a.m2
    delta += b.m2
    return Moments(count, mean, delta)


def subtract_moments(a: Moments, b: Moments) -> Moments:
    """Return the moments that merge with `b` to `a`: the samples of `b` taken out again, group by group.

    A group that becomes empty has count, mean and squares zero, and so has a square that may be rounding alone.
    """
    count = a.count - b.count
    count[np.abs(count) <= ROUNDING * a.count] = 0.0
    left = (count > 0)[:, None]
    safe = np.where(count > 0, count, 1.0)[:, None]
    delta = b.mean - a.mean
    mean = np.where(left, a.mean - delta * (b.count[:, None] / safe), 0.0)
    leaving = b.m2 + delta * delta * (a.count * b.count)[:, None] / safe
    m2 = a.m2 - leaving
    rounding = _rounding(a, b)
    m2[np.abs(m2) <= rounding[:, :1]] = 0.0
    return Moments(count, mean, np.where(left, m2, 0.0), rounding)


def _rounding(a: Moments, b: Moments) -> Float64:
    """Return the rounding of `a` without `b`, (k, 2): that of both, and what it had before."""
    share, size = unit(a.count), np.abs(a.mean).max(axis=1)
    away = np.abs(b.mean - a.mean).max(axis=1)
    squares = np.maximum(a.m2.max(axis=1), b.m2.max(axis=1) + b.count * away**2)
    # The means that squares are measured from are rounded as well.
    of_squares = share * (squares + size * np.sqrt(a.count * squares))
    of_sums = share * a.count * (size + away)
    rounding = np.stack([of_squares, of_sums], axis=1)
    return rounding if a.rounding is None else np.hypot(a.rounding, rounding)


def standard_deviation(count: Float64, m2: Float64) -> Float32:
    """Return the population standard deviation, (k, d) float32, of (k,) counts and (k, d) centred squares."""
    variance: Float32 = m2.astype(np.float32)  # roots in float32 are half the work
    variance *= (1 / count).astype(np.float32)[:, None]
    return np.sqrt(variance, out=variance)  # Eq. 2


class ClassMoments:
    """The moments of every class seen so far, a row per class in the order of arrival.

    Examples
    --------
    >>> moments = ClassMoments(n_features=1)
    >>> moments.resize(2)
    >>> changed = moments.add(np.array([[1.0], [3.0], [10.0]]), np.array([0, 0, 1]))
    >>> moments.mean.ravel(), moments.std().ravel()
    (array([ 2., 10.]), array([1., 0.], dtype=float32))
    """

    def __init__(self, n_features: int) -> None:
        keep_freed_memory()
        self._count = RowBuffer(width=None, dtype=np.float64)
        self._mean = RowBuffer(width=n_features, dtype=np.float64)
        self._m2 = RowBuffer(width=n_features, dtype=np.float64)
        self._rounding = RowBuffer(width=2, dtype=np.float64)

    def __len__(self) -> int:
        return len(self._count)

    @property
    def count(self) -> Float64:
        """Samples (or weight) per class, (c,)."""
        return self._count.view

    @property
    def mean(self) -> Float64:
        """Prototypes, (c, d)."""
        return self._mean.view

    @property
    def m2(self) -> Float64:
        """Centred sums of squares, (c, d)."""
        return self._m2.view

    def std(self, rows: Rows | slice = slice(None)) -> Float32:
        """Return the standard deviation of the classes `rows`, (k, d)."""
        return standard_deviation(self.count[rows], self.m2[rows])

    def resize(self, n_classes: int) -> None:
        """Grow to `n_classes` rows; the new ones are empty."""
        for part in (self._count, self._mean, self._m2, self._rounding):
            part.resize(n_classes)

    def add(self, X: Features, classes: Rows, weights: Float64 | None = None) -> Rows:
        """Add samples, (n, d), of the given classes, (n,); return the classes that changed, sorted."""
        members: dict[int, list[int]] = {}
        for sample, row in enumerate(classes.tolist()):
            members.setdefault(row, []).append(sample)
        few: list[int] = []
        with threads_for(0):
            for row, own in members.items():
                if len(own) <= FEW_SAMPLES:
                    few += own
                else:
                    self._add_to_class(row, X[own], None if weights is None else weights[own])
            few_samples = np.ascontiguousarray(X[few], dtype=np.float64)
            few_weights = [1.0] * len(few) if weights is None else weights[few].tolist()
            add_one_by_one(self.read(), few_samples, classes[few].tolist(), few_weights)
        return np.array(sorted(members), dtype=np.int64)

    def _add_to_class(self, row: int, X: Features, weights: Float64 | None) -> None:
        """Add many samples of one class, (n, d)."""
        count, mean, m2 = self.count.item(row), self.mean[row], self.m2[row]
        if count == 0:
            mean[:] = X[0]
        self.count[row] = add_samples(count, mean, m2, X.astype(np.float64, copy=False), weights)

    def merge(self, other: Moments, rows: Rows) -> None:
        """Merge moments of other samples, group i into class ``rows[i]``."""
        self.replace(rows, merge_moments(self.read(rows), other))
        if other.rounding is not None:
            self._rounding.view[rows] = np.hypot(self._rounding.view[rows], other.rounding)

    def without(self, X: Features, classes: Rows, weights: Float64 | None = None) -> tuple[Rows, Moments]:
        """Return the classes of these samples and what their moments would be without them; change nothing.

        Raises
        ------
        ValueError
            If a class has fewer samples than are to leave, or its spread would become negative: then the
            samples cannot be ones it was taught. If rounding would be left in place of what the other samples
            were: see `core.rounding`.
        """
        touched, groups = np.unique(classes, return_inverse=True)
        before = self.read(touched)
        leaving = batch_moments(X, groups, len(touched), weights)
        after = subtract_moments(before, leaving)
        if np.any(after.count < 0):
            raise ValueError("more samples were to be unlearnt than the class was taught")
        # Taught samples leave no negative spread behind; where none is left, they are all there was.
        scale = before.m2 + before.count[:, None] * (leaving.mean - before.mean) ** 2
        spread = np.sqrt(scale / before.count[:, None]) + np.abs(before.mean)
        emptied = (after.count == 0)[:, None]
        strange = emptied & (np.abs(leaving.mean - before.mean) > AGREEMENT * spread)
        strange |= emptied & (np.abs(leaving.m2 - before.m2) > AGREEMENT * before.count[:, None] * spread**2)
        if np.any(strange | (after.m2 < -AGREEMENT * scale)):
            raise ValueError("these samples cannot be unlearnt: the class was not taught them")
        m2, rounding = np.maximum(after.m2, 0.0), _rounding(before, leaving)
        check_exact(
            *rounding.T,
            count=after.count,
            squares=m2.mean(axis=1),
            size=np.abs(after.mean).max(axis=1),
            alone=(after.count == 1) & (weights is None),
            way_out="forget the class, and teach it again without them",
        )
        return touched, Moments(after.count, after.mean, m2, rounding)

    def drop(self, row: int) -> None:
        """Remove one class."""
        for part in (self._count, self._mean, self._m2, self._rounding):
            part.drop(row)

    def state(self) -> State:
        """Return `count`, `mean` and `m2`, and `rounding` once samples were taken out."""
        state = {"count": self.count, "mean": self.mean, "m2": self.m2}
        return state | {"rounding": self._rounding.view} if self._rounding.view.any() else state

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned, which must be of `n_classes` classes of this width."""
        expected = n_classes, self.mean.shape[1]
        shapes = state["count"].shape, state["mean"].shape, state["m2"].shape
        if shapes != (expected[:1], expected, expected):
            raise ValueError(
                f"the class moments should be of {n_classes} classes with {expected[1]} features, "
                f"but count, mean and m2 have the shapes {', '.join(map(str, shapes))}"
            )
        if not (np.isfinite(state["mean"]).all() and np.isfinite(state["m2"]).all()):
            raise ValueError("the class moments are not all finite")
        if (state["m2"] < 0).any() or not (state["count"] > 0).all():
            raise ValueError("the class moments have a count or a spread below zero")
        check_range("the count of a class", state["count"])
        check_range("the mean of a class", state["mean"], -LARGEST_FEATURE, LARGEST_FEATURE)
        check_range("the squares of a class", state["m2"], 0.0, LARGEST_SQUARES)
        variance = state["m2"] / state["count"][:, None]
        check_range("the variance of a class", variance, 0.0, 4 * LARGEST_FEATURE**2)
        rounding = state.get("rounding", np.zeros((n_classes, 2)))
        if rounding.shape != (n_classes, 2) or not (rounding >= 0).all():
            raise ValueError(
                "the rounding of the class moments should be two numbers per class, none below zero"
            )
        for part, array in (
            (self._count, state["count"]),
            (self._mean, state["mean"]),
            (self._m2, state["m2"]),
            (self._rounding, rounding),
        ):
            part.set(array)

    def read(self, rows: Rows | slice = slice(None)) -> Moments:
        """Return the moments of the classes `rows`; of a slice they are views."""
        return Moments(self.count[rows], self.mean[rows], self.m2[rows], self._rounding.view[rows])

    def replace(self, rows: Rows, moments: Moments) -> None:
        """Set the moments of the classes `rows`."""
        self.count[rows], self.mean[rows], self.m2[rows] = moments.count, moments.mean, moments.m2
        if moments.rounding is not None:
            self._rounding.view[rows] = moments.rounding
