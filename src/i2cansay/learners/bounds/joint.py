"""Logistic regression on all samples at once: an upper bound, not a streaming method."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from i2cansay.core.paper.head import cross_entropy
from i2cansay.core.statistics.linear_scores import LinearScores
from i2cansay.core.statistics.signed_root import signed_root
from i2cansay.core.types import Features, Float64, Rows
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.bounds.collected import CollectedSamples
from i2cansay.learners.bounds.logistic import LogisticFit, fit_logistic
from i2cansay.learners.lazy import Cached
from i2cansay.learners.parameters import check_choice, check_positive, check_whole

# Tried from the strongest regularisation to the weakest, until the part held out is predicted worse twice.
PATH = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0, 3.0, 1e1)
PATIENCE = 2
# One sample in this many of each class is held out while C is chosen.
HELD_OUT = 5


class _JointSolution(NamedTuple):
    rule: LinearScores
    C: float
    root: bool
    n_iter: int
    converged: bool


class _RegressionChoice(NamedTuple):
    """What was chosen on the part held out, how good it was there, and a solution to begin from."""

    merit: tuple[float, float]
    C: float
    root: bool
    fit: LogisticFit | None


class JointLogisticRegression(OnlineClassifier):
    """Collects every sample and, when asked, fits multinomial logistic regression to all of them.

    This is what a linear classifier can reach on these features without any constraint on memory or order. It keeps
    the samples, and solves again for the first prediction after every change.

    Parameters
    ----------
    C : float or "cv"
        Inverse regularisation, of features scaled to variance one. "cv" chooses it, two values to a decade, by the
        accuracy on a fifth of every class held out, then fits all of them: about five times the work.
    feature_transform : {"none", "sqrt", "cv"}
        Whether the features enter by their square root (signed, where they are negative). "cv" chooses, together
        with C where that is to be chosen, on the same fifth: twice the work.
    max_iter : int
        Limit of L-BFGS iterations; `converged_` tells whether it was enough.

    Notes
    -----
    `forget` discards the samples of a class; the solution is then as if they had never come.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = JointLogisticRegression().partial_fit(X[:1500], y[:1500])
    >>> model.score(X[1500:], y[1500:]) > 0.85  # about 0.91
    True
    """

    summary = "logistic regression on everything at once, offline"
    parts = ("_samples",)
    caches = ("_rule",)
    stores_samples = True
    streaming = False
    order_free = True
    lazy = True

    def __init__(
        self,
        *,
        C: float | Literal["cv"] = 0.1,
        feature_transform: Literal["none", "sqrt", "cv"] = "none",
        max_iter: int = 2000,
    ) -> None:
        self.C = C
        self.feature_transform = feature_transform
        self.max_iter = max_iter

    def _check_parameters(self) -> None:
        if self.C != "cv":
            if isinstance(self.C, str):
                raise ValueError(f"C must be a number above 0 or 'cv', got {self.C!r}")
            check_positive(C=self.C)
        check_choice("feature_transform", self.feature_transform, ("none", "sqrt", "cv"))
        check_whole(max_iter=self.max_iter, at_least=1)

    def _start(self, n_features: int) -> None:
        self._samples = CollectedSamples(n_features)
        self._rule: Cached[_JointSolution] = Cached()

    def _state_bytes(self, n_features: int, n_classes: int) -> None:
        return None  # it collects every sample

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        self._samples.add(X, rows, weights)

    def _scores(self, X: Features) -> Features:
        solution = self._solution()
        return solution.rule.of(signed_root(X) if solution.root else X)

    def _solution(self) -> _JointSolution:
        self._check_ready()
        return self._rule.get(self._solve)

    @property
    def C_(self) -> float:
        """The inverse regularisation of the present solution."""
        return self._solution().C

    @property
    def feature_transform_(self) -> str:
        """How the features enter the present solution, "none" or "sqrt"."""
        return "sqrt" if self._solution().root else "none"

    @property
    def n_iter_(self) -> int:
        """Iterations the solver took for it."""
        return self._solution().n_iter

    @property
    def converged_(self) -> bool:
        """Whether the present solution is one, to the solver's tolerance."""
        return self._solution().converged

    def _solve(self) -> _JointSolution:
        rank = np.argsort(self._labels.order)  # the position of each class among the sorted labels
        X, y, weights = _in_fixed_order(self._samples, rank)
        dtype = self._samples.X.dtype  # float32 is twice as fast, where the samples have no more digits
        choice = self._choose(X, y, weights, len(rank), dtype)
        scaled, centre, scale = _standardised(X, weights, choice.root, dtype)
        if len(rank) == 1:
            nothing = LinearScores(centre, np.zeros((1, X.shape[1])), np.zeros(1))
            return _JointSolution(nothing, choice.C, choice.root, 0, True)
        fit = _fit(
            scaled, y, weights, n_classes=len(rank), C=choice.C, max_iter=self.max_iter, start=choice.fit
        )
        rule = LinearScores(centre, fit.weights[rank] / scale, fit.bias[rank])
        return _JointSolution(rule, choice.C, choice.root, fit.n_iter, fit.converged)

    def _choose(
        self, X: Float64, y: Rows, weights: Float64, n_classes: int, dtype: DTypeLike
    ) -> _RegressionChoice:
        """Return C and transform as given, or as they predict the samples held out best."""
        roots = {"none": (False,), "sqrt": (True,), "cv": (False, True)}[self.feature_transform]
        path = PATH if self.C == "cv" else (float(self.C),)
        nothing_to_choose = len(roots) == len(path) == 1
        if nothing_to_choose or n_classes == 1 or not _held_out(y).any():
            return _RegressionChoice((0.0, 0.0), 1.0 if self.C == "cv" else path[0], roots[0], None)
        choices = []
        for root in roots:
            scaled = _standardised(X, weights, root, dtype)[0]
            choices.append(_Trial(scaled, y, weights, max_iter=self.max_iter).walk(path, root))
        return max(choices, key=lambda choice: choice.merit)


