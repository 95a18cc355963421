"""Maximally interfered retrieval: replay of the stored samples that the coming step would hurt most."""

from typing import Any

import numpy as np

from i2cansay.core.buffers.reservoir import Reservoir
from i2cansay.core.linalg.blas import inner
from i2cansay.core.paper.head import error_signal, row_weights
from i2cansay.core.types import Features, Float32, Float64, Rows
from i2cansay.learners.parameters import check_whole
from i2cansay.learners.replay.replay_learner import ReplayLearner


class MaximallyInterferedRetrieval(ReplayLearner[Reservoir]):
    """Experience replay that chooses what it replays by a look ahead.

    With every batch some candidates are drawn from a reservoir. A virtual step on the batch alone is taken; those
    candidates whose cross-entropy it would raise most are replayed: the real step goes down the mean
    cross-entropy of the batch plus that of the chosen rows. Then the batch is shown to the reservoir.

    Stores samples: up to `memory_size` rows of d float32 features and a class of 8 bytes each.

    Parameters
    ----------
    memory_size : int
        Rows in the reservoir.
    n_replayed : int
        Rows replayed with every batch.
    n_candidates : int
        Rows drawn from the reservoir, of which those are chosen.
    lr, weight_decay : float
        Of the SGD. The step acts on the squared norm of the features; 0.2 was found on those of
        EfficientNet-Lite0.
    batch_size : int
        Used by `fit` only; `partial_fit` takes a batch as it comes.
    random_state : int, Generator, RandomState or None
        Seed of what is kept and of the candidates.

    Notes
    -----
    Published are batches of 10, 10 rows replayed and 50 candidates; the defaults are the same for batches of 50.
    The criterion is the plain rise of the loss (MI-1 of the reference).

    Departs from the reference: the network under the head is frozen, so that what is kept is features, not images,
    and the virtual step has a closed form: for candidates Z, batch X and its error signal E the logits move by
    ``-lr (Z X^T + 1) E``, without a copy of the head. Sample weights count in both steps, not in the chance of
    being kept.

    References
    ----------
    R. Aljundi et al., Online continual learning with maximally interfered retrieval, NeurIPS 2019.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> X = X / 16
    >>> by_class = np.argsort(y[:1500], kind="stable")  # the hardest order: one class after the other
    >>> model = MaximallyInterferedRetrieval(memory_size=200, lr=1.0, random_state=0)
    >>> for start in range(0, 1500, 10):
    ...     batch = by_class[start : start + 10]
    ...     model = model.partial_fit(X[batch], y[batch])
    >>> model.score(X[1500:], y[1500:]) > 0.7  # without a memory it would know the last class alone: 0.1
    True
    """

    summary = "replay of the samples that the coming step would hurt most"

    def __init__(
        self,
        *,
        memory_size: int = 1000,
        n_replayed: int = 50,
        n_candidates: int = 250,
        lr: float = 0.2,
        weight_decay: float = 5e-5,
        batch_size: int = 50,
        random_state: Any = None,
    ) -> None:
        self.memory_size = memory_size
        self.n_replayed = n_replayed
        self.n_candidates = n_candidates
        self.lr = lr
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_whole(n_replayed=self.n_replayed, n_candidates=self.n_candidates, at_least=1)
        if self.n_candidates < self.n_replayed:
            raise ValueError(
                f"n_candidates must be at least n_replayed, {self.n_replayed}, got {self.n_candidates}"
            )

    def _make_buffer(self, n_features: int) -> Reservoir:
        return Reservoir(self.memory_size, n_features)

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        x = X.astype(np.float32)
        batch = row_weights([len(x)], [1.0])
        if weights is not None:
            batch[:] = weights / weights.sum()
        replayed, replayed_rows = self._retrieve(x, rows, batch)
        self._rehearse(x, rows, weights, replayed, replayed_rows)
        self._buffer.add(x, rows, self._rng)

    def _retrieve(self, X: Float32, rows: Rows, weights: Float32) -> tuple[Float32, Rows]:
        """Return the candidates, (k, d) and (k,), whose loss a step on the batch would raise most."""
        candidates, candidate_rows = self._buffer.draw(self.n_candidates, self._rng)
        if len(candidates) <= self.n_replayed:
            return candidates, candidate_rows
        error = error_signal(self._head.logits(X), rows, weights)
        rise = interference(self._head.logits(candidates), candidate_rows, candidates, X, error, lr=self.lr)
        # Stable: of equals the one drawn first, on every machine.
        chosen = np.argsort(-rise, kind="stable")[: self.n_replayed]
        return candidates[chosen], candidate_rows[chosen]


def interference(
    logits: Float32, targets: Rows, candidates: Float32, X: Float32, error: Features, *, lr: float
) -> Float32:
    """Return by how much a step on a batch would raise the cross-entropy of each candidate, (m,).

    Parameters
    ----------
    logits : (m, c) of the candidates before the step
    targets : (m,) rows of their classes
    candidates : (m, d) features
    X : (n, d) features of the batch
    error : (n, c) gradient of the batch's loss by its logits

    Examples
    --------
    >>> one = np.ones((1, 1), dtype=np.float32)
    >>> error = np.array([[-0.5, 0.5]], dtype=np.float32)  # the batch is of class 0, and so is candidate 0
    >>> logits, candidates = np.zeros((2, 2), dtype=np.float32), np.ones((2, 1), dtype=np.float32)
    >>> interference(logits, np.array([0, 1]), candidates, one, error, lr=1.0).round(2)
    array([-0.57,  1.43], dtype=float32)
    """
    likeness = inner(candidates, X)
    likeness += 1  # the bias moves as the weight of a feature that is always one
    ahead = logits - np.float32(lr) * inner(likeness, np.ascontiguousarray(error.T))
    rise: Float32 = _losses(ahead, targets) - _losses(logits, targets)
    return rise


def _losses(logits: Float32, targets: Rows) -> Float32:
    """Return the cross-entropy of each row, (n,)."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    losses: Float32 = np.log(np.exp(shifted).sum(axis=1)) - shifted[np.arange(len(targets)), targets]
    return losses
