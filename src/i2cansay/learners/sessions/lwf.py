"""Learning without forgetting: on the new samples, the old classes keep the outputs that they had."""

from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from i2cansay.core.types import Features, Float64, Rows
from i2cansay.learners.parameters import check_choice, check_not_negative, check_positive
from i2cansay.learners.sessions.losses import cross_entropy_error, distillation_error
from i2cansay.learners.sessions.session_learner import Head, SessionLearner, share_of_batch


class LwF(SessionLearner):
    """Cross-entropy of the new labels, plus distillation of the old model's answers to the new samples.

    The teacher is the model as it was before the session; its logits of the old classes, and the student's, go
    through a softmax over the old classes alone, at a temperature. Takes each batch for a session and stores no
    samples.

    Parameters
    ----------
    strength : float
        Weight of the distillation. With 0 it is plain training, session after session.
    temperature : float
        Of both softmaxes; the loss is not multiplied by its square.
    over : {"session", "seen"}
        Classes that compete in the softmax of the cross-entropy: those of the session, or all seen so far.
    head, hidden, lr, momentum, weight_decay, epochs, batch_size, random_state
        As in `EWC`.

    Notes
    -----
    With a linear head and ``over="session"`` no weight of an old class ever gets a gradient: the distillation is
    then exactly nothing. What the original trains is a whole network, for which the hidden layer stands here; its
    first phase, in which only the new outputs are trained, is left out, as in later published code.

    References
    ----------
    Z. Li and D. Hoiem, Learning without forgetting, ECCV 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> X = X / 16
    >>> model = LwF(hidden=64, lr=0.05, epochs=10, random_state=0)
    >>> for label in range(0, 10, 2):  # a session of two classes
    ...     session = np.flatnonzero(np.isin(y[:1500], (label, label + 1)))
    ...     model = model.partial_fit(X[session], y[session])
    >>> model.score(X[1500:], y[1500:]) > 0.4  # about 0.55; 0.18 with over="seen", as without any remedy
    True
    """

    summary = "learning without forgetting: the old outputs are distilled"
    small_parameters = MappingProxyType({"hidden": 8, "epochs": 3, "lr": 0.1})

    def __init__(
        self,
        *,
        strength: float = 3.0,
        temperature: float = 2.0,
        over: Literal["session", "seen"] = "session",
        head: Head = "mlp",
        hidden: int = 256,
        lr: float = 0.03,
        momentum: float = 0.9,
        weight_decay: float = 0.0,
        epochs: int = 40,
        batch_size: int = 128,
        random_state: Any = None,
    ) -> None:
        self.strength = strength
        self.temperature = temperature
        self.over = over
        self.head = head
        self.hidden = hidden
        self.lr = lr
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.epochs = epochs
        self.batch_size = batch_size
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_not_negative(strength=self.strength)
        check_positive(temperature=self.temperature)
        check_choice("over", self.over, ("session", "seen"))

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        X = X.astype(np.float32)
        columns, old = self._columns(rows, self.over), self._is_old()
        teacher = self._logits(X)[:, old]  # before the first step: the model does not have to be kept

        def error_of(logits: Features, batch: Rows) -> Features:
            shares = share_of_batch(weights, batch)
            error = cross_entropy_error(logits, rows[batch], shares, columns)
            if self.strength and old.any():
                distilled = distillation_error(logits[:, old], teacher[batch], self.temperature, shares)
                error[:, old] += self.strength * distilled
            return error

        self._train(X, error_of, epochs=self.epochs)
        self._end_session()