def _in_fixed_order(samples: CollectedSamples, rank: Rows) -> tuple[Float64, Rows, Float64]:
    """Return the samples by class and content, so that their order leaves no trace at all."""
    X = np.ascontiguousarray(samples.X, dtype=np.float64) + 0.0  # -0.0 becomes 0.0, and the copy is ours
    y, weights = rank[samples.rows], samples.weights
    content = np.unique(X.view(np.dtype((np.void, X.shape[1] * 8))).ravel(), return_inverse=True)[1]
    order = np.lexsort((weights, content, y))
    return X[order], y[order], weights[order]


def _standardised(
    X: Float64, weights: Float64, root: bool, dtype: DTypeLike
) -> tuple[Features, Float64, Float64]:
    """Return the samples centred and of variance one, in `dtype`, with their centre and scale, both (d,)."""
    X = signed_root(X).astype(np.float64) if root else X
    centre = np.average(X, axis=0, weights=weights)
    X = X - centre
    scale = np.sqrt(np.average(X**2, axis=0, weights=weights))
    # A constant feature deviates from its mean by rounding only, which must not be blown up; a mean is rounded once
    # for every sample.
    scale[scale <= 4 * len(X) * np.finfo(np.float64).eps * np.abs(centre)] = 1.0
    X /= scale
    return X.astype(dtype), centre, scale


def _held_out(y: Rows) -> NDArray[np.bool_]:
    """Return which samples, (n,), are held out: a fifth of every class, drawn at random and always the same."""
    held_out = np.zeros(len(y), dtype=bool)
    for row in range(int(y.max()) + 1):
        members = np.random.default_rng(row).permutation(np.flatnonzero(y == row))
        held_out[members[: len(members) // HELD_OUT]] = True
    return held_out


class _Trial:
    """Fits to four fifths of the samples, judged by the fifth held out."""

    def __init__(self, X: Features, y: Rows, weights: Float64, *, max_iter: int) -> None:
        self._n_classes, self._max_iter = int(y.max()) + 1, max_iter
        asked = _held_out(y)
        self._known = X[~asked], y[~asked], weights[~asked]
        self._asked = X[asked], y[asked], weights[asked]

    def walk(self, path: tuple[float, ...], root: bool) -> _RegressionChoice:
        """Return the C of `path` whose fit predicts the samples held out best."""
        best: _RegressionChoice | None = None
        fit, worse = None, 0
        for C in path:
            fit = _fit(*self._known, n_classes=self._n_classes, C=C, max_iter=self._max_iter, start=fit)
            merit = self._merit(fit)
            if best is None or merit > best.merit:
                best, worse = _RegressionChoice(merit, C, root, fit), 0
            else:
                worse += 1
                if worse == PATIENCE:
                    break
        assert best is not None
        return best

    def _merit(self, fit: LogisticFit) -> tuple[float, float]:
        """Return accuracy and, where that is the same, likelihood: few samples are often all right."""
        X, y, weights = self._asked
        logits = fit.logits(X)
        accuracy = float(np.average(logits.argmax(axis=1) == y, weights=weights))
        return accuracy, -cross_entropy(logits, y, weights)


def _fit(
    X: Features,
    y: Rows,
    weights: Float64,
    *,
    n_classes: int,
    C: float,
    max_iter: int,
    start: LogisticFit | None,
) -> LogisticFit:
    # Of two classes scikit-learn penalises the difference of the weights, which counts twice what the two do.
    C = C / 2 if n_classes == 2 else C
    return fit_logistic(X, y, weights, n_classes=n_classes, C=C, max_iter=max_iter, start=start)
