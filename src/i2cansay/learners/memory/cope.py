"""Continual prototype evolution: an embedding learnt on the stream, and a slowly moving prototype per class."""

from typing import Any

import numpy as np

from i2cansay.core.buffers.balanced_reservoir import BalancedReservoir
from i2cansay.core.linalg.blas import add_outer, inner
from i2cansay.core.linalg.row_buffer import RowBuffer
from i2cansay.core.part_bytes import room, samples_bytes
from i2cansay.core.state_parts import check_range, strip_prefix
from i2cansay.core.types import Features, Float32, Float64, Rows, State
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.memory.prototype_loss import proxy_loss, through_length, unit_rows
from i2cansay.learners.parameters import check_positive, check_whole


class CoPE(OnlineClassifier):
    """Continual prototype evolution on frozen features (De Lange and Tuytelaars 2021).

    The embedding is ``f = W x / |W x|``. Every batch is joined by as many rows from a class-balanced memory; W takes
    a step down the gradient of the pseudo-prototypical proxy loss of both (`prototype_loss`), as often
    as `iterations` says, each time with other rows from the memory. Then the prototype of every class among them
    moves: ``p <- unit(momentum p + (1 - momentum) mean of its rows f)``. The answer is the nearest prototype by
    cosine.

    Parameters
    ----------
    lr : float
        Of the embedding's SGD. The step is free of the features' scale, since f is.
    momentum : float
        Of the prototypes, from 0 to below 1.
    temperature : float
        Of the loss, in cosines.
    iterations : int
        Steps per batch.
    memory_size : int
        Rows kept for replay, balanced over the classes.
    embedding_size : int or None
        Width of the embedding; None for the width of the features.
    batch_size : int
        Used by `fit` only; `partial_fit` takes a batch as it comes.
    random_state : int, Generator, RandomState or None
        Seed of memory and replay, and of a narrower embedding.

    Notes
    -----
    Departs from the article, where the embedding is a whole network learnt from scratch:

    - W starts as the identity, so that the features are what learning begins with; a narrower one as a random
      orthogonal map. There is no bias.
    - A prototype starts as the mean of its class's first rows, where the authors' code starts from a random
      direction, of which a hundred updates at momentum 0.99 leave a third. Its first updates average with equal
      weights: update t keeps min(momentum, t / (t + 1)) of it.
    - Prototypes and pseudo-prototypes are held fixed in the gradient.
    - The authors' settings differ by data set (temperature 0.1 and 1 iteration for CIFAR-10, 0.05 and 5 for
      CIFAR-100, with batches of 10); the defaults are one setting for all.

    Sample weights count in the prototypes and scale the rows' gradients.

    References
    ----------
    De Lange, Tuytelaars (2021), Continual Prototype Evolution: Learning Online from Non-Stationary Data Streams,
    ICCV.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> by_class = np.argsort(y[:1500], kind="stable")  # the hardest order: one class after the other
    >>> model = CoPE(memory_size=200, random_state=0)
    >>> for start in range(0, 1500, 50):
    ...     batch = by_class[start : start + 50]
    ...     model = model.partial_fit(X[batch], y[batch])
    >>> model.score(X[1500:], y[1500:]) > 0.7  # without a memory it would know the last class alone: 0.1
    True
    """

    stores_samples = True
    size_advice = "a smaller memory_size"

    def __init__(
        self,
        *,
        lr: float = 0.02,
        momentum: float = 0.99,
        temperature: float = 0.05,
        iterations: int = 5,
        memory_size: int = 2000,
        embedding_size: int | None = None,
        batch_size: int = 50,
        random_state: Any = None,
    ) -> None:
        self.lr = lr
        self.momentum = momentum
        self.temperature = temperature
        self.iterations = iterations
        self.memory_size = memory_size
        self.embedding_size = embedding_size
        self.batch_size = batch_size
        self.random_state = random_state

    def _start(self, n_features: int) -> None:
        width = n_features if self.embedding_size is None else min(self.embedding_size, n_features)
        # A narrower map is drawn with the first batch: the generator is made after this.
        self._map: Float32 = np.eye(width, n_features, dtype=np.float32)
        self._drawn = width == n_features
        self._prototypes = RowBuffer(width=width, dtype=np.float64)
        self._updates = RowBuffer(width=None, dtype=np.int64)
        self._memory = BalancedReservoir(self.memory_size, n_features)

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        width = n_features if self.embedding_size is None else min(self.embedding_size, n_features)
        prototypes = 8 * room(n_classes) * (width + 3)
        return 4 * width * n_features + prototypes + samples_bytes(n_features, self.memory_size)

    def _grow(self, n_classes: int) -> None:
        self._prototypes.resize(n_classes)
        self._updates.resize(n_classes)
        self._memory.resize(n_classes)

    # -- learning -------------------------------------------------------------------------------------------

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        self._draw_map()
        share = np.ones(len(X)) if weights is None else weights * (len(X) / weights.sum())
        x = X.astype(np.float32, copy=False)
        sums, counts = np.zeros_like(self._prototypes.view), np.zeros(len(self._updates))
        for iteration in range(self.iterations):
            replayed, replayed_rows = self._replay(len(X))
            features, classes = np.concatenate([x, replayed]), np.concatenate([rows, replayed_rows])
            row_weights = np.concatenate([share, np.ones(len(replayed))])
            embedded, lengths = self._embed(features)
            if iteration == 0:
                self._begin_prototypes(embedded, classes, row_weights)
            if len(counts) > 1:
                loss = proxy_loss(embedded, classes, self._prototypes.view, self.temperature)
                gradient = through_length(loss.gradient * row_weights[:, None], embedded, lengths)
                add_outer(self._map, gradient, features, scale=-self.lr)
            # Replayed rows of every iteration move the prototypes, the batch itself once.
            last = iteration == self.iterations - 1
            moving = slice(0 if last else len(X), None)
            np.add.at(sums, classes[moving], embedded[moving] * row_weights[moving, None])
            np.add.at(counts, classes[moving], row_weights[moving])
        self._move_prototypes(sums, counts)
        self._memory.add(X, rows, self._rng)

    def _draw_map(self) -> None:
        if not self._drawn:
            directions = self._rng.standard_normal(self._map.shape[::-1])
            self._map = np.ascontiguousarray(np.linalg.qr(directions)[0].T, dtype=np.float32)
            self._drawn = True

    def _embed(self, X: Features) -> tuple[Features, Features]:
        """Return the embedding of rows (n, d), (n, m) of unit length, and the lengths before, (n, 1)."""
        return unit_rows(inner(X, self._map).astype(np.float64))

    def _replay(self, n: int) -> tuple[Float32, Rows]:
        """Return up to `n` different rows of the memory, every class as likely as any other, and their classes."""
        held = self._memory.memory
        if not len(held):
            return held.rows, held.classes
        odds = 1.0 / held.class_counts(0)[held.classes]
        chosen = self._rng.choice(len(held), size=min(n, len(held)), replace=False, p=odds / odds.sum())
        return held.rows[chosen], held.classes[chosen]

    def _begin_prototypes(self, embedded: Features, classes: Rows, weights: Float64) -> None:
        """Give the classes that have none a prototype to take the first step by: the mean of their rows."""
        for row in np.unique(classes[self._updates.view[classes] == 0]).tolist():
            own = classes == row
            mean = np.average(embedded[own], axis=0, weights=weights[own])
            self._prototypes.view[row] = unit_rows(mean[None])[0]

    def _move_prototypes(self, sums: Float64, counts: Float64) -> None:
        """Move every class with rows, of these sums (c, m) and weights (c,), towards their mean."""
        moved = np.flatnonzero(counts)
        updates = self._updates.view[moved]
        keep = np.minimum(self.momentum, updates / (updates + 1.0))[:, None]
        old, mean = self._prototypes.view[moved], sums[moved] / counts[moved, None]
        self._prototypes.view[moved] = unit_rows(keep * old + (1.0 - keep) * mean)[0]
        self._updates.view[moved] += 1

    # -- deciding -------------------------------------------------------------------------------------------

    def _scores(self, X: Features) -> Features:
        return inner(self._embed(X)[0], self._prototypes.view)

    @property
    def prototypes_(self) -> Float64:
        """Prototypes, (n_classes, m), of unit length, in the order of `classes_`."""
        return self._prototypes.view[self._labels.order]

    # -- state ----------------------------------------------------------------------------------------------

    def _drop(self, row: int) -> None:
        self._prototypes.drop(row)
        self._updates.drop(row)
        self._memory.drop(row)

    def _state(self) -> State:
        return {
            "map": self._map,
            "prototypes": self._prototypes.view,
            "updates": self._updates.view,
            **{f"memory.{name}": array for name, array in self._memory.state().items()},
        }

    def _restore(self, state: State) -> None:
        n_classes = len(self._labels)
        expected = {
            "map": self._map.shape,
            "prototypes": (n_classes, len(self._map)),
            "updates": (n_classes,),
        }
        for name, shape in expected.items():
            if state[name].shape != shape:
                raise ValueError(f"the {name} should be of shape {shape}, not {state[name].shape}")
        check_range("the updates of a class", state["updates"])
        check_range("the prototypes", state["prototypes"], -1.001, 1.001)  # of unit length
        self._map = np.array(state["map"], dtype=np.float32)
        self._drawn = True
        self._prototypes.set(state["prototypes"])
        self._updates.set(state["updates"])
        self._memory.restore(strip_prefix(state, "memory"), n_classes)

    def _check_parameters(self) -> None:
        check_positive(lr=self.lr, temperature=self.temperature)
        check_whole(
            iterations=self.iterations, memory_size=self.memory_size, batch_size=self.batch_size, at_least=1
        )
        if self.embedding_size is not None:
            check_whole(embedding_size=self.embedding_size, at_least=1)
        if not 0 <= self.momentum < 1:
            raise ValueError(f"momentum must be a number from 0 to below 1, got {self.momentum!r}")
