"""An expert: a density of features, and a classifier of them.

Symbols: mu_c -> means, one per class of the expert; Sigma -> the covariance all its classes share,
``noise I + sum over r of (variance_r - noise) v_r v_r^T`` with the leading directions v_r of the scatter around the
class means (probabilistic principal components). The density is the mixture of its classes' Gaussians,
p(x) = sum over c of n_c/n N(x; mu_c, Sigma); the classifier is a linear softmax head.

References
----------
Tipping, Bishop (1999), Probabilistic principal component analysis, JRSS B 61(3).
"""

import numpy as np
from scipy.linalg import eigh
from scipy.special import log_softmax, logsumexp

from i2cansay.core.linalg.blas import inner
from i2cansay.core.paper.head import LinearHead, row_weights
from i2cansay.core.state_parts import LARGEST_FEATURE, add_prefix, check_range, strip_prefix
from i2cansay.core.statistics.means import ClassMeans
from i2cansay.core.types import Features, Float32, Float64, Rows, State

# Rows of one step of the head's training.
STEP_ROWS = 50
# No smaller noise is accepted, whatever the unit of the features (`cndpm`).
LEAST_NOISE = 1e-204


def leading_directions(deviations: Float64, rank: int, least: float) -> tuple[Float64, Float64, float]:
    """Return leading directions, (r, d), the variances along them, (r,), and the mean variance across them.

    Parameters
    ----------
    deviations : (n, d) array
        Rows from which the means have been taken.
    rank : int
        How many directions at most.
    least : float
        No variance is taken to be smaller, above 0.

    Examples
    --------
    >>> rows = np.array([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> directions, variances, noise = leading_directions(rows, rank=1, least=1e-3)
    >>> np.abs(directions).round(6), variances.round(6), round(float(noise), 6)
    (array([[1., 0.]]), array([4.5]), 0.5)
    """
    n, d = deviations.shape
    rank = min(rank, n, d - 1)
    total = float(np.einsum("nd,nd->", deviations, deviations)) / n
    directions, variances = np.zeros((0, d)), np.zeros(0)
    if rank > 0 and total > 0:
        small = deviations if d > n else np.ascontiguousarray(deviations.T)
        size = len(small)
        values, vectors = eigh(inner(small, small) / n, subset_by_index=(size - rank, size - 1))
        found = values > least
        values, vectors = values[found][::-1], vectors[:, found][:, ::-1]
        if d > n:
            vectors = inner(np.ascontiguousarray(deviations.T), np.ascontiguousarray(vectors.T))
            vectors /= np.sqrt(values * n)
        directions, variances = np.ascontiguousarray(vectors.T), np.ascontiguousarray(values)
    noise = max((total - float(variances.sum())) / max(d - len(variances), 1), least)
    above = variances > noise
    return directions[above], variances[above], noise


