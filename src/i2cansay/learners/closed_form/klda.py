"""KLDA: linear discriminant analysis on several draws of random Fourier features, whose answers are averaged."""

from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from i2cansay.core.part_bytes import linear_bytes, scatter_bytes
from i2cansay.core.state_parts import add_prefix, strip_prefix
from i2cansay.core.statistics.discriminant import discriminant
from i2cansay.core.statistics.linear_scores import LinearScores
from i2cansay.core.statistics.scatter import SharedScatter, oas_shrinkage
from i2cansay.core.types import Features, Float64, Rows, State
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.closed_form.fourier_lift import FourierLift
from i2cansay.learners.lazy import Cached
from i2cansay.learners.merging import check_mergeable, merge_into
from i2cansay.learners.parameters import check_choice, check_positive, check_whole
from i2cansay.learners.validation import make_generator


class Member(NamedTuple):
    """One draw: a lift, and the scatter of the samples in it."""

    waves: FourierLift
    scatter: SharedScatter


class Members:
    """The draws of an ensemble, as one part of a learner's state."""

    def __init__(self, members: list[Member]) -> None:
        self.members = members

    def resize(self, n_classes: int) -> None:
        """Grow to `n_classes` classes."""
        for member in self.members:
            member.scatter.resize(n_classes)

    def drop(self, row: int) -> None:
        """Remove the means of one class; what its samples added to the scatters stays."""
        for member in self.members:
            member.scatter.drop(row)

    def state(self) -> State:
        """Return seed and statistics of every draw, under `0.waves`, `0.scatter`, `1.waves`, ..."""
        state: State = {}
        for number, member in enumerate(self.members):
            for name, part in member._asdict().items():
                state |= add_prefix(f"{number}.{name}", part.state())
        return state

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned, which must be of `n_classes` classes and as many draws."""
        for number, member in enumerate(self.members):
            for name, part in member._asdict().items():
                part.restore(strip_prefix(state, f"{number}.{name}"), n_classes)


class KLDA(OnlineClassifier):
    """Streaming LDA on each of several random Fourier lifts; order and batches make no difference.

    A member is `RandomFourierLDA` with a draw of its own; with one member the two predict the same.

    Parameters
    ----------
    n_members : int
        Draws. Each has a state and a solution of its own.
    n_projections : int
        Width M of each lift. The state is n_members M^2/2 numbers of 8 bytes: 100 MB for 4 of 2,500, as much as
        one of 5,000.
    bandwidth : float
        s of the kernel ``exp(-|f - g|^2 / (2 s^2))`` that is approximated, in units of the features as they enter
        the lift. 4 is the value of `RandomFourierLDA`, chosen on held-out training samples of the last layer of an
        encoder; on held-out samples of its stages, by their square root, it is best of 1, 2, 4 and 8 as well.
    normalize : bool
        Whether every sample is scaled to length one first.
    shrinkage : float or "oas"
        Of the covariances: a number above 0 and at most 1, or oracle approximating shrinkage.
    average : {"scores", "probabilities"}
        What is averaged over the members: their scores, or the softmax of them.
    random_state : int, Generator, RandomState or None
        Seed of the lifts, which are drawn again from their seeds and never saved.

    Notes
    -----
    Departs from the publication: samples are scaled to length one, so that a bandwidth can be named beforehand
    (``normalize=False`` and ``bandwidth=(2 sigma)**-0.5`` are the authors' `sigma`), and the covariance is shrunk,
    where the authors take a pseudo-inverse. They average probabilities, but of distances in units of the undivided
    scatter, N times too small: their softmax is so flat that its mean ranks classes as the mean of the scores does,
    ``average="scores"``. On held-out samples the two are level.

    `forget` removes the mean of a class; what its samples told about the shared covariances stays in them.

    References
    ----------
    Momeni, Mazumder, Liu (2025), Continual learning using a kernel-based method over foundation models, AAAI.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KLDA(n_projections=300, random_state=0).partial_fit(X[:1500], y[:1500])
    >>> model.score(X[1500:], y[1500:]) > 0.88  # about 0.93
    True
    """

    summary = "random Fourier features and LDA, an ensemble of draws"
    small_parameters = MappingProxyType({"n_projections": 30, "n_members": 2})
    parts = ("_members",)
    caches = ("_rules",)
    order_free = True
    lazy = True
    size_advice = "fewer n_projections or n_members"
    structural = ("n_members", "n_projections", "bandwidth", "normalize")

    def __init__(
        self,
        *,
        n_members: int = 4,
        n_projections: int = 2500,
        bandwidth: float = 4.0,
        normalize: bool = True,
        shrinkage: float | Literal["oas"] = "oas",
        average: Literal["probabilities", "scores"] = "scores",
        random_state: Any = None,
    ) -> None:
        self.n_members = n_members
        self.n_projections = n_projections
        self.bandwidth = bandwidth
        self.normalize = normalize
        self.shrinkage = shrinkage
        self.average = average
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_positive(bandwidth=self.bandwidth)
        check_whole(n_members=self.n_members, n_projections=self.n_projections, at_least=1)
        check_choice("average", self.average, ("probabilities", "scores"))
        if self.shrinkage != "oas" and not (
            isinstance(self.shrinkage, int | float) and 0 < self.shrinkage <= 1
        ):
            raise ValueError(f"shrinkage must be 'oas', or above 0 and at most 1, got {self.shrinkage!r}")

    def _start(self, n_features: int) -> None:
        seeds = make_generator(self.random_state)
        self._members = Members([self._member(n_features, seeds) for _ in range(self.n_members)])
        self._rules: Cached[list[LinearScores]] = Cached()

    def _member(self, n_features: int, seeds: np.random.Generator) -> Member:
        waves = FourierLift(
            seeds,
            n_features=n_features,
            n_projections=self.n_projections,
            bandwidth=self.bandwidth,
            normalize=self.normalize,
        )
        return Member(waves, SharedScatter(self.n_projections))

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        width = self.n_projections
        waves = 8 * width * (n_features + 1)
        return self.n_members * (scatter_bytes(width, n_classes) + linear_bytes(width, n_classes) + waves)

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        for waves, scatter in self._members.members:
            for block, lifted in waves.lifted_blocks(X):
                scatter.add(lifted, rows[block], None if weights is None else weights[block])

    def _scores(self, X: Features) -> Features:
        rules = self._rules.get(self._solve)
        each = []
        for member, rule in zip(self._members.members, rules, strict=True):
            scores = np.empty((len(X), len(self._labels)))
            for block, lifted in member.waves.lifted_blocks(X):
                scores[block] = rule.of(lifted)
            if self.average == "probabilities":  # as logarithms, which neither underflow nor overflow
                scores -= np.logaddexp.reduce(scores, axis=1, keepdims=True)
            each.append(scores)
        together: Float64
        if self.average == "scores":
            together = np.mean(each, axis=0)
        else:
            together = np.logaddexp.reduce(each, axis=0) - np.log(len(each))
        return together

    def _solve(self) -> list[LinearScores]:
        return [
            discriminant(
                scatter,
                oas_shrinkage(scatter.matrix, scatter.means.total)
                if self.shrinkage == "oas"
                else self.shrinkage,
            )
            for _, scatter in self._members.members
        ]

    def merge(self, other: "KLDA") -> Self:
        """Add what another learner with the same lifts has learnt, exactly; `other` is not changed."""
        check_mergeable(self, other)
        if self._started and other._started:
            self._check_same_features(other)

        def take(rows: Rows) -> None:
            for mine, theirs in zip(self._members.members, other._members.members, strict=True):
                mine.scatter.merge(theirs.scatter, rows)

        merge_into(self, other, take)
        return self

    def _check_same_features(self, other: Self) -> None:
        mine, theirs = ([member.waves.seed for member in one._members.members] for one in (self, other))
        if mine != theirs:
            raise ValueError("the two learners have different lifts; give both the same random_state")
