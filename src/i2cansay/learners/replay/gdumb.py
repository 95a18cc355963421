"""GDumb: keep a balanced set of samples and, when asked, train on nothing else."""

from typing import Any

import numpy as np

from i2cansay.core.part_bytes import linear_bytes, samples_bytes
from i2cansay.core.types import Features, Float64, Rows
from i2cansay.learners.base import OF_EVERY_LEARNER, WEIGHTS_ARE_NOT_COPIES, OnlineClassifier
from i2cansay.learners.bounds.joint import JointLogisticRegression
from i2cansay.learners.lazy import Cached
from i2cansay.learners.parameters import check_positive, check_whole
from i2cansay.learners.replay.greedy_buffer import GreedyBuffer


class GDumb(OnlineClassifier):
    """A greedy sampler and a dumb learner: nothing is learnt from the stream but which samples to keep.

    The sampler keeps an equal number of rows of every class. When a score is asked for and the buffer has changed
    since, multinomial logistic regression is fitted to the buffer from scratch, to the tolerance of its solver.

    Stores samples: up to `memory_size` rows of d float32 features and a class of 8 bytes each.

    Parameters
    ----------
    memory_size : int
        Rows in the buffer.
    C : float
        Inverse regularisation of the regression, of features scaled to variance one.
    random_state : int, Generator, RandomState or None
        Seed of which rows of a class leave the buffer.

    Notes
    -----
    Departs from the reference: the network is frozen, so that what is kept is features, not images, and what is
    trained is a linear layer. Its loss has one minimum, which is found by L-BFGS, where the reference trains a
    whole network by SGD with a cosine schedule and CutMix. Sample weights have no part in what is kept, nor in
    the fit.

    References
    ----------
    A. Prabhu, P. H. S. Torr and P. K. Dokania, GDumb: a simple approach that questions our progress in continual
    learning, ECCV 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> by_class = np.argsort(y[:1500], kind="stable")  # the hardest order: one class after the other
    >>> model = GDumb(memory_size=200, C=0.1, random_state=0)
    >>> for start in range(0, 1500, 50):
    ...     batch = by_class[start : start + 50]
    ...     model = model.partial_fit(X[batch], y[batch])
    >>> model.score(X[1500:], y[1500:]) > 0.7  # without a memory it would know the last class alone: 0.1
    True
    """

    summary = "a balanced buffer, and a regression fitted to it when asked"
    expected_failed_checks = WEIGHTS_ARE_NOT_COPIES
    parts = ("_buffer",)
    caches = ("_solution",)
    stores_samples = True
    lazy = True
    size_advice = "a smaller memory_size"

    def __init__(self, *, memory_size: int = 1000, C: float = 0.003, random_state: Any = None) -> None:
        self.memory_size = memory_size
        self.C = C
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_positive(C=self.C)
        check_whole(memory_size=self.memory_size, at_least=1)

    def _start(self, n_features: int) -> None:
        self._buffer = GreedyBuffer(self.memory_size, n_features)
        self._solution: Cached[JointLogisticRegression] = Cached()

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        # The samples twice: the model that is fitted to them keeps a copy, with labels and weights.
        solution = samples_bytes(n_features, self.memory_size) + 16 * self.memory_size
        solution += linear_bytes(n_features, min(n_classes, self.memory_size))
        return samples_bytes(n_features, self.memory_size) + solution + OF_EVERY_LEARNER

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        self._buffer.add(X, rows, self._rng)

    def _scores(self, X: Features) -> Features:
        solution = self._solution.get(self._solve)
        known = solution.class_scores(X)
        # With fewer places than classes some have no row: they come last.
        scores = np.repeat(known.min(axis=1, keepdims=True) - 1, len(self._labels), axis=1)
        scores[:, solution.classes_] = known
        return scores

    def _solve(self) -> JointLogisticRegression:
        memory = self._buffer.memory
        return JointLogisticRegression(C=self.C).partial_fit(memory.rows, memory.classes)
