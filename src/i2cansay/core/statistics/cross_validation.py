"""The penalty of a ridge regression by generalised cross-validation, from accumulated statistics alone.

The error of ridge regression on samples left out one at a time, averaged over rotations of the samples, is
``n RSS(l) / (n - df(l))^2``: RSS the sum of squared residuals, ``df = tr((G + l I)^-1 G)`` the degrees of freedom.
Both follow from the Gram matrix G, the sums Q of features by class and the counts, so that no sample is needed, and
neither order nor batches matter:

    W = (G + l I)^-1 Q,   RSS = |y|^2 - tr(W^T Q) - l |W|^2,   df = M - l tr((G + l I)^-1)

Symbols: G -> gram, Q -> sums, l -> penalty times unit, M -> gram.size.

References
----------
Golub, Heath, Wahba (1979), Generalized cross-validation as a method for choosing a good ridge parameter,
Technometrics 21(2).
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

import numpy as np

from i2cansay.core.types import Float64

PENALTIES = tuple(float(f"{10 ** (power / 2):.4g}") for power in range(-4, 13))
"""Penalties that are tried, in units of a feature's mean square: two to a decade."""

# The search descends from here, so that only a few of the penalties are tried.
FIRST = 10.0


class Solver(Protocol):
    """A matrix that can be solved for: a `Factor`, or a `LowRankFactor`."""

    def solve(self, rows: Float64, *, overwrite: bool = False) -> Float64:
        """Return the solution for each row of `rows`, (k, size)."""

    def trace_of_inverse(self) -> float:
        """Return the trace of the inverse; the solver is used up."""


class Gram(Protocol):
    """The Gram matrix of the features: a `SymmetricMatrix`, or whatever can give the factors of one."""

    @property
    def size(self) -> int:
        """M, the number of features."""

    def factor(self, *, shift: float) -> Solver:
        """Return what solves for the matrix with `shift` added to its diagonal."""


class CrossValidated(NamedTuple):
    """The regression of the best penalty: its `weights` (c, M), the `penalty` in its unit, and its error."""

    weights: Float64
    penalty: float
    error: float


def cross_validated_ridge(
    gram: Gram,
    sums: Callable[[], Iterable[Float64]],
    *,
    squares: float,
    n: float,
    unit: float,
    fitted: float = 0.0,
    lowest: float = 0.0,
    begin: float = FIRST,
    keep_weights: bool = True,
) -> CrossValidated:
    """Return the ridge regression whose penalty has the least generalised cross-validation error.

    The error has a single minimum in all but contrived cases, and the search descends to it.

    Parameters
    ----------
    gram : (M, M) matrix of the features
    sums : callable
        Gives the sums of the features by class, (c, M), whole or a few classes at a time; asked once for every
        penalty that is tried.
    squares : float
        Sum of the squared targets of all classes.
    n : float
        Samples.
    unit : float
        What a penalty of one is.
    fitted : float
        Degrees of freedom spent beforehand: 1 where an intercept was taken out.
    lowest : float
        Try no penalty below this one. With fewer samples than features the error has a second valley at no penalty
        at all, where the regression goes through every sample.
    begin : float
        Where to begin: the nearer to the best one, the fewer are tried.
    keep_weights : bool
        False where the penalty alone is of interest: what is needed at a time is then a block.

    Examples
    --------
    >>> from i2cansay.core.linalg.symmetric import SymmetricMatrix
    >>> rng = np.random.default_rng(0)
    >>> X, gram = rng.standard_normal((50, 3)), SymmetricMatrix(3)
    >>> gram.add_gram(X)
    >>> y = X[:, :1] + 3 * rng.standard_normal((50, 1))  # little to learn
    >>> noisy = cross_validated_ridge(gram, lambda: [y.T @ X], squares=float((y**2).sum()), n=50, unit=1.0)
    >>> z = X[:, :1]
    >>> clean = cross_validated_ridge(gram, lambda: [z.T @ X], squares=float((z**2).sum()), n=50, unit=1.0)
    >>> noisy.penalty > clean.penalty
    True
    """

    def tried(position: int) -> CrossValidated:
        penalty = PENALTIES[position]
        factor = gram.factor(shift=penalty * unit)
        weights, residuals = [np.zeros((0, gram.size))], squares
        for some in sums():
            solved = factor.solve(some)
            residuals -= float(np.einsum("cd,cd->", solved, some))
            residuals -= penalty * unit * float(np.einsum("cd,cd->", solved, solved))
            if keep_weights:
                weights.append(solved)
        freedom = gram.size - penalty * unit * factor.trace_of_inverse()
        left = max(n - fitted - freedom, 0.0)
        # As many parameters as samples: no degrees of freedom are left.
        error = n * max(residuals, 0.0) / left**2 if left > 1e-9 * n else np.inf
        return CrossValidated(np.concatenate(weights), penalty, error)

    last = len(PENALTIES) - 1
    floor, start = (
        min(int(np.searchsorted(PENALTIES, value)), last) for value in (lowest, max(lowest, begin))
    )
    best = tried(start)
    for step in (1, -1):  # upwards first: of two equally good penalties the stronger one is kept
        at, turned = start, False
        while floor <= at + step <= last:
            at += step
            other = tried(at)
            if not (other.error < best.error or (step > 0 and other.error == best.error)):
                break
            best, turned = other, True
        if turned:
            break
    return best
