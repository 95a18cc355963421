"""Logistic regression on everything at once: the limit of the features, not a streaming method."""

import warnings
from contextlib import nullcontext
from typing import Literal, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from i2cansay.core.blas import THREADED_FROM
from i2cansay.core.linear import LinearScores
from i2cansay.core.types import Features, Float64, Rows, State
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.cached import Cached
from i2cansay.learners.collected import CollectedSamples
from i2cansay.learners.parameters import check_positive, check_whole

# Tried from the strongest regularisation to the weakest, until the part held out is predicted worse.
PATH = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 1e1)
# One sample in this many of each class is held out while C is chosen.
HELD_OUT = 5


class _Solution(NamedTuple):
    rule: LinearScores
    C: float
    n_iter: int


class JointLogisticRegression(OnlineClassifier):
    """Collects every sample and, when asked, fits multinomial logistic regression to all of them.

    What a linear classifier can reach on these features without any constraint on memory or order. It keeps
    the samples, and it solves anew for every question after a change.

    Parameters
    ----------
    C : float or "cv"
        Inverse regularisation, of features scaled to variance one. "cv" chooses it among powers of ten by the
        likelihood of a fifth of the samples held out, then fits all of them: about five times the work.
    max_iter : int
        Limit of L-BFGS iterations; `converged_` tells whether it was enough.

    Notes
    -----
    `forget` throws the samples of a class out, and the rest is solved as if they had never come.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = JointLogisticRegression().partial_fit(X[:1500], y[:1500])
    >>> print(f"{model.score(X[1500:], y[1500:]):.2f}")
    0.91
    """

    stores_samples = True
    streaming = False
    order_free = True
    solves = True

    def __init__(self, *, C: float | Literal["cv"] = 0.1, max_iter: int = 2000) -> None:
        self.C = C
        self.max_iter = max_iter

    def _start(self, n_features: int) -> None:
        if self.C != "cv":
            if isinstance(self.C, str):
                raise ValueError(f"C must be a number above 0 or 'cv', got {self.C!r}")
            check_positive(C=self.C)
        check_whole(max_iter=self.max_iter, at_least=1)
        self._samples = CollectedSamples(n_features)
        self._rule: Cached[_Solution] = Cached()

    def _grow(self, n_classes: int) -> None:
        self._rule.clear()

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        self._samples.add(X, rows, weights)
        self._rule.clear()

    def _scores(self, X: Features) -> Features:
        return self._solution().rule.of(X)

    def _solution(self) -> _Solution:
        self._check_ready()
        return self._rule.get(self._solve)

    @property
    def C_(self) -> float:
        """The inverse regularisation of the present solution."""
        return self._solution().C

    @property
    def n_iter_(self) -> int:
        """Iterations the solver took for it."""
        return self._solution().n_iter

    @property
    def converged_(self) -> bool:
        """Whether the present solution is one, to the solver's tolerance."""
        return self._solution().n_iter < self.max_iter

    def _solve(self) -> _Solution:
        rank = np.argsort(self._labels.order)  # the position of each class among the sorted labels
        X, y, weights = _in_fixed_order(self._samples, rank)
        centre = np.average(X, axis=0, weights=weights)
        X = X - centre
        scale = np.sqrt(np.average(X**2, axis=0, weights=weights))
        # A constant feature deviates from its mean by rounding only, which must not be blown up.
        scale[scale <= 4 * np.finfo(np.float64).eps * np.abs(centre)] = 1.0
        X /= scale
        if len(rank) == 1:
            nothing = LinearScores(centre, np.zeros((1, X.shape[1])), np.zeros(1))
            return _Solution(nothing, 1.0 if self.C == "cv" else float(self.C), 0)
        # Twice as fast where the samples have no more digits.
        X = X.astype(self._samples.X.dtype)
        C = _choose(X, y, weights, self.max_iter) if self.C == "cv" else float(self.C)
        model = _fit(X, y, weights, C, self.max_iter)
        coef, intercept = model.coef_, model.intercept_
        if len(rank) == 2:  # scikit-learn has one row for two classes: half of it for, half of it against
            coef, intercept = np.concatenate([-coef, coef]) / 2, np.concatenate([-intercept, intercept]) / 2
        rule = LinearScores(centre, coef[rank] / scale, intercept[rank])
        return _Solution(rule, C, int(model.n_iter_[0]))

    def _drop(self, row: int) -> None:
        self._samples.drop(row)
        self._rule.clear()

    def _state(self) -> State:
        return self._samples.state()

    def _restore(self, state: State) -> None:
        self._samples.restore(state, len(self._labels))


def _in_fixed_order(samples: CollectedSamples, rank: Rows) -> tuple[Float64, Rows, Float64]:
    """Return the samples by class and content, so that their order leaves no trace at all."""
    X = np.ascontiguousarray(samples.X, dtype=np.float64) + 0.0  # -0.0 becomes 0.0, and the copy is ours
    y, weights = rank[samples.rows], samples.weights
    content = np.unique(X.view(np.dtype((np.void, X.shape[1] * 8))).ravel(), return_inverse=True)[1]
    order = np.lexsort((weights, content, y))
    return X[order], y[order], weights[order]


def _fit(X: Features, y: Rows, weights: Float64, C: float, max_iter: int) -> LogisticRegression:
    # scikit-learn's products run on numpy's BLAS; small ones on one thread, as everywhere (core/blas.py).
    small = X.size * (int(y.max()) + 1) < THREADED_FROM
    with warnings.catch_warnings(), threadpool_limits(1, user_api="blas") if small else nullcontext():
        warnings.simplefilter("ignore", ConvergenceWarning)  # told by `converged_`
        return LogisticRegression(C=C, max_iter=max_iter).fit(X, y, weights)


def _choose(X: Features, y: Rows, weights: Float64, max_iter: int) -> float:
    """Return the C of `PATH` whose fit to four fifths of every class is likeliest on the fifth."""
    held_out = np.zeros(len(X), dtype=bool)
    for row in range(int(y.max()) + 1):
        members = np.random.default_rng(row).permutation(np.flatnonzero(y == row))
        held_out[members[: len(members) // HELD_OUT]] = True
    if not held_out.any():
        return 1.0
    best, best_loss = PATH[0], np.inf
    for C in PATH:
        model = _fit(X[~held_out], y[~held_out], weights[~held_out], C, max_iter)
        log_probability = model.predict_log_proba(X[held_out])[np.arange(held_out.sum()), y[held_out]]
        loss = -float(np.average(log_probability, weights=weights[held_out]))
        if not loss < best_loss:
            break
        best, best_loss = C, loss
    return best
