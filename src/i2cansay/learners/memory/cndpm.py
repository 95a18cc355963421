"""Continual Dirichlet process mixture: experts that are opened when no expert explains the samples."""

from typing import Any

import numpy as np

from i2cansay.core.buffers.sample_memory import SampleMemory
from i2cansay.core.statistics.total_moments import TotalMoments
from i2cansay.core.types import Features, Float64, Rows
from i2cansay.learners.base import WEIGHTS_ARE_NOT_COPIES, OnlineClassifier
from i2cansay.learners.lazy import Cached
from i2cansay.learners.memory.gaussian_expert import GaussianExpert, GaussianExperts
from i2cansay.learners.parameters import check_not_negative, check_positive, check_whole

# No variance is taken to be below this share of the features' own: few samples underestimate it.
LEAST_SHARE = 1e-3
# Experts are also trained when scores are needed, which must neither overflow nor take forever.
LARGEST_RATE = 1e3
MOST_EPOCHS = 1000


class CNDPM(OnlineClassifier):
    """Dirichlet process mixture of experts on frozen features (Lee et al. 2020).

    Expert k has a density p(x|k) and a classifier p(y|x,k), see `gaussian_expert`, and n_k samples.
    A sample goes to the expert with the largest ``n_k p(x|k) p(y|x,k)``, which learns it, or, where
    ``alpha p_0(x)`` is larger, into the short-term memory. When that is full a new expert is trained on it (the
    sleep phase) and it is emptied. The answer is the mixture, ``sum over k of n_k p(x|k) p(y|x,k)``.

    Parameters
    ----------
    memory_size : int
        Rows of the short-term memory, and so the samples an expert begins with.
    log_alpha : float
        Logarithm of the concentration: the lower, the fewer experts.
    chill : float
        Temperature of p(y|x,k) where a sample is assigned: small, so that the label counts beside the density of
        many dimensions.
    rank : int
        Directions of an expert's covariance.
    lr, weight_decay, epochs
        Of the experts' classifiers: SGD over the short-term memory in the sleep phase, and on every batch of
        samples assigned later at `later` times the rate.
    later : float
        See `lr`.
    batch_size : int
        Used by `fit` only; `partial_fit` takes a batch as it comes.
    random_state : int, Generator, RandomState or None
        Seed of the sleep phase's order.

    Notes
    -----
    Departs from the article, whose experts are an image VAE and a network each, sharing layers:

    - The density is a Gaussian per class of the expert, with one low-rank covariance of its own: what the VAE's
      latent space is for features that a network has made already. It is fixed when the expert is made (the authors
      lower its rate); the means go on learning.
    - A class an expert has never seen has probability zero under it, so a new class always goes to the memory.
    - p_0 is the Gaussian of all samples so far, by dimension; the authors' is a constant.
    - Samples go to one expert instead of being shared out: densities of many dimensions leave nothing to share.
    - The samples in the memory take part in a prediction too, as the expert that they would make now. The authors'
      streams end with next to nothing in the memory; here it can be the last classes of the stream.

    References
    ----------
    Lee, Ha, Zhang, Kim (2020), A Neural Dirichlet Process Mixture Model for Task-Free Continual Learning, ICLR.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> by_class = np.argsort(y[:1500], kind="stable")  # the hardest order: one class after the other
    >>> model = CNDPM(memory_size=300, lr=1e-3, random_state=0)
    >>> for start in range(0, 1500, 50):
    ...     batch = by_class[start : start + 50]
    ...     model = model.partial_fit(X[batch], y[batch])
    >>> model.score(X[1500:], y[1500:]) > 0.8, model.n_experts_ > 1  # about 0.89 with 5 experts
    (True, True)
    """

    summary = "a growing mixture of experts"
    expected_failed_checks = WEIGHTS_ARE_NOT_COPIES
    parts = ("_everything", "_memory", "_experts")
    caches = ("_provisional",)
    stores_samples = True
    lazy = True

    def __init__(
        self,
        *,
        memory_size: int = 1000,
        log_alpha: float = 300.0,
        chill: float = 0.01,
        rank: int = 64,
        lr: float = 0.02,
        weight_decay: float = 5e-5,
        epochs: int = 10,
        later: float = 0.1,
        batch_size: int = 50,
        random_state: Any = None,
    ) -> None:
        self.memory_size = memory_size
        self.log_alpha = log_alpha
        self.chill = chill
        self.rank = rank
        self.lr = lr
        self.weight_decay = weight_decay
        self.epochs = epochs
        self.later = later
        self.batch_size = batch_size
        self.random_state = random_state

    def _start(self, n_features: int) -> None:
        self._everything = TotalMoments(n_features)
        self._memory = SampleMemory(self.memory_size, n_features)
        self._experts = GaussianExperts(n_features)
        self._provisional: Cached[GaussianExpert] = Cached()

    def _state_bytes(self, n_features: int, n_classes: int) -> None:
        return None  # an expert is added whenever the memory is full of what no other explains

    # -- learning -------------------------------------------------------------------------------------------

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        self._everything.add(X, weights)
        expert_of_row = self._assign(X, rows)
        for place in np.unique(expert_of_row[expert_of_row >= 0]).tolist():
            own = np.flatnonzero(expert_of_row == place)
            self._experts.all[place].learn(
                X[own],
                rows[own],
                None if weights is None else weights[own],
                lr=self.later * self.lr,
                weight_decay=self.weight_decay,
            )
        unexplained = np.flatnonzero(expert_of_row < 0)
        while len(unexplained):
            now, unexplained = np.split(unexplained, [self._memory.n_free])
            self._memory.append(X[now], rows[now])
            if not self._memory.n_free:
                self._sleep()

    def _assign(self, X: Features, rows: Rows) -> Rows:
        """Return the expert of each row, (n,); -1 where a new one would explain it better."""
        joint = np.full((len(X), 1 + len(self._experts.all)), -np.inf)
        joint[:, 0] = self.log_alpha + self._log_base(X)
        for place, expert in enumerate(self._experts.all):
            known = np.flatnonzero(np.isin(rows, expert.classes))
            if len(known):
                x, own = X[known], np.searchsorted(expert.classes, rows[known])
                label = expert.log_probability(x, self.chill)[np.arange(len(x)), own]
                joint[known, 1 + place] = np.log(expert.count) + expert.log_density(x) + label
        expert_of_row: Rows = joint.argmax(axis=1) - 1
        return expert_of_row

    def _log_base(self, X: Features) -> Float64:
        """Return log p_0 of rows (n, d), (n,)."""
        variance = np.maximum(self._everything.variance(), self._least_variance())
        squares = (X - self._everything.mean) ** 2 / variance
        density: Float64 = -0.5 * (squares + np.log(2.0 * np.pi * variance)).sum(axis=1)
        return density

    def _least_variance(self) -> float:
        mean_variance = float(self._everything.m2.mean()) / self._everything.count
        # Without any spread yet there is no scale to go by.
        return LEAST_SHARE * mean_variance if mean_variance > 1e-200 else 1.0

    def _sleep(self) -> None:
        """Train an expert on the short-term memory, and empty it."""
        self._experts.all.append(self._make_expert(self._rng))
        self._memory.keep(np.empty(0, dtype=np.int64))

    def _make_expert(self, rng: np.random.Generator) -> GaussianExpert:
        return GaussianExpert(
            self._memory.rows,
            self._memory.classes,
            rank=self.rank,
            least=self._least_variance(),
            lr=self.lr,
            weight_decay=self.weight_decay,
            epochs=self.epochs,
            rng=rng,
        )

    # -- deciding -------------------------------------------------------------------------------------------

    def _scores(self, X: Features) -> Features:
        experts = list(self._experts.all)
        if len(self._memory):
            # Scoring must not advance the learner's generator.
            experts.append(self._provisional.get(lambda: self._make_expert(np.random.default_rng(0))))
        joint = np.full((len(X), len(self._labels)), -np.inf)
        for expert in experts:
            evidence = np.log(expert.count) + expert.log_density(X)
            known = expert.classes
            joint[:, known] = np.logaddexp(joint[:, known], expert.log_probability(X) + evidence[:, None])
        # Relative to the best: what the densities share says nothing about the class.
        scores: Float64 = joint - joint.max(axis=1, keepdims=True)
        return scores

    @property
    def n_experts_(self) -> int:
        """How many experts have been opened."""
        return len(self._experts.all)

    def _check_parameters(self) -> None:
        check_positive(chill=self.chill, lr=self.lr)
        if self.lr > LARGEST_RATE:
            raise ValueError(f"lr must be at most {LARGEST_RATE:g}, got {self.lr!r}")
        check_not_negative(weight_decay=self.weight_decay, later=self.later)
        check_whole(memory_size=self.memory_size, batch_size=self.batch_size, at_least=1)
        check_whole(epochs=self.epochs, at_least=1, at_most=MOST_EPOCHS)
        check_whole(rank=self.rank)
        if not np.isfinite(self.log_alpha):
            raise ValueError(f"log_alpha must be a finite number, got {self.log_alpha!r}")
