"""FearNet: a short memory of samples, a long one that dreams its old classes up, and a gate between the two."""

from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np

from i2cansay.core.buffers.sample_memory import SampleMemory
from i2cansay.core.class_rows import ClassRows
from i2cansay.core.linalg.blas import inner
from i2cansay.core.part_bytes import room, samples_bytes
from i2cansay.core.types import Features, Float32, Float64, Rows
from i2cansay.learners.base import WEIGHTS_ARE_NOT_COPIES, OnlineClassifier
from i2cansay.learners.parameters import check_choice, check_not_negative, check_positive, check_whole
from i2cansay.learners.sessions.autoencoder import Autoencoder, autoencoder_bytes
from i2cansay.learners.sessions.code_statistics import CodeStatistics, code_statistics_bytes
from i2cansay.learners.sessions.gate import Gate, gate_bytes
from i2cansay.learners.sessions.input_scale import InputScale
from i2cansay.learners.sessions.losses import softmax_over
from i2cansay.learners.sessions.nadam import NAdam
from i2cansay.learners.sessions.network import Arrays, balanced_draw, shuffled_batches
from i2cansay.learners.validation import make_generator

# Where a sample is stored itself, its distance is zero.
LEAST_DISTANCE = 1e-6
# The gate is never surer than this, so that what follows from it stays finite.
SUREST = 1 - 1e-6
# A class that neither memory knows.
UNKNOWN = 1e-30


