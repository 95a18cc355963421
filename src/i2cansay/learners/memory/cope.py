"""Continual prototype evolution: an embedding learnt on the stream, and a slowly moving prototype per class."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from i2cansay.core.buffers.balanced_reservoir import BalancedReservoir
from i2cansay.core.linalg.blas import inner
from i2cansay.core.part_bytes import room, samples_bytes
from i2cansay.core.types import Features, Float32, Float64, Rows
from i2cansay.learners.base import WEIGHTS_ARE_NOT_COPIES, OnlineClassifier
from i2cansay.learners.memory.embedding_steps import EmbeddingSteps
from i2cansay.learners.memory.prototype_loss import proxy_loss, through_length, unit_rows
from i2cansay.learners.memory.prototypes import Embedding, Prototypes
from i2cansay.learners.parameters import check_positive, check_whole


class CoPE(OnlineClassifier):
    """Continual prototype evolution on frozen features (De Lange and Tuytelaars 2021).

    The embedding is ``f = W x / |W x|``. Every batch is joined by as many rows from a class-balanced memory; W takes
    a step down the gradient of the pseudo-prototypical proxy loss of both (`prototype_loss`), as often
    as `iterations` says, each time with other rows from the memory. Then the prototype of every class among them
    moves: ``p <- unit(momentum p + (1 - momentum) mean of its rows f)``. The answer is the prototype with the
    highest product ``f . p``, its cosine.

    Parameters
    ----------
    lr : float
        Of the embedding's SGD. The step is free of the features' scale, since f is.
    momentum : float
        Of the prototypes, from 0 to below 1.
    renormalise : bool
        Whether a prototype is scaled to unit length after it has moved. In the authors' code that line is commented
        out; without it prototypes of classes that spread more are shorter, and are named less often.
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
    - The authors' settings differ by data set (temperature 0.1, 1 iteration and momentum 0.99 for CIFAR-10; 0.05, 5
      and 0.9 for CIFAR-100; batches of 10); the defaults are one setting for all.

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

    summary = "evolving prototypes in a learnt embedding"
    expected_failed_checks = WEIGHTS_ARE_NOT_COPIES
    parts = ("_embedding", "_prototypes", "_memory")
    stores_samples = True
    size_advice = "a smaller memory_size"

    def __init__(
        self,
        *,
        lr: float = 0.02,
        momentum: float = 0.99,
        renormalise: bool = True,
        temperature: float = 0.05,
        iterations: int = 5,
        memory_size: int = 2000,
        embedding_size: int | None = None,
        batch_size: int = 50,
        random_state: Any = None,
    ) -> None:
        self.lr = lr
        self.momentum = momentum
        self.renormalise = renormalise
        self.temperature = temperature
        self.iterations = iterations
        self.memory_size = memory_size
        self.embedding_size = embedding_size
        self.batch_size = batch_size
        self.random_state = random_state

    def _start(self, n_features: int) -> None:
        width = self._width(n_features)
        self._embedding = Embedding(n_features, width)
        self._prototypes = Prototypes(width)
        self._memory = BalancedReservoir(self.memory_size, n_features)

    def _width(self, n_features: int) -> int:
        return n_features if self.embedding_size is None else min(self.embedding_size, n_features)

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        width = self._width(n_features)
        prototypes = 8 * room(n_classes) * (width + 3)
        return 4 * width * n_features + prototypes + samples_bytes(n_features, self.memory_size)

    # -- learning -------------------------------------------------------------------------------------------

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        self._embedding.draw(self._rng)
        n = len(X)
        share = np.ones(n) if weights is None else weights * (n / weights.sum())
        replayed = [self._replay(n) for _ in range(self.iterations)]
        features = np.concatenate([X, *(found for found, _ in replayed)])
        classes = np.concatenate([rows, *(found for _, found in replayed)])
        row_weights = np.concatenate([share, np.ones(len(classes) - n)])
        # The embedding has unit length whatever that of a row; scaled rows cannot overflow in products.
        units = unit_rows(features.astype(np.float64))[0].astype(np.float32)
        steps = EmbeddingSteps(self._embedding.map, units)
        moving: Float64 = np.zeros((len(classes), len(self._embedding.map)))
        batch, start = np.arange(n), n
        for iteration, (_, found) in enumerate(replayed):
            places = np.concatenate([batch, np.arange(start, start + len(found))])
            embedded, lengths = steps.of(places)
            if iteration == 0:
                self._prototypes.begin(embedded, classes[places], row_weights[places])
            if len(self._prototypes.values) > 1:
                loss = proxy_loss(embedded, classes[places], self._prototypes.values, self.temperature)
                gradient = through_length(loss.gradient * row_weights[places, None], embedded, lengths)
                steps.step(places, gradient, lr=self.lr)
            # The prototypes move by the replayed rows of every iteration, and by the batch as the last one has it.
            moving[places] = embedded
            start += len(found)
        steps.apply()
        self._move_prototypes(moving, classes, row_weights)
        self._memory.add(X, rows, self._rng)

    def _move_prototypes(self, embedded: Float64, classes: Rows, row_weights: Float64) -> None:
        """Move the prototypes towards the means of the rows, (n, m), of their classes."""
        n_classes = len(self._prototypes.values)
        shape = (n_classes, len(classes))
        by_class = csr_array((row_weights, (classes, np.arange(len(classes)))), shape=shape)
        sums: Float64 = np.asarray(by_class @ embedded)
        counts: Float64 = by_class.sum(axis=1)
        self._prototypes.move(sums, counts, momentum=self.momentum, unit=self.renormalise)

    def _replay(self, n: int) -> tuple[Float32, Rows]:
        """Return up to `n` different rows of the memory, every class as likely as any other, and their classes."""
        held = self._memory.memory
        if not len(held):
            return held.rows, held.classes
        odds = 1.0 / held.class_counts(0)[held.classes]
        chosen = self._rng.choice(len(held), size=min(n, len(held)), replace=False, p=odds / odds.sum())
        return held.rows[chosen], held.classes[chosen]

    # -- deciding -------------------------------------------------------------------------------------------

    def _scores(self, X: Features) -> Features:
        return inner(self._embedding.of(X)[0], self._prototypes.values)

    @property
    def prototypes_(self) -> Float64:
        """Prototypes, (n_classes, m), in the order of `classes_`; of unit length with `renormalise`."""
        return self._prototypes.values[self._labels.order]

    def _check_parameters(self) -> None:
        check_positive(lr=self.lr, temperature=self.temperature)
        check_whole(
            iterations=self.iterations, memory_size=self.memory_size, batch_size=self.batch_size, at_least=1
        )
        if self.embedding_size is not None:
            check_whole(embedding_size=self.embedding_size, at_least=1)
        if not 0 <= self.momentum < 1:
            raise ValueError(f"momentum must be a number from 0 to below 1, got {self.momentum!r}")
