"""End-to-end incremental learning: exemplars, distillation head by head, and a balanced fine-tuning."""

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np

from i2cansay.core.types import Features, Float32, Float64, Rows
from i2cansay.learners.parameters import check_not_negative, check_positive, check_share, check_whole
from i2cansay.learners.sessions.exemplar_learner import ExemplarLearner
from i2cansay.learners.sessions.exemplars import herd
from i2cansay.learners.sessions.losses import (
    cross_entropy_error,
    head_distillation_error,
    softmax_in_heads,
)
from i2cansay.learners.sessions.session_learner import Head, share_of_batch


class EEIL(ExemplarLearner):
    """Cross-entropy over all classes plus a distillation per old head, on everything and then on a balanced set.

    The classes of one session are a head. Each session goes through three stages: training on new samples and
    exemplars, with a distillation inside each old head from the model as it was before the session; fine-tuning at a
    lower rate on as many samples of every class, with a distillation inside each head, the new one too, from the
    model as it was after the first stage; and herding of new exemplars. Takes each batch for a session. Stores
    samples: up to `memory_size` rows of d float32 features.

    Parameters
    ----------
    memory_size : int
        Exemplars of all classes together.
    strength : float
        Weight of the distillations. With 0, and no fine-tuning, it is replay of all exemplars.
    temperature : float
        Of the distillation.
    finetune_epochs : int
        Passes of the second stage; 0 leaves it out.
    finetune_rate : float
        Its learning rate, as a share of `lr`.
    head : {"linear", "mlp"}
        A linear layer, or one with a hidden layer of rectified units below it.
    hidden, lr, momentum, weight_decay, epochs, batch_size, random_state
        As in `EWC`; in both stages the rate falls to a tenth after each quarter or third of the passes, as published
        for 40 and 30 of them.

    Notes
    -----
    Left out: augmentation, since there are no images here, and noise on the gradients. The balanced set has as many
    samples of each class as the old class with the fewest exemplars.

    References
    ----------
    F. M. Castro, M. J. Marín-Jiménez, N. Guil, C. Schmid and K. Alahari, End-to-end incremental learning, ECCV 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> X = X / 16
    >>> model = EEIL(memory_size=100, lr=0.2, epochs=10, finetune_epochs=10, batch_size=50, random_state=0)
    >>> for label in range(0, 10, 2):  # a session of two classes
    ...     session = np.flatnonzero(np.isin(y[:1500], (label, label + 1)))
    ...     model = model.partial_fit(X[session], y[session])
    >>> model.score(X[1500:], y[1500:]) > 0.75, len(model.exemplars_[0])  # about 0.85
    (True, 100)
    """

    summary = "exemplars, distillation and a balanced fine-tuning"
    small_parameters = MappingProxyType(
        {"hidden": 8, "epochs": 3, "finetune_epochs": 2, "lr": 0.1, "memory_size": 40}
    )

    def __init__(
        self,
        *,
        memory_size: int = 1000,
        strength: float = 1.0,
        temperature: float = 2.0,
        finetune_epochs: int = 30,
        finetune_rate: float = 0.1,
        head: Head = "linear",
        hidden: int = 256,
        lr: float = 0.03,
        momentum: float = 0.9,
        weight_decay: float = 1e-4,
        epochs: int = 40,
        batch_size: int = 128,
        random_state: Any = None,
    ) -> None:
        self.memory_size = memory_size
        self.strength = strength
        self.temperature = temperature
        self.finetune_epochs = finetune_epochs
        self.finetune_rate = finetune_rate
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
        check_share(finetune_rate=self.finetune_rate)
        check_whole(finetune_epochs=self.finetune_epochs, at_least=0)

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        X, rows, weights = self._with_exemplars(X, rows, weights)
        n_old = int(self._is_old().sum())
        self._train_stage(
            X, rows, weights, n_distilled=n_old, epochs=self.epochs, rate=lambda done: 0.1 ** int(4 * done)
        )
        if n_old and self.finetune_epochs:
            chosen = self._balanced(X, rows)
            self._train_stage(
                X[chosen],
                rows[chosen],
                None,
                n_distilled=len(self._labels),
                epochs=self.finetune_epochs,
                rate=lambda done: self.finetune_rate * 0.1 ** int(3 * done),
            )
        self._keep_exemplars(X, rows)
        self._end_session()

    def _train_stage(
        self,
        X: Float32,
        rows: Rows,
        weights: Float64 | None,
        *,
        n_distilled: int,
        epochs: int,
        rate: Callable[[float], float],
    ) -> None:
        """Train on rows (n, d), with a distillation from the model as it is now inside each head.

        Classes come in the order of their sessions, those of this one last, so that each head is a run of
        neighbours, and the first `n_distilled` classes are whole heads.
        """
        every, old = np.ones(len(self._labels), dtype=bool), slice(n_distilled)
        heads = np.unique(self._heads()[old], return_index=True)[1]
        targets = softmax_in_heads(self._logits(X)[:, old] / self.temperature, heads) if n_distilled else None

        def error_of(logits: Features, batch: Rows) -> Features:
            shares = share_of_batch(weights, batch)
            error = cross_entropy_error(logits, rows[batch], shares, every)
            if self.strength and targets is not None:
                error[:, old] += self.strength * head_distillation_error(
                    logits[:, old], targets[batch], heads, self.temperature, shares
                )
            return error

        self._train(X, error_of, epochs=epochs, rate=rate)

    def _heads(self) -> Rows:
        """Return the number of each class's session, (c,), not falling; of the new classes it is the highest."""
        sessions = self._session_of.rows.copy()
        sessions[sessions == 0] = sessions.max(initial=0) + 1
        return sessions

    def _balanced(self, X: Float32, rows: Rows) -> Rows:
        """Return the numbers of as many rows of every class: exemplars as they are stored, new classes herded."""
        n_new = len(rows) - len(self._exemplars)
        new = np.unique(rows[:n_new])
        counts = np.bincount(rows)
        kept = np.setdiff1d(np.unique(rows), new)
        least = int(counts[kept if len(kept) else new].min())
        chosen = []
        for row in np.unique(rows):
            members = np.flatnonzero(rows == row)
            order = herd(self._network.units(X[members]), least) if row in new else np.arange(len(members))
            chosen.append(members[order[:least]])
        return np.concatenate(chosen)
