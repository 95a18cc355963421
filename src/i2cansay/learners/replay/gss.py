"""GSS: replay from a memory of samples with diverse gradients."""

from typing import Any, Literal

from i2cansay.core.types import Features, Float64, Rows
from i2cansay.learners.parameters import check_choice, check_positive, check_whole
from i2cansay.learners.replay.diverse_buffer import DiverseBuffer
from i2cansay.learners.replay.replay_learner import ReplayLearner
from i2cansay.learners.replay.similarity_buffer import SimilarityBuffer


class GSS(ReplayLearner[SimilarityBuffer | DiverseBuffer]):
    """Gradient-based sample selection on features, with a linear softmax head.

    With every batch random rows of the memory are replayed; what the memory holds is chosen by the directions of the
    gradients that its rows give the head, so that they are as diverse as possible.

    Stores samples: up to `memory_size` rows of d float32 features and a class of 8 bytes each, and with "greedy" a
    score of 8 bytes.

    Parameters
    ----------
    memory_size : int
        Rows stored.
    selection : {"greedy", "iqp"}
        How they are chosen, after the step on their batch. "greedy": rows of a batch that is unlike some random
        batches of the memory take the place of rows that were alike (`similarity_buffer`). "iqp":
        whenever the memory is full, the rows stay whose gradients have the smallest sum of pairwise cosines, solved
        by elimination and exchange instead of an integer programme (`diverse_subset`).
    n_compared, compared_rows : int
        For "greedy": a batch and its rows are compared with this many random batches of the memory, of this many
        rows; published are 10 of as many rows as a batch has.
    recent : float
        Share of the memory that takes new rows between two selections, for "iqp"; 0.1 as published.
    n_replayed : int
        Rows replayed with every batch, at random, with the same weight in the loss as the batch.
    lr, weight_decay : float
        Of the head's SGD. The step acts on the squared norm of the features.
    batch_size : int
        Used by `fit` only; `partial_fit` takes a batch as it comes.
    random_state : int, Generator, RandomState or None
        Seed of what is compared, replaced and replayed.

    Notes
    -----
    Departs from the publication: the gradients are those of the head, the only part that learns; batch and
    replayed rows make one step together instead of one after the other, and one step per batch instead of several,
    as all methods with a memory here.

    References
    ----------
    Aljundi, Lin, Goujaud, Bengio (2019), Gradient based sample selection for online continual learning, NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> X = X / 16
    >>> by_class = np.argsort(y[:1500], kind="stable")  # the hardest order: one class after the other
    >>> model = GSS(memory_size=500, n_replayed=200, lr=0.8, random_state=0)
    >>> for start in range(0, 1500, 10):
    ...     batch = by_class[start : start + 10]
    ...     model = model.partial_fit(X[batch], y[batch])
    >>> model.score(X[1500:], y[1500:]) > 0.7  # without a memory it would know the last class alone: 0.1
    True
    """

    summary = "replay from a memory of diverse gradients"

    def __init__(
        self,
        *,
        memory_size: int = 1000,
        selection: Literal["greedy", "iqp"] = "greedy",
        n_compared: int = 10,
        compared_rows: int = 50,
        recent: float = 0.1,
        n_replayed: int = 50,
        lr: float = 0.2,
        weight_decay: float = 5e-5,
        batch_size: int = 50,
        random_state: Any = None,
    ) -> None:
        self.memory_size = memory_size
        self.selection = selection
        self.n_compared = n_compared
        self.compared_rows = compared_rows
        self.recent = recent
        self.n_replayed = n_replayed
        self.lr = lr
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_positive(recent=self.recent)
        if self.recent >= 1:
            raise ValueError(f"recent must be above 0 and below 1, got {self.recent!r}")
        check_whole(
            n_compared=self.n_compared,
            compared_rows=self.compared_rows,
            n_replayed=self.n_replayed,
            at_least=1,
        )
        check_choice("selection", self.selection, ("greedy", "iqp"))

    def _make_buffer(self, n_features: int) -> SimilarityBuffer | DiverseBuffer:
        if self.selection == "greedy":
            return SimilarityBuffer(
                self.memory_size, n_features, n_compared=self.n_compared, compared_rows=self.compared_rows
            )
        return DiverseBuffer(self.memory_size, n_features, recent=self.recent)

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        return super()._state_bytes(n_features, n_classes) + 8 * self.memory_size  # the scores of the rows

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        replayed, replayed_rows = self._buffer.draw(self.n_replayed, self._rng)
        self._rehearse(X, rows, weights, replayed, replayed_rows)
        if isinstance(self._buffer, SimilarityBuffer):
            self._buffer.add(X, rows, self._head, self._rng)
        else:
            self._buffer.add(X, rows, self._head)
