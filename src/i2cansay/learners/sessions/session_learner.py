"""What the offline methods share: layers that are trained for several passes over a session, then left alone."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np

from i2cansay.core.class_rows import ClassRows
from i2cansay.core.part_bytes import room
from i2cansay.core.types import Features, Float32, Float64, Rows
from i2cansay.learners.base import WEIGHTS_ARE_NOT_COPIES, OnlineClassifier
from i2cansay.learners.parameters import (
    check_below_one,
    check_choice,
    check_not_negative,
    check_positive,
    check_whole,
)
from i2cansay.learners.sessions.losses import Columns
from i2cansay.learners.sessions.network import Network, network_bytes, shuffled_batches
from i2cansay.learners.sessions.spanned_layer import spanning_pays
from i2cansay.learners.sessions.training import ErrorOf, PlainTraining, SpannedTraining
from i2cansay.learners.validation import make_generator

Head = Literal["linear", "mlp"]
"""What is trained: one linear layer, or a hidden layer below it, which stands for a network that is trained."""


class SessionLearner(OnlineClassifier):
    """Base of the methods that train layers on whole sessions.

    Each has at least the parameters named here. A session is one call of `partial_fit`: `_learn` trains on it, and
    what a method does where a session ends, it does there too.
    """

    needs_boundaries: ClassVar[bool] = True
    expected_failed_checks = WEIGHTS_ARE_NOT_COPIES
    parts: ClassVar[tuple[str, ...]] = ("_network", "_session_of")
    structural: ClassVar[tuple[str, ...]] = ("head", "hidden")

    head: Head
    hidden: int
    lr: float
    momentum: float
    weight_decay: float
    epochs: int
    batch_size: int
    random_state: Any

    @abstractmethod
    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        """Learn a session, (n, d), of classes `rows`, (n,)."""

    def _check_parameters(self) -> None:
        check_choice("head", self.head, ("linear", "mlp"))
        check_positive(lr=self.lr)
        check_not_negative(weight_decay=self.weight_decay)
        check_below_one(momentum=self.momentum)
        check_whole(hidden=self.hidden, epochs=self.epochs, batch_size=self.batch_size, at_least=1)

    def _n_hidden(self) -> int:
        return self.hidden if self.head == "mlp" else 0

    def _start(self, n_features: int) -> None:
        self._network = Network(n_features, self._n_hidden())
        # The hidden weights from a seed of their own, so that the order of the samples is that of a linear layer.
        self._network.draw(np.random.default_rng(make_generator(self.random_state).integers(2**63)))
        self._session_of = ClassRows(width=None, dtype=np.int64)

    def _state_bytes(self, n_features: int, n_classes: int) -> int | None:
        return network_bytes(n_features, self._n_hidden(), n_classes) + 8 * room(n_classes)

    def _batches(self, n: int) -> list[Rows]:
        return [self._rng.permutation(n)]  # `fit` is one session, whatever the batches of its training

    def _is_old(self) -> Columns:
        """Return which classes, (c,), had come before the session that is being learnt."""
        old: Columns = self._session_of.rows > 0
        return old

    def _end_session(self) -> None:
        """Number the classes that were new in this session."""
        sessions = self._session_of.rows
        sessions[sessions == 0] = sessions.max(initial=0) + 1

    def _columns(self, rows: Rows, over: str) -> Columns:
        """Return which classes, (c,), compete in the loss: all seen so far, or those of the session."""
        columns = np.full(len(self._labels), over == "seen")
        columns[rows] = True
        return columns

    def _train(
        self,
        X: Float32,
        error_of: ErrorOf,
        *,
        epochs: int,
        rate: Callable[[float], float] = lambda _: 1.0,
        after_step: Callable[[float], None] | None = None,
        spanned: bool = True,
    ) -> None:
        """Train the network on rows (n, d) for `epochs` passes, each in a new order.

        Parameters
        ----------
        error_of : function
            The loss, by its gradient.
        rate : function
            From the share of the passes that are done to the share of `lr` that is used.
        after_step : function, optional
            Called with the rate after each step.
        spanned : bool
            Whether the first layer may be trained by way of the products of rows, where that takes less time. What
            reads or changes its weights in between cannot.
        """
        pays = spanned and after_step is None and spanning_pays(X, self._network.first_outputs, epochs)
        kind = SpannedTraining if pays else PlainTraining
        training = kind(self._network, X, momentum=self.momentum, weight_decay=self.weight_decay)
        for epoch in range(epochs):
            lr = self.lr * rate(epoch / epochs)
            for batch in shuffled_batches(len(X), self.batch_size, self._rng):
                training.step(batch, error_of, lr)
                if after_step is not None:
                    after_step(lr)
        training.end()

    def _logits(self, X: Float32) -> Features:
        return self._network.logits(self._network.units(X))

    def _scores(self, X: Features) -> Features:
        return self._logits(X.astype(np.float32))


def share_of_batch(weights: Float64 | None, batch: Rows) -> Float32:
    """Return the weight of each row of a batch in the mean over it, (n,).

    Examples
    --------
    >>> share_of_batch(np.array([1.0, 3.0, 9.0]), np.array([0, 1]))
    array([0.25, 0.75], dtype=float32)
    """
    if weights is None:
        return np.full(len(batch), 1 / len(batch), dtype=np.float32)
    shares: Float32 = (weights[batch] / weights[batch].sum()).astype(np.float32)
    return shares
