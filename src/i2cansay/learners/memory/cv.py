"""Candidates voting: every group of classes names a candidate, and the distances to the class means decide."""

from typing import Any

import numpy as np

from i2cansay.core.buffers.balanced_reservoir import BalancedReservoir
from i2cansay.core.linalg.blas import add_outer, inner
from i2cansay.core.paper.head import LinearHead, row_weights
from i2cansay.core.paper.moments import ClassMoments
from i2cansay.core.part_bytes import head_bytes, moments_bytes, room, samples_bytes
from i2cansay.core.types import Features, Float32, Float64, Rows
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.memory.class_groups import ClassGroups
from i2cansay.learners.memory.group_softmax import (
    balanced_weights,
    group_error_signal,
    group_log_softmax,
    vote,
)
from i2cansay.learners.parameters import check_not_negative, check_positive, check_whole


class CandidatesVoting(OnlineClassifier):
    """Candidates voting on frozen features (He and Zhu 2022).

    Classes form groups. Inside a group a linear softmax classifier over the group's own classes learns from every
    batch and from as many exemplars, stored embeddings to which Gaussian noise is added. For an answer each group
    names a candidate, the class its classifier finds likeliest, and the candidates are weighed by a prior, which
    falls with the distance between the sample and the mean of the candidate's class
    (`i2cansay.learners.memory.group_softmax`).

    Parameters
    ----------
    memory_size : int
        Exemplars, balanced over the classes.
    group_size : int
        Classes per group.
    noise : float
        Standard deviation of the noise added to an exemplar, in units of the spread inside the classes.
    temperature : float
        How little the prior counts beside the classifiers; squared distances are in units of the mean squared
        distance of a sample to the mean of its class.
    lr, weight_decay : float
        Of the classifiers' SGD. The step acts on the squared norm of the features.
    batch_size : int
        Used by `fit` only; `partial_fit` takes a batch as it comes.
    random_state : int, Generator, RandomState or None
        Seed of memory, replay and noise.

    Notes
    -----
    No code was published. Decisions, and departures from the article:

    - The article's groups are its tasks. Here nobody says where a task ends: a class joins the newest group until
      that has had `group_size` classes, then opens another. Classes stay in their group.
    - The classifiers are softmax heads that share no class, with zero initial weights and a trained bias; a row
      trains the head of its own group only. Batch and exemplars count the same, mean against mean; what falls to
      a group is shared evenly by its classes, or the class of the day would have its head to itself.
    - The exemplars are a class-balanced reservoir, each class sampled uniformly, instead of those nearest to the
      class mean: the heads are trained on them.
    - The class means and the spread are those of all samples so far, accumulated as they pass.
    - One candidate per group. The prior is the softmax of the negative squared distances of the candidates, at
      `temperature`; the vote is the product of the prior and the candidate's probability in its group.
    - The other classes of a group get the group's prior as well, so that there is a score for each; none of them
      can beat the candidate.

    Sample weights count in the means and in the step.

    References
    ----------
    He, Zhu (2022), Online Continual Learning Via Candidates Voting, WACV.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> X = X / 16
    >>> by_class = np.argsort(y[:1500], kind="stable")  # the hardest order: one class after the other
    >>> model = CandidatesVoting(memory_size=200, random_state=0)
    >>> for start in range(0, 1500, 50):
    ...     batch = by_class[start : start + 50]
    ...     model = model.partial_fit(X[batch], y[batch])
    >>> model.score(X[1500:], y[1500:]) > 0.65  # without a memory it would know the last class alone: 0.1
    True
    """

    summary = "groups of classes name candidates, and the class means decide"
    parts = ("_groups", "_moments", "_head", "_memory")
    stores_samples = True
    size_advice = "a smaller memory_size"

    def __init__(
        self,
        *,
        memory_size: int = 2000,
        group_size: int = 5,
        noise: float = 0.3,
        temperature: float = 0.015,
        lr: float = 0.05,
        weight_decay: float = 5e-5,
        batch_size: int = 50,
        random_state: Any = None,
    ) -> None:
        self.memory_size = memory_size
        self.group_size = group_size
        self.noise = noise
        self.temperature = temperature
        self.lr = lr
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.random_state = random_state

    def _start(self, n_features: int) -> None:
        self._moments = ClassMoments(n_features)
        self._head = LinearHead(n_features, bias=True)
        self._memory = BalancedReservoir(self.memory_size, n_features)
        self._groups = ClassGroups(self.group_size)

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        known = moments_bytes(n_features, n_classes) + head_bytes(n_features, n_classes)
        return known + samples_bytes(n_features, self.memory_size) + 24 * room(n_classes)

    # -- learning -------------------------------------------------------------------------------------------

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        self._moments.add(X, rows, weights)
        exemplars, exemplar_rows = self._exemplars(len(X))
        parts = [len(X), len(exemplars)] if len(exemplars) else [len(X)]
        every_row = row_weights(parts, [1.0] * len(parts))
        if weights is not None:
            every_row[: len(X)] = weights / weights.sum()
        targets = np.concatenate([rows, exemplar_rows])
        balanced = balanced_weights(targets, self._groups.of_class, every_row).astype(np.float32)
        self._step(np.concatenate([X, exemplars], dtype=np.float32), targets, balanced)
        self._memory.add(X, rows, self._rng)

    def _exemplars(self, n: int) -> tuple[Float32, Rows]:
        """Return up to `n` stored rows, with noise, and their classes."""
        stored, rows = self._memory.draw(n, self._rng)
        spread = self.noise * float(np.sqrt(self._spread()))
        return stored + spread * self._rng.standard_normal(stored.shape, dtype=np.float32), rows

    def _spread(self) -> float:
        """Return the mean variance of a dimension inside the classes."""
        return float(self._moments.m2.mean(axis=1).sum() / self._moments.count.sum())

    def _step(self, X: Float32, targets: Rows, weights: Float32) -> None:
        """Take one step down the gradient of the cross-entropies inside the groups."""
        error = group_error_signal(self._head.logits(X), targets, self._groups.of_class, weights)
        keep = 1.0 - self.lr * self.weight_decay
        add_outer(self._head.weights, error, X, scale=-self.lr, keep=keep)
        bias = self._head.bias
        assert bias is not None
        bias *= keep
        bias -= self.lr * error.sum(axis=0)

    # -- deciding -------------------------------------------------------------------------------------------

    def _scores(self, X: Features) -> Features:
        groups = self._groups.of_class
        shares = group_log_softmax(self._head.logits(X), groups)
        return vote(shares, self._distances(X), groups, self.temperature)

    def _distances(self, X: Features) -> Float64:
        """Return squared distances to the class means, (n, c), in units of the spread inside the classes."""
        # From the middle of the means, because far from the origin the squares would cancel.
        centre = self._moments.mean.mean(axis=0)
        offset, means = X - centre, self._moments.mean - centre
        squares = np.einsum("nd,nd->n", offset, offset)[:, None] + np.einsum("cd,cd->c", means, means)
        squares -= 2.0 * inner(offset, means)
        # While no class has any spread the distances between the classes are the only scale there is.
        scale = self._spread() or float((means**2).mean()) or 1.0
        distances: Float64 = np.maximum(squares, 0.0) / (scale * X.shape[1])
        return distances

    @property
    def groups_(self) -> Rows:
        """The group of each class, (n_classes,), in the order of `classes_`."""
        return self._groups.of_class[self._labels.order]

    def _check_parameters(self) -> None:
        check_positive(lr=self.lr, temperature=self.temperature)
        check_not_negative(weight_decay=self.weight_decay, noise=self.noise)
        check_whole(
            memory_size=self.memory_size, group_size=self.group_size, batch_size=self.batch_size, at_least=1
        )
