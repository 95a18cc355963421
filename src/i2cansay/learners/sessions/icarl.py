"""iCaRL: a representation learnt with exemplars and distillation, and the nearest mean of exemplars."""

from types import MappingProxyType
from typing import Any

import numpy as np

from i2cansay.core.linalg.blas import inner
from i2cansay.core.types import Features, Float32, Float64, Rows
from i2cansay.learners.lazy import Cached
from i2cansay.learners.sessions.exemplar_learner import ExemplarLearner
from i2cansay.learners.sessions.exemplars import unit_rows
from i2cansay.learners.sessions.losses import binary_error, sigmoid
from i2cansay.learners.sessions.session_learner import Head, share_of_batch


class ICaRL(ExemplarLearner):
    """Trains a hidden layer on new samples and exemplars; answers by the nearest mean of exemplars in that layer.

    The loss is a binary cross-entropy per class, summed: the targets of the session's classes are the labels, those
    of all others what the model said before the session. Exemplars are herded. A representation is scaled to length
    one, and so is the mean of a class.

    Takes each batch for a session. Stores samples: up to `memory_size` rows of d float32 features.

    Parameters
    ----------
    memory_size : int
        Exemplars of all classes together.
    head : {"mlp", "linear"}
        "mlp": the representation is the hidden layer. "linear": it is the feature itself; the layer above has no
        part in an answer, so that nothing is trained, and this is a nearest mean of exemplars.
    hidden, lr, momentum, weight_decay, epochs, batch_size, random_state
        As in `EWC`; the rate falls to a fifth after 7 and again after 9 tenths of the passes.

    Notes
    -----
    Herding is towards the mean of the scaled representations, which is not scaled again on the way; the paper's text
    scales every mean, its code herds by a running residual. Exemplars of old classes keep their order and lose their
    tail. What the original trains is the whole network, for which the hidden layer stands here.

    References
    ----------
    S.-A. Rebuffi, A. Kolesnikov, G. Sperl and C. H. Lampert, iCaRL: incremental classifier and representation
    learning, CVPR 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> X = X / 16
    >>> model = ICaRL(memory_size=100, hidden=64, lr=0.1, epochs=10, random_state=0)
    >>> for label in range(0, 10, 2):  # a session of two classes
    ...     session = np.flatnonzero(np.isin(y[:1500], (label, label + 1)))
    ...     model = model.partial_fit(X[session], y[session])
    >>> model.score(X[1500:], y[1500:]) > 0.75, len(model.exemplars_[0])  # about 0.85
    (True, 100)
    """

    summary = "nearest mean of herded exemplars in a trained representation"
    caches = ("_means",)
    small_parameters = MappingProxyType({"hidden": 8, "epochs": 3, "lr": 0.1, "memory_size": 40})

    def __init__(
        self,
        *,
        memory_size: int = 1000,
        head: Head = "mlp",
        hidden: int = 256,
        lr: float = 0.03,
        momentum: float = 0.9,
        weight_decay: float = 1e-5,
        epochs: int = 40,
        batch_size: int = 128,
        random_state: Any = None,
    ) -> None:
        self.memory_size = memory_size
        self.head = head
        self.hidden = hidden
        self.lr = lr
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.epochs = epochs
        self.batch_size = batch_size
        self.random_state = random_state

    def _start(self, n_features: int) -> None:
        super()._start(n_features)
        self._means: Cached[Float32] = Cached()

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        means = 4 * n_classes * (self._n_hidden() or n_features)
        return super()._state_bytes(n_features, n_classes) + means

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        X, rows, weights = self._with_exemplars(X, rows, weights)
        if self.head == "mlp":
            self._train_representation(X, rows, weights)
        self._keep_exemplars(X, rows)
        self._end_session()

    def _train_representation(self, X: Float32, rows: Rows, weights: Float64 | None) -> None:
        n_new = len(X) - len(self._exemplars)
        targets = sigmoid(self._logits(X))
        of_session = np.unique(rows[:n_new])
        targets[:, of_session] = rows[:, None] == of_session

        def error_of(logits: Features, batch: Rows) -> Features:
            return binary_error(logits, targets[batch], share_of_batch(weights, batch))

        self._train(
            X,
            error_of,
            epochs=self.epochs,
            rate=lambda done: 1.0 if done < 0.7 else 0.2 if done < 0.9 else 0.04,
        )

    def _exemplar_means(self) -> Float32:
        """Return the mean of the exemplars of each class, (c, k), of length one; zero for a class without any."""
        memory = self._exemplars.memory
        units = unit_rows(self._network.units(memory.rows))
        means = np.zeros((len(self._labels), units.shape[1]), dtype=np.float32)
        for row in np.unique(memory.classes):
            means[row] = units[memory.classes == row].mean(axis=0)
        found: Float32 = unit_rows(means)
        return found

    def _scores(self, X: Features) -> Features:
        means = self._means.get(self._exemplar_means)
        units = unit_rows(self._network.units(X.astype(np.float32)))
        # Of unit vectors the distance is sqrt(2 - 2 cos); a class without exemplars is farther than any other.
        scores = -np.sqrt(np.maximum(2 - 2 * inner(units, means), 0))
        scores[:, ~means.any(axis=1)] = -3
        return scores
