"""Linear discriminant analysis in closed form, with the shrinkage of its covariance chosen by the data themselves.

Symbols: S -> the shared scatter of N samples, e -> shrinkage, A = (1 - e) S/N + e tr(S/N)/d I -> the shrunk
covariance, p_c -> mean of class c. The score of class c is f A^-1 p_c - p_c A^-1 p_c / 2, up to a common term.
Of features of several blocks everything is about R S R and R p_c, with the R of `scatter`.

Oracle approximating shrinkage asks which A is nearest to the true covariance. What a classifier needs is an inverse
that predicts well. Regression onto the classes by the same statistics, ``(S + B + l I)^-1`` with B the scatter of
the means, has the same discriminant directions, and its error on samples left out is known from the statistics alone
(generalised cross-validation, `cross_validation`). The best l there, in units of the mean variance, is N e/(1 - e)
here.

The Gaussian model takes the samples of a class to lie around its mean alike in all directions. They do not: what is
typical of the class is more pronounced in one sample than in another, so that they scatter most along the line from
the centre m of all classes through their own mean, and the weak ones of a class far out fall to classes further in.
`shrink_means` therefore brings means nearer to the centre, the more the further out they are: by ``sqrt(1 + t q_c)``
with ``q_c = (p_c - m) A^-1 (p_c - m)``. Near the centre nothing changes; far out only the direction counts.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from i2cansay.core.linalg.blas import inner
from i2cansay.core.linalg.low_rank import LowRankMatrix
from i2cansay.core.statistics.cross_validation import Solver, cross_validated_ridge
from i2cansay.core.statistics.linear_scores import LinearScores
from i2cansay.core.statistics.scatter import NO_SPREAD, SharedScatter
from i2cansay.core.types import Features, Float64, Rows

CLASSES_AT_A_TIME = 128
# As long as no class has two samples, the squared lengths of the means are taken to be this on average.
USUAL_LENGTH = 200.0
# Reached after some ten million samples. With less, rounding of the sums would decide in directions without spread.
LEAST_SHRINKAGE = 1e-8


def cross_validated_shrinkage(scatter: SharedScatter) -> float:
    """Return the shrinkage for decisions, from 0 to 1, by generalised cross-validation."""
    return shrinkage_of(scatter, cross_validated_penalty(scatter))


def shrinkage_of(scatter: SharedScatter, penalty: float) -> float:
    """Return the shrinkage for decisions where this penalty is the best for regression.

    Cross-validation judges by squared error, which asks for more shrinkage than deciding does once there are more
    samples than dimensions. The penalty is lowered in proportion, as held-out training samples prefer:
    docs/shared-mode-details.md.
    """
    total = max(scatter.means.total, 1e-300)
    if 0 < scatter.width < total:  # no width: there is no spread yet
        penalty *= scatter.width / total
    return max(penalty / (penalty + total), LEAST_SHRINKAGE)


def cross_validated_penalty(scatter: SharedScatter, begin: float = 0.0) -> float:
    """Return the penalty l with the least generalised cross-validation error, at least that of the oracle.

    Parameters
    ----------
    begin : float
        Penalty to look at first: knowing about where the best one lies saves time.

    Examples
    --------
    >>> rng, scatter, spreads = np.random.default_rng(0), SharedScatter(20), np.arange(1, 21)
    >>> scatter.resize(2)
    >>> shrinkage = {}
    >>> for n in (60, 6000):
    ...     y = np.arange(n) % 2
    ...     scatter.add(spreads * rng.standard_normal((n, 20)) + y[:, None], y)
    ...     shrinkage[n] = cross_validated_shrinkage(scatter)
    >>> shrinkage[60] > shrinkage[6000]
    True
    """
    means, unit = scatter.means, scatter.mean_variance
    total = means.total
    oas = scatter.oas_shrinkage()
    oracle = total * oas / max(1 - oas, 1e-12)
    if len(means) < 2 or not unit:
        return oracle
    everything = _Everything(scatter)
    best = cross_validated_ridge(
        everything,
        everything.sums,
        squares=float((means.count * (1 - means.count / total)).sum()),
        n=total,
        unit=unit,
        fitted=1.0,
        lowest=oracle,
        begin=begin,
        keep_weights=False,
    )
    return best.penalty


class _Everything:
    """All samples around their common mean, ``S + B``, and their sums by class, a few classes at a time.

    The sums are never formed as a whole: with many classes they would take as much memory as the matrix. For few
    samples ``S + B`` is kept as few rows.
    """

    def __init__(self, scatter: SharedScatter) -> None:
        self._means, self._matrix, self._scales = scatter.means, scatter.compact(), scatter.scales()
        if isinstance(self._matrix, LowRankMatrix):
            self._matrix = self._matrix.plus(self._between())

    @property
    def size(self) -> int:
        return self._matrix.size

    def factor(self, *, shift: float) -> Solver:
        if isinstance(self._matrix, LowRankMatrix):
            return self._matrix.factor(shift=shift)
        return self._matrix.factor(shift=shift, plus=self._between)

    def sums(self) -> Iterator[Float64]:
        return self._from_centre(self._means.count)

    def _between(self) -> Iterator[Float64]:
        return self._from_centre(np.sqrt(self._means.count))

    def _from_centre(self, weights: Float64) -> Iterator[Float64]:
        for some in a_few(len(self._means)):
            offsets = self._means.from_centre(some) * weights[some, None]
            yield offsets if self._scales is None else offsets * self._scales


def discriminant(scatter: SharedScatter, shrinkage: float, *, empirical_prior: bool = False) -> LinearScores:
    """Return the discriminant scores of all classes, seen from the centre of the data.

    Every score loses the same term by the centring; only the rounding is smaller.
    """
    means = scatter.means.from_centre()
    weights = scatter.solve_shrunk(means, shrinkage)
    offset: Float64 = -0.5 * np.einsum("cd,cd->c", means, weights)
    if empirical_prior:
        offset += log_shares(scatter)
    return LinearScores(scatter.means.centre.copy(), weights, offset)


# The border between two classes must leave each at least this share of the way between their means.
OWN_SHARE = 0.1
HALVINGS = 16
# Of more classes than this, the products of all pairs would take more memory and time than everything else.
MOST_JUDGED = 2048


def largest_safe_strength(strength: float, products: Features) -> float:
    """Return how strongly means can be shrunk before a class loses its own mean to another in the same direction.

    The strength is halved until the border between any two classes lies between their means, at least a tenth of
    the way from either. On features of many dimensions that is the case at once.

    Parameters
    ----------
    products : (c, c) array
        ``(p_i - m) A^-1 (p_j - m)``.

    Examples
    --------
    >>> apart, in_line = np.array([3.0, 20.0]), np.array([[10.0, 0.0], [20.0, 0.0]])
    >>> largest_safe_strength(0.02, np.diag(apart) ** 2)
    0.02
    >>> largest_safe_strength(0.02, in_line @ in_line.T)
    0.0025
    """
    lengths = np.diagonal(products)
    for _ in range(HALVINGS):
        squared = 1 + strength * np.maximum(lengths, 0)
        scores = products / np.sqrt(squared)
        scores -= 0.5 * lengths / squared
        own = np.diagonal(scores)
        # Of class i over j at the mean of i, and of j over i at the mean of j.
        if all(
            np.all(
                (1 - OWN_SHARE) * (own[some, None] - scores[some]) >= OWN_SHARE * (own - scores[:, some].T)
            )
            for some in a_few(len(own))
        ):
            return strength
        strength /= 2
    return 0.0


def farthest(lengths: Features) -> Rows:
    """Return the classes by which `largest_safe_strength` judges: all, or of very many those farthest out.

    Examples
    --------
    >>> farthest(np.array([3.0, 1.0, 2.0]))
    array([0, 1, 2])
    """
    if len(lengths) <= MOST_JUDGED:
        return np.arange(len(lengths))
    return np.sort(np.argpartition(lengths, -MOST_JUDGED)[-MOST_JUDGED:])


class ShrunkMeans(NamedTuple):
    """Discriminant scores with class means shrunk towards the centre of the classes, and by how much, (c,)."""

    scores: LinearScores
    factors: Float64


def shrink_means(
    scatter: SharedScatter, shrinkage: float, strength: float, *, empirical_prior: bool = False
) -> ShrunkMeans:
    """Return the discriminant scores with the means shrunk towards their centre.

    With ``strength=0`` they are those of `discriminant`, shifted.

    Examples
    --------
    >>> scatter = SharedScatter(2)
    >>> scatter.resize(3)
    >>> corners = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> for row, mean in enumerate([(20.0, 0.0), (-4.0, 9.0), (-16.0, -9.0)]):
    ...     scatter.add(corners + mean, np.full(4, row))
    >>> shrink_means(scatter, 0.5, strength=0.02).factors.round(1)
    array([3. , 1.7, 2.8])
    """
    means = scatter.means.mean
    centre: Float64 = means.mean(axis=0)
    weights = scatter.solve_shrunk(means - centre, shrinkage, overwrite=True)
    lengths = np.empty(len(means))
    for some in a_few(len(means)):
        lengths[some] = np.einsum("cd,cd->c", means[some] - centre, weights[some])
    if not scatter.mean_variance:
        # Lengths are in the unit of the features then: far is what is far among the classes.
        usual = float(lengths.mean())
        strength *= USUAL_LENGTH / usual if usual > NO_SPREAD else 0.0
    judged = farthest(lengths)
    own, products = weights[judged], np.empty((len(judged), len(judged)))
    for some in a_few(len(judged)):
        products[some] = inner(means[judged[some]] - centre, own)
    shares = log_shares(scatter) if empirical_prior else None
    return shrunk(centre, weights, lengths, largest_safe_strength(strength, products), shares)


def shrunk(
    centre: Float64, weights: Float64, lengths: Float64, strength: float, shares: Float64 | None = None
) -> ShrunkMeans:
    """Return the discriminant scores with means shrunk by ``sqrt(1 + strength lengths)``.

    Parameters
    ----------
    centre : (d,) centre m of the classes
    weights : (c, d) array
        ``A^-1 (p_c - m)``; the result takes its place.
    lengths : (c,) array
        ``(p_c - m) A^-1 (p_c - m)``.
    shares : (c,) logarithms of the classes' shares, optional
    """
    factors = np.sqrt(1 + strength * lengths)
    weights /= factors[:, None]
    offset = -0.5 * lengths / factors**2
    if shares is not None:
        offset += shares
    return ShrunkMeans(LinearScores(centre, weights, offset), factors)


def a_few(n_classes: int) -> Iterator[slice]:
    """Yield the classes in slices so small that what is computed for them is small beside the matrix."""
    for start in range(0, n_classes, CLASSES_AT_A_TIME):
        yield slice(start, start + CLASSES_AT_A_TIME)


def log_shares(scatter: SharedScatter) -> Float64:
    """Return the logarithm of the share of each class in all samples, (c,)."""
    share = scatter.means.count / scatter.means.total
    return np.log(np.maximum(share, np.finfo(np.float64).tiny))  # the count of a class can have faded to zero
