"""A linear softmax layer trained on the stream as it comes, with nothing done against forgetting."""

from typing import Any

import numpy as np

from i2cansay.core.paper.head import LinearHead, row_weights
from i2cansay.core.part_bytes import head_bytes
from i2cansay.core.types import Features, Float64, Rows
from i2cansay.learners.base import WEIGHTS_ARE_NOT_COPIES, OnlineClassifier
from i2cansay.learners.parameters import check_not_negative, check_positive, check_whole


class Naive(OnlineClassifier):
    """Plain SGD on the stream: the lower bound for every method against forgetting.

    Parameters
    ----------
    lr, weight_decay, momentum : float
        Of the SGD. The step acts on the squared norm of the features.
    batch_size : int
        Used by `fit` only; `partial_fit` takes a batch as it comes.
    random_state : int, Generator, RandomState or None
        Seed of the order in which `fit` takes the samples.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> mixed = Naive(lr=1e-4, random_state=0).fit(X[:1500], y[:1500])
    >>> by_class = np.argsort(y[:1500], kind="stable")  # one class after the other: only the last ones stay
    >>> model = Naive(lr=1e-4)
    >>> for start in range(0, 1500, 50):
    ...     batch = by_class[start : start + 50]
    ...     model = model.partial_fit(X[batch], y[batch])
    >>> mixed.score(X[1500:], y[1500:]) > 0.7, model.score(X[1500:], y[1500:]) < 0.2  # about 0.79 and 0.11
    (True, True)
    """

    summary = "softmax layer, SGD on the stream"
    expected_failed_checks = WEIGHTS_ARE_NOT_COPIES
    parts = ("_head",)

    def __init__(
        self,
        *,
        lr: float = 0.02,
        weight_decay: float = 5e-5,
        momentum: float = 0.0,
        batch_size: int = 50,
        random_state: Any = None,
    ) -> None:
        self.lr = lr
        self.weight_decay = weight_decay
        self.momentum = momentum
        self.batch_size = batch_size
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_positive(lr=self.lr)
        check_whole(batch_size=self.batch_size, at_least=1)
        check_not_negative(weight_decay=self.weight_decay, momentum=self.momentum)

    def _start(self, n_features: int) -> None:
        self._head = LinearHead(n_features, bias=True, momentum=self.momentum)

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        return head_bytes(n_features, n_classes, momentum=self.momentum)

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        every_row = row_weights([len(X)], [1.0]) if weights is None else weights / weights.sum()
        x = X.astype(np.float32)
        self._head.step(x, rows, every_row, lr=self.lr, weight_decay=self.weight_decay)

    def _scores(self, X: Features) -> Features:
        return self._head.logits(X)
