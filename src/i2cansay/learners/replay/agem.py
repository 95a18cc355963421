"""Averaged gradient episodic memory: a step on the batch that does not conflict with stored samples."""

from typing import Any

import numpy as np

from i2cansay.core.buffers.reservoir import Reservoir
from i2cansay.core.linalg.blas import add_outer
from i2cansay.core.paper.head import error_signal, row_weights
from i2cansay.core.types import Features, Float32, Float64, Rows
from i2cansay.learners.parameters import check_whole
from i2cansay.learners.replay.replay_learner import ReplayLearner


class AveragedGEM(ReplayLearner[Reservoir]):
    """SGD on the stream with a constraint: the loss of stored samples must not rise, to first order.

    With every batch some rows are drawn from a reservoir. Where the gradient g of the batch's loss and the
    gradient r of the drawn rows' loss point against each other, g loses its part along r:
    ``g - (g.r / r.r) r``; otherwise g stays as it is, and the drawn rows are not learnt from. Then the batch is
    shown to the reservoir.

    Stores samples: up to `memory_size` rows of d float32 features and a class of 8 bytes each.

    Parameters
    ----------
    memory_size : int
        Rows in the reservoir.
    n_reference : int
        Rows drawn for the reference gradient.
    lr, weight_decay : float
        Of the SGD. The step acts on the squared norm of the features; 0.03 was found on those of
        EfficientNet-Lite0. The decay is no part of the gradients.
    batch_size : int
        Used by `fit` only; `partial_fit` takes a batch as it comes.
    random_state : int, Generator, RandomState or None
        Seed of what is kept and what is drawn.

    Notes
    -----
    The projected gradient is that of the batch's loss plus ``-g.r / r.r`` times the drawn rows' loss, so the step
    is replay with a weight computed for every batch, zero if there is no conflict.

    Departs from the reference: the network under the head is frozen, so that what is kept is features, not images;
    the memory is a reservoir, since a task-free learner cannot fill one task by task. The method was made for
    tasks that are told apart at test time. Where all classes compete, a step that merely does no harm to the
    past is little: expect it well below plain replay.

    References
    ----------
    A. Chaudhry et al., Efficient lifelong learning with A-GEM, ICLR 2019.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> X = X / 16
    >>> by_class = np.argsort(y[:1500], kind="stable")  # the hardest order: one class after the other
    >>> model = AveragedGEM(memory_size=200, lr=0.1, random_state=0)
    >>> for start in range(0, 1500, 10):
    ...     batch = by_class[start : start + 10]
    ...     model = model.partial_fit(X[batch], y[batch])
    >>> model.score(X[1500:], y[1500:]) > 0.25  # without a memory it would know the last class alone: 0.1
    True
    """

    summary = "steps that do not go against a sample of the past"

    def __init__(
        self,
        *,
        memory_size: int = 1000,
        n_reference: int = 256,
        lr: float = 0.03,
        weight_decay: float = 5e-5,
        batch_size: int = 50,
        random_state: Any = None,
    ) -> None:
        self.memory_size = memory_size
        self.n_reference = n_reference
        self.lr = lr
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_whole(n_reference=self.n_reference, at_least=1)

    def _make_buffer(self, n_features: int) -> Reservoir:
        return Reservoir(self.memory_size, n_features)

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        x, targets = X.astype(np.float32), rows
        every_row = row_weights([len(x)], [1.0])
        if weights is not None:
            every_row[:] = weights / weights.sum()
        reference, reference_rows = self._buffer.draw(self.n_reference, self._rng)
        if len(reference):
            equal = row_weights([len(reference)], [1.0])
            weight = reference_weight(
                x,
                error_signal(self._head.logits(x), rows, every_row),
                reference,
                error_signal(self._head.logits(reference), reference_rows, equal),
            )
            if weight > 0:
                x, targets = np.concatenate([x, reference]), np.concatenate([rows, reference_rows])
                every_row = np.concatenate([every_row, np.float32(weight) * equal])
        self._head.step(x, targets, every_row, lr=self.lr, weight_decay=self.weight_decay)
        self._buffer.add(X, rows, self._rng)


def reference_weight(X: Float32, error: Features, reference: Float32, reference_error: Features) -> float:
    """Return how much of the reference gradient r must be added to g so that they no longer conflict.

    That is ``max(0, -g.r / r.r)``, g and r being the gradients of a linear layer with bias by its weights.

    Parameters
    ----------
    X, error : (n, d) features of the batch and (n, c) gradient of its loss by its logits
    reference, reference_error : (m, d) and (m, c), the same of the rows drawn from memory

    Examples
    --------
    >>> x, error = np.ones((1, 1), dtype=np.float32), np.array([[0.5, -0.5]], dtype=np.float32)
    >>> reference_weight(x, error, x, -error / 2), reference_weight(x, error, x, error)
    (2.0, 0.0)
    """
    gradient, past = _gradient(X, error), _gradient(reference, reference_error)
    # float64: the sum of many small products decides on a sign.
    conflict = float(np.multiply(gradient, past).sum(dtype=np.float64))
    square = float(np.multiply(past, past).sum(dtype=np.float64))
    return -conflict / square if conflict < 0 < square else 0.0


def _gradient(X: Float32, error: Features) -> Float32:
    """Return the gradient by weights and bias, (c, d + 1): ``error.T @ [X, 1]``."""
    weights = np.zeros((error.shape[1], X.shape[1]), dtype=np.float32)
    add_outer(weights, error, X, scale=1.0)
    return np.concatenate([weights, error.sum(axis=0, dtype=np.float32)[:, None]], axis=1)