class GaussianExpert:
    """A density and a classifier over the classes it was made of.

    The covariance is fixed when the expert is made; means, counts and the head go on learning.

    Parameters
    ----------
    X : (n, d) array
    classes : (n,) array
        Rows of the learner's classes.
    rank : int
        Directions of the covariance.
    least : float
        The smallest variance believed, above 0.
    lr, weight_decay, epochs
        Of the head's training on `X`.
    rng : Generator
        Of the order in which it is trained.

    Examples
    --------
    >>> X, y = np.array([[0.0, 1.0], [0.0, 3.0], [8.0, 1.0], [8.0, 3.0]]), np.array([4, 4, 6, 6])
    >>> rng = np.random.default_rng(0)
    >>> expert = GaussianExpert(X, y, rank=1, least=0.1, lr=0.1, weight_decay=0.0, epochs=20, rng=rng)
    >>> near, far = expert.log_density(np.array([[8.0, 2.0], [40.0, 2.0]]))
    >>> bool(near > far), expert.log_probability(np.array([[8.0, 2.0]])).argmax(axis=1)
    (True, array([1]))
    """

    def __init__(
        self,
        X: Features,
        classes: Rows,
        *,
        rank: int,
        least: float,
        lr: float,
        weight_decay: float,
        epochs: int,
        rng: np.random.Generator,
    ) -> None:
        self.classes, own = np.unique(classes, return_inverse=True)
        """Rows of the learner's classes that it knows, (k,), increasing."""
        self.means = ClassMeans(X.shape[1])
        self.means.resize(len(self.classes))
        self.means.add(X, own)
        deviations = X - self.means.mean[own]
        self._directions, self._variances, self._noise = leading_directions(deviations, rank, least)
        self.head = LinearHead(X.shape[1], bias=True)
        self.head.resize(len(self.classes))
        x = X.astype(np.float32, copy=False)
        for _ in range(epochs):
            order = rng.permutation(len(x))
            for start in range(0, len(x), STEP_ROWS):
                rows = order[start : start + STEP_ROWS]
                self._step(x[rows], own[rows], None, lr, weight_decay)

    @property
    def count(self) -> float:
        """Samples assigned to it."""
        return float(self.means.count.sum())

    def learn(
        self, X: Features, classes: Rows, weights: Float64 | None, *, lr: float, weight_decay: float
    ) -> None:
        """Learn samples, (n, d), of classes it knows, (n,)."""
        own = np.searchsorted(self.classes, classes)
        self.means.add(X, own, weights)
        self._step(X.astype(np.float32, copy=False), own, weights, lr, weight_decay)

    def _step(self, x: Float32, own: Rows, weights: Float64 | None, lr: float, weight_decay: float) -> None:
        every_row = row_weights([len(x)], [1.0]) if weights is None else weights / weights.sum()
        self.head.step(x, own, every_row, lr=lr, weight_decay=weight_decay)

    def log_density(self, X: Features) -> Float64:
        """Return log p(x) of rows (n, d), (n,)."""
        # Measured from the middle of the classes: far from the origin the squares would cancel.
        offset, means = X - self.means.centre, self.means.from_centre()
        scaled = self._directions * np.sqrt(1.0 - self._noise / self._variances)[:, None]
        along, means_along = inner(offset, scaled), inner(means, scaled)
        square = np.einsum("nd,nd->n", offset, offset) - np.einsum("nr,nr->n", along, along)
        mean_square = np.einsum("cd,cd->c", means, means) - np.einsum("cr,cr->c", means_along, means_along)
        product = inner(offset, means) - inner(along, means_along)
        distance = np.maximum(square[:, None] - 2.0 * product + mean_square, 0.0) / self._noise
        d, r = X.shape[1], len(self._variances)
        log_determinant = (d - r) * np.log(self._noise) + float(np.log(self._variances).sum())
        share = np.log(self.means.count / self.count)
        mixture: Float64 = logsumexp(share - 0.5 * distance, axis=1)
        mixture -= 0.5 * (log_determinant + d * np.log(2.0 * np.pi))
        return mixture

    def log_probability(self, X: Features, temperature: float = 1.0) -> Float64:
        """Return log p(y | x) of rows (n, d) for each class it knows, (n, k)."""
        result: Float64 = log_softmax(self.head.logits(X).astype(np.float64) / temperature, axis=1)
        return result

    def drop(self, row: int) -> None:
        """Forget one of the learner's classes, where known; those behind it move up."""
        place = np.flatnonzero(self.classes == row)
        if len(place):
            self.means.drop(int(place[0]))
            self.head.drop(int(place[0]))
        left = self.classes[self.classes != row]
        self.classes = left - (left > row)

    def state(self) -> State:
        """Return classes, means, covariance and head."""
        return {
            "classes": self.classes,
            "directions": self._directions,
            "variances": self._variances,
            "noise": np.array([self._noise]),
            **add_prefix("means", self.means.state()),
            **add_prefix("head", self.head.state()),
        }

    @classmethod
    def from_state(cls, state: State, n_features: int, n_classes: int) -> "GaussianExpert":
        """Return an expert from what `state()` returned, for a learner of this width and number of classes."""
        classes, directions, variances = state["classes"], state["directions"], state["variances"]
        known = len(classes)
        fits = classes.shape == (known,) and known > 0 and bool((np.diff(classes) > 0).all())
        if not fits or classes[0] < 0 or classes[-1] >= n_classes:
            raise ValueError(f"an expert's classes should be increasing rows of the {n_classes} known")
        shapes = {
            "directions": (len(variances), n_features),
            "variances": (len(variances),),
            "noise": (1,),
            "head.weights": (known, n_features),
            "head.bias": (known,),
        }
        for name, shape in shapes.items():
            if state[name].shape != shape:
                raise ValueError(f"an expert's {name} should be of shape {shape}, not {state[name].shape}")
        check_range("an expert's noise", state["noise"], LEAST_NOISE, LARGEST_FEATURE**2 * 4)
        most = 4 * n_features * LARGEST_FEATURE**2
        check_range("an expert's variances", variances, float(state["noise"][0]), most)
        # Rows of unit length.
        check_range("an expert's directions", directions, -1.001, 1.001)
        expert = cls.__new__(cls)
        expert.classes = np.array(classes, dtype=np.int64)
        expert._directions, expert._variances = (
            np.array(directions, np.float64),
            np.array(variances, np.float64),
        )
        expert._noise = float(state["noise"][0])
        expert.means = ClassMeans(n_features)
        expert.means.restore(strip_prefix(state, "means"), known)
        expert.head = LinearHead(n_features, bias=True)
        expert.head.restore(strip_prefix(state, "head"), known)
        return expert


class GaussianExperts:
    """The experts of a learner in `all`, oldest first; one that has lost all its classes is removed."""

    def __init__(self, n_features: int) -> None:
        self._n_features = n_features
        self.all: list[GaussianExpert] = []

    def resize(self, n_classes: int) -> None:
        """Do nothing: an expert knows the classes it was made of."""

    def drop(self, row: int) -> None:
        """Forget one of the learner's classes; those behind it move up."""
        for expert in self.all:
            expert.drop(row)
        self.all = [expert for expert in self.all if len(expert.classes)]

    def state(self) -> State:
        """Return the state of each expert, as `0.means.mean`, `1.head.weights`, ..., and how many there are."""
        state: State = {"number": np.array([len(self.all)])}
        for place, expert in enumerate(self.all):
            state |= add_prefix(str(place), expert.state())
        return state

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned, which must be of `n_classes` classes of this width."""
        if state["number"].shape != (1,):
            raise ValueError("the number of experts should be one number")
        check_range("the number of experts", state["number"], 0, len(state))
        self.all = [
            GaussianExpert.from_state(strip_prefix(state, str(place)), self._n_features, n_classes)
            for place in range(int(state["number"][0]))
        ]
