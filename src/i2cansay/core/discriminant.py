"""Linear discriminant analysis in closed form, with the shrinkage of its covariance chosen by the data themselves.

Symbols: S -> the shared scatter of N samples, e -> shrinkage, A = (1 - e) S/N + e tr(S/N)/d I -> the shrunk
covariance, p_c -> mean of class c. The score of class c is f A^-1 p_c - p_c A^-1 p_c / 2, up to a common term.

Oracle approximating shrinkage asks which A is nearest to the true covariance. What a classifier needs is an inverse
that predicts well. Regression onto the classes by the same statistics, ``(S + B + l I)^-1`` with B the scatter of
the means, has the same discriminant directions, and its error on samples left out is known from the statistics alone
(generalised cross-validation, `core.gcv`). The best l there, in units of the mean variance, is N e/(1 - e) here.
"""

import numpy as np

from i2cansay.core.gcv import cross_validated_ridge
from i2cansay.core.linear import LinearScores
from i2cansay.core.scatter import SharedScatter, oas_shrinkage
from i2cansay.core.types import Float64


def cross_validated_shrinkage(scatter: SharedScatter, lowest: float = 0.0) -> float:
    """Return the shrinkage with the least generalised cross-validation error, up to 1, at least that of the oracle.

    Parameters
    ----------
    lowest : float
        Penalty l below which not to look: knowing about where it lies saves time.

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
    oas = oas_shrinkage(scatter.matrix, total)
    if len(means) < 2 or not unit:
        return oas
    gram, centred = scatter.matrix.copy(), means.from_centre()
    gram.add_gram(centred * np.sqrt(means.count)[:, None])
    best = cross_validated_ridge(
        gram,
        centred * means.count[:, None],
        squares=float((means.count * (1 - means.count / total)).sum()),
        n=total,
        unit=unit,
        fitted=1.0,
        lowest=max(lowest, total * oas / max(1 - oas, 1e-12)),
    )
    return best.penalty / (best.penalty + total)


def discriminant(scatter: SharedScatter, shrinkage: float, *, empirical_prior: bool = False) -> LinearScores:
    """Return the discriminant scores of all classes, seen from the centre of the data.

    Every score loses the same term by the centring; only the rounding is smaller.
    """
    means = scatter.means.from_centre()
    weights = scatter.solve_shrunk(means, shrinkage)
    offset: Float64 = -0.5 * np.einsum("cd,cd->c", means, weights)
    if empirical_prior:
        share = scatter.means.count / scatter.means.total
        offset += np.log(np.maximum(share, np.finfo(np.float64).tiny))  # a class can have faded to nothing
    return LinearScores(scatter.means.centre.copy(), weights, offset)
