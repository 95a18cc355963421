"""Experience replay: a linear softmax layer trained on the stream and on rows from a uniform sample of its past."""

from typing import Any

from i2cansay.core.buffers.reservoir import Reservoir
from i2cansay.core.types import Features, Float64, Rows
from i2cansay.learners.parameters import check_whole
from i2cansay.learners.replay.replay_learner import ReplayLearner


class ExperienceReplay(ReplayLearner[Reservoir]):
    """Plain reservoir replay: the baseline of every method that stores samples.

    With every batch some held rows are drawn, and one step is taken on the mean cross-entropy of the batch plus
    that of the drawn rows. Then the batch is shown to the reservoir. With ``memory_size=1000, lr=0.02`` this is the
    baseline of the paper's component table: the linear head with its bias and a buffer, without pseudo-features
    and without the correction of the decision.

    Stores samples: up to `memory_size` rows of d float32 features and a class of 8 bytes each.

    Parameters
    ----------
    memory_size : int
        Rows in the reservoir.
    n_replayed : int
        Rows replayed with every batch; one per sample of a batch of 50.
    lr, weight_decay : float
        Of the SGD. The step acts on the squared norm of the features; 0.5 was found on those of
        EfficientNet-Lite0.
    batch_size : int
        Used by `fit` only; `partial_fit` takes a batch as it comes.
    random_state : int, Generator, RandomState or None
        Seed of what is kept and what is replayed.

    Notes
    -----
    Departs from the reference: the network under the head is frozen, so that what is kept is features, not images.
    Sample weights count in the step, not in the chance of being kept.

    References
    ----------
    A. Chaudhry et al., On tiny episodic memories in continual learning, 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> X = X / 16
    >>> by_class = np.argsort(y[:1500], kind="stable")  # the hardest order: one class after the other
    >>> model = ExperienceReplay(memory_size=200, lr=1.0, random_state=0)
    >>> for start in range(0, 1500, 10):
    ...     batch = by_class[start : start + 10]
    ...     model = model.partial_fit(X[batch], y[batch])
    >>> model.score(X[1500:], y[1500:]) > 0.7  # without a memory it would know the last class alone: 0.1
    True
    """

    summary = "plain replay from a reservoir, the baseline of the replay methods"

    def __init__(
        self,
        *,
        memory_size: int = 1000,
        n_replayed: int = 50,
        lr: float = 0.5,
        weight_decay: float = 5e-5,
        batch_size: int = 50,
        random_state: Any = None,
    ) -> None:
        self.memory_size = memory_size
        self.n_replayed = n_replayed
        self.lr = lr
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_whole(n_replayed=self.n_replayed, at_least=1)

    def _make_buffer(self, n_features: int) -> Reservoir:
        return Reservoir(self.memory_size, n_features)

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        replayed, replayed_rows = self._buffer.draw(self.n_replayed, self._rng)
        self._rehearse(X, rows, weights, replayed, replayed_rows)
        self._buffer.add(X, rows, self._rng)
