"""Elastic weight consolidation: every weight is held to where it was, as hard as it mattered."""

from collections.abc import Callable
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from i2cansay.core.types import Features, Float64, Rows
from i2cansay.learners.parameters import check_choice, check_not_negative, check_share
from i2cansay.learners.sessions.fisher import fisher_diagonal
from i2cansay.learners.sessions.losses import cross_entropy_error
from i2cansay.learners.sessions.network import Network, network_bytes
from i2cansay.learners.sessions.session_learner import Head, SessionLearner, share_of_batch

# Held completely, in single precision; infinity would not be.
LARGEST_PULL = np.float32(1e30)


class EWC(SessionLearner):
    """Cross-entropy plus ``strength / 2 * sum of F (w - anchor)^2`` over all weights w.

    F is the diagonal of the Fisher information after a session: the true one, over the labels that the model itself
    would give, not over those of the data, with which it vanishes once a session is fitted. It is taken sample by
    sample. Takes each batch for a session and stores no samples.

    Parameters
    ----------
    strength : float
        Lambda. With 0 it is plain training, session after session.
    form : {"sessions", "running"}
        "sessions" has a penalty for every past session, with its own anchors and its own F. Being quadratic, they
        add up to one, with the sum of the F and anchors weighed by them, so that memory does not grow. "running"
        multiplies the F so far by `decay`, adds the new one, and holds the weights to where they are now.
    decay : float
        Of the running form.
    over : {"session", "seen"}
        Classes that compete in the softmax of the loss: those of the session, or all seen so far.
    head : {"mlp", "linear"}
        A hidden layer of rectified units and a linear one, or the linear one alone.
    hidden : int
        Units of the hidden layer.
    lr, momentum, weight_decay : float
        Of the SGD; momentum begins anew with every session.
    epochs, batch_size : int
        Passes over a session, and rows per step.
    random_state : int, Generator, RandomState or None
        Seed of the hidden weights and of the order of the samples.

    Notes
    -----
    The penalty is applied by its proximal map after every step on the loss, w = (w + k F anchor) / (1 + k F) with
    k = lr * strength / (1 - momentum): momentum makes the steps on the loss longer by that factor in the long run,
    and the penalty has none. The weights come to rest where the gradients of loss and penalty cancel, and nothing
    diverges, however large F is.

    With a linear head and ``over="session"`` no weight of an old class ever moves: the penalty is then exactly
    nothing, whatever its strength. Published code for networks has both forms of the loss.

    A strength from code that squares the mean gradient of a batch (as PyCIL and FACIL do) is too large here by about
    the size of that batch.

    References
    ----------
    J. Kirkpatrick et al., Overcoming catastrophic forgetting in neural networks, PNAS 2017. J. Schwarz et al.,
    Progress & compress, ICML 2018 (the running form).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> X = X / 16
    >>> model = EWC(hidden=64, lr=0.05, epochs=10, random_state=0)
    >>> for label in range(0, 10, 2):  # a session of two classes
    ...     session = np.flatnonzero(np.isin(y[:1500], (label, label + 1)))
    ...     model = model.partial_fit(X[session], y[session])
    >>> model.score(X[1500:], y[1500:]) > 0.4  # about 0.55; 0.18 with over="seen", as without any remedy
    True
    """

    summary = "elastic weight consolidation"
    parts = (*SessionLearner.parts, "_fisher", "_anchor")
    small_parameters = MappingProxyType({"hidden": 8, "epochs": 3, "lr": 0.1, "strength": 1.0})

    def __init__(
        self,
        *,
        strength: float = 100.0,
        form: Literal["sessions", "running"] = "sessions",
        decay: float = 1.0,
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
        self.form = form
        self.decay = decay
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
        check_share(decay=self.decay)
        check_choice("form", self.form, ("sessions", "running"))
        check_choice("over", self.over, ("session", "seen"))

    def _start(self, n_features: int) -> None:
        super()._start(n_features)
        self._fisher, self._anchor = (Network(n_features, self._n_hidden()) for _ in range(2))

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        own = super()._state_bytes(n_features, n_classes)
        assert own is not None
        return own + 2 * network_bytes(n_features, self._n_hidden(), n_classes)

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        X = X.astype(np.float32)
        columns = self._columns(rows, self.over)

        def error_of(logits: Features, batch: Rows) -> Features:
            return cross_entropy_error(logits, rows[batch], share_of_batch(weights, batch), columns)

        # Never spanned, with a penalty or without: what the penalty changes should not depend on it.
        self._train(X, error_of, epochs=self.epochs, after_step=self._hold(), spanned=False)
        new = fisher_diagonal(self._network, X, columns, weights)
        fisher, anchor = self._fisher.arrays(), self._anchor.arrays()
        for name, here in self._network.arrays().items():
            if self.form == "running":
                fisher[name] *= np.float32(self.decay)
                fisher[name] += new[name]
                anchor[name][:] = here
            else:
                fisher[name] += new[name]
                share = np.divide(new[name], fisher[name], out=np.ones_like(here), where=fisher[name] > 0)
                anchor[name] += share * (here - anchor[name])
        self._end_session()

    def _hold(self) -> Callable[[float], None] | None:
        """Return what draws the weights towards their anchors after a step; None if nothing does."""
        if not self.strength or not self._is_old().any():
            return None
        here, anchor = self._network.arrays(), self._anchor.arrays()
        shares, rate = {}, self.lr * self.strength / (1 - self.momentum)
        for name, fisher in self._fisher.arrays().items():
            pull = np.minimum(rate * fisher, LARGEST_PULL)
            shares[name] = pull / (1 + pull)  # the same for every step: the rate of this method is constant

        def hold(_: float) -> None:
            for name, weights in here.items():
                # From where it is, not from the anchor: a weight without information keeps its very bits.
                away = weights - anchor[name]
                away *= shares[name]
                weights[:] -= away

        return hold