class FearNet(OnlineClassifier):
    """Recent sessions are stored and answered by nearness; old classes live in an autoencoder with a classifier.

    When the store is full, or has `sleep_every` sessions, it sleeps: codes of the old classes are drawn from a
    Gaussian each, decoded to pseudo-inputs, and the autoencoder is trained on these and on the store together, which
    is then emptied. A third network, the gate, estimates whether a sample is of the store; the store answers where
    its probability times the odds of the gate is above the probability of the autoencoder's classifier.

    Takes each batch for a session. Stores samples: up to `memory_size` rows of d float32 features.

    Parameters
    ----------
    memory_size : int
        Samples in the store. A session that does not fit makes it sleep first; one that is larger than the whole
        store goes to sleep at once, and is not stored.
    sleep_every : int
        Sessions in the store after which it sleeps.
    hidden, code : int
        Widths of the layer between and of the code.
    covariance : {"full", "diagonal"}
        Of the codes of a class.
    input_weight, layer_weight : float
        Weights of the reconstruction of the input and of the layer between.
    lr : float
        Of NAdam, for all networks.
    epochs, gate_epochs : int
        Passes of a sleep, and of the training of the gate.
    per_class : int
        Samples, or pseudo-inputs, of each class in a pass of a sleep; of a class that has more, others are drawn for
        each pass.
    batch_size : int
    random_state : int, Generator, RandomState or None

    Notes
    -----
    No code was published with the paper. Our decisions: features are divided by their root mean square in the first
    session; the decoder learns at the rate of the encoder (published: a hundredth, with 1000 passes over a base of
    half of the classes, which Table 3 does not have); no dropout; the gate is trained after every session, on as
    many pseudo-inputs as there are stored samples. As many pseudo-inputs of an old class are drawn as a new class
    has samples, as published, but a pass of a sleep does not go over all of them: with a hundred old classes that is
    up to fifty times the work of the session. Sample weights have no part in it.

    References
    ----------
    R. Kemker and C. Kanan, FearNet: brain-inspired model for incremental learning, ICLR 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = FearNet(memory_size=400, hidden=64, code=16, lr=0.005, random_state=0)
    >>> for label in range(0, 10, 2):  # a session of two classes
    ...     session = np.flatnonzero(np.isin(y[:1500], (label, label + 1)))
    ...     model = model.partial_fit(X[session], y[session])
    >>> model.score(X[1500:], y[1500:]) > 0.6
    True
    """

    summary = "a short memory of samples, and an autoencoder that dreams up its old classes"
    parts = ("_autoencoder", "_statistics", "_gate", "_store", "_session_of", "_scale")
    stores_samples = True
    needs_boundaries = True
    expected_failed_checks = WEIGHTS_ARE_NOT_COPIES
    size_advice = "a smaller memory_size or code"
    structural: ClassVar[tuple[str, ...]] = ("hidden", "code", "memory_size")
    small_parameters = MappingProxyType(
        {"memory_size": 20, "hidden": 8, "code": 4, "lr": 0.02, "epochs": 15, "gate_epochs": 3}
    )

    def __init__(
        self,
        *,
        memory_size: int = 1000,
        sleep_every: int = 10,
        hidden: int = 128,
        code: int = 128,
        covariance: Literal["full", "diagonal"] = "full",
        input_weight: float = 100.0,
        layer_weight: float = 1.0,
        lr: float = 0.001,
        epochs: int = 40,
        gate_epochs: int = 20,
        per_class: int = 50,
        batch_size: int = 100,
        random_state: Any = None,
    ) -> None:
        self.memory_size = memory_size
        self.sleep_every = sleep_every
        self.hidden = hidden
        self.code = code
        self.covariance = covariance
        self.input_weight = input_weight
        self.layer_weight = layer_weight
        self.lr = lr
        self.epochs = epochs
        self.gate_epochs = gate_epochs
        self.per_class = per_class
        self.batch_size = batch_size
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_choice("covariance", self.covariance, ("full", "diagonal"))
        check_positive(lr=self.lr)
        check_not_negative(input_weight=self.input_weight, layer_weight=self.layer_weight)
        check_whole(memory_size=self.memory_size, sleep_every=self.sleep_every, at_least=1)
        check_whole(hidden=self.hidden, code=self.code, batch_size=self.batch_size, at_least=1)
        check_whole(epochs=self.epochs, gate_epochs=self.gate_epochs, at_least=1)
        check_whole(per_class=self.per_class, at_least=1)

    def _start(self, n_features: int) -> None:
        self._autoencoder = Autoencoder(n_features, self.hidden, self.code)
        self._autoencoder.draw(np.random.default_rng(make_generator(self.random_state).integers(2**63)))
        self._statistics = CodeStatistics(self.code)
        self._gate = Gate(n_features, self.hidden)
        self._store = SampleMemory(self.memory_size, n_features)
        self._session_of = ClassRows(width=None, dtype=np.int64)
        self._scale = InputScale()

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        networks = autoencoder_bytes(n_features, self.hidden, self.code, n_classes)
        networks += gate_bytes(n_features, self.hidden) + code_statistics_bytes(self.code, n_classes)
        return networks + samples_bytes(n_features, self.memory_size) + 8 * room(n_classes) + 16

    def _batches(self, n: int) -> list[Rows]:
        return [self._rng.permutation(n)]  # `fit` is one session, whatever the batches of its training

    # -- learning -------------------------------------------------------------------------------------------

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        X = self._scale.apply(X, learn=True)
        sessions = self._session_of.rows
        sessions[sessions == 0] = sessions.max(initial=0) + 1
        if len(self._store) and (
            len(X) > self._store.n_free or self._n_stored_sessions() >= self.sleep_every
        ):
            self._sleep(self._store.rows.copy(), self._store.classes.copy())
            self._store.keep(np.arange(0))
        if len(X) > self._store.size:
            self._sleep(X, rows)
        else:
            self._store.append(X, rows)
        if len(self._store) and self._statistics.described.any():
            self._train_gate()

    def _n_stored_sessions(self) -> int:
        return len(np.unique(self._session_of.rows[self._store.classes]))

    def _sleep(self, X: Float32, rows: Rows) -> None:
        """Train the autoencoder on samples and on pseudo-inputs of all classes that it knows, then describe them."""
        n_each = max(1, round(len(rows) / len(np.unique(rows))))
        old = np.setdiff1d(np.flatnonzero(self._statistics.described), rows)
        dreamt = [self._dream(row, n_each) for row in old]
        inputs = np.concatenate([X, *dreamt])
        classes = np.concatenate([rows, np.repeat(old, n_each)])
        columns = self._statistics.described
        columns[rows] = True
        optimiser = NAdam(self._autoencoder.arrays())
        gradients: Arrays | None = None
        for _ in range(self.epochs):
            chosen = balanced_draw(classes, self.per_class, self._rng)
            for batch in shuffled_batches(len(chosen), self.batch_size, self._rng):
                gradients = self._autoencoder.gradients(
                    inputs[chosen[batch]],
                    classes[chosen[batch]],
                    columns,
                    input_weight=self.input_weight,
                    layer_weight=self.layer_weight,
                    into=gradients,
                )
                optimiser.step(gradients, self.lr)
        # Old classes too, from their pseudo-inputs: the encoder has moved.
        codes = self._autoencoder.encode(inputs)
        for row in np.unique(classes):
            self._statistics.describe(row, codes[classes == row], diagonal=self.covariance == "diagonal")

    def _dream(self, row: int | np.integer[Any], n: int) -> Float32:
        """Return pseudo-inputs of an old class, (n, d)."""
        codes = self._statistics.sample(row, n, self._rng)
        dreamt: Float32 = self._autoencoder.decode(codes.astype(np.float32))
        return dreamt

    def _train_gate(self) -> None:
        known = np.flatnonzero(self._statistics.described)
        n_each = max(1, round(len(self._store) / len(known)))
        old = np.concatenate([self._dream(row, n_each) for row in known])
        self._gate.train(
            old,
            self._store.rows,
            self._rng,
            lr=self.lr,
            epochs=self.gate_epochs,
            batch_size=self.batch_size,
        )

    # -- answers --------------------------------------------------------------------------------------------

    def _recent_chances(self, X: Float32) -> Float64:
        """Return the probabilities by the store, (n, c): inverse distances to the nearest samples, scaled."""
        near = np.zeros((len(X), len(self._labels)))
        store = self._store.rows.astype(np.float64)
        X = X.astype(np.float64)
        squares = np.einsum("nd,nd->n", X, X)[:, None] + np.einsum("md,md->m", store, store)
        distances = np.sqrt(np.maximum(squares - 2 * inner(X, store), 0))
        for row in np.unique(self._store.classes):
            nearest = distances[:, self._store.classes == row].min(axis=1)
            near[:, row] = 1 / (LEAST_DISTANCE + nearest)
        near /= np.maximum(near.sum(axis=1, keepdims=True), UNKNOWN)
        return near

    def _old_chances(self, X: Float32) -> Float64:
        """Return the probabilities by the autoencoder's classifier, (n, c); zero for a class unknown to it."""
        known = self._statistics.described
        if not known.any():
            return np.zeros((len(X), len(self._labels)))
        logits = self._autoencoder.logits(self._autoencoder.encode(X))
        return softmax_over(logits, known).astype(np.float64)

    def _scores(self, X: Features) -> Features:
        X = self._scale.apply(X)
        recent, old = self._recent_chances(X), self._old_chances(X)
        if len(self._store) and self._statistics.described.any():
            likely = np.clip(self._gate.recent(X), 1 - SUREST, SUREST)
            recent *= (likely / (1 - likely))[:, None]
        # Whichever of the two is higher decides, as in the paper; logarithms, for a softmax of the scores.
        scores: Features = np.log(np.maximum(np.maximum(recent, old), UNKNOWN))
        return scores
