"""A bounded buffer that stores and replays rows by their Shapley value for a nearest-neighbour classifier."""

import numpy as np

from i2cansay.core.buffers.sample_buffer import SampleBuffer
from i2cansay.core.types import Features, Float32, Rows
from i2cansay.learners.replay.knn_shapley import (
    Extent,
    Labelled,
    adversarial_shapley,
    draw_balanced,
    knn_shapley,
)


class ShapleyBuffer(SampleBuffer):
    """Holds rows that help to classify the others (ASER).

    While there is room all rows enter, and rows are replayed at random. Once it is full, a row is replayed for
    its adversarial value (`knn_shapley.adversarial_shapley`) among candidates drawn evenly from the
    classes; and of the rows that arrive and as many candidates of the buffer, those with the highest values for an
    evenly drawn evaluation set have the places.

    Parameters
    ----------
    n_candidates : int
        Rows valued at a time, and rows they are valued by; at most half of the buffer each.
    n_neighbours : int
        K of the nearest-neighbour classifier.
    extent : {"mean", "extreme"}
        Which adversarial value, see `adversarial_shapley`.

    References
    ----------
    Shim, Mai, Jeong, Sanner, Kim, Jang (2021), Online class-incremental continual learning with adversarial Shapley
    value, AAAI.

    Examples
    --------
    >>> buffer, rng = ShapleyBuffer(size=20, n_features=1), np.random.default_rng(0)
    >>> for _ in range(40):  # two classes side by side, and one label in eight is wrong
    ...     X = rng.uniform(-1, 1, size=(8, 1))
    ...     classes = (X[:, 0] > 0).astype(np.int64)
    ...     classes[0] = 1 - classes[0]
    ...     buffer.add(X, classes, rng)
    >>> right = (buffer.memory.rows[:, 0] > 0) == buffer.memory.classes
    >>> bool(right.mean() > 0.9)
    True
    """

    def __init__(
        self,
        size: int,
        n_features: int,
        *,
        n_candidates: int = 100,
        n_neighbours: int = 3,
        extent: Extent = "mean",
    ) -> None:
        super().__init__(size, n_features)
        self._n_candidates = n_candidates
        self._n_neighbours = n_neighbours
        self._extent = extent

    def retrieve(self, n: int, X: Features, classes: Rows, rng: np.random.Generator) -> tuple[Float32, Rows]:
        """Return up to `n` held rows and their classes, to be replayed with rows (m, d) that arrive."""
        if self.memory.n_free:
            return self.memory.draw(n, rng)
        every = np.arange(len(self.memory))
        candidates = self._draw_balanced(every, rng)
        old = self._draw_balanced(self._others(candidates), rng)
        values = adversarial_shapley(
            self._at(candidates),
            old=self._at(old),
            new=Labelled(X, classes),
            n_neighbours=self._n_neighbours,
            extent=self._extent,
        )
        best = candidates[np.argsort(-values, kind="stable")[:n]]
        return self.memory.rows[best], self.memory.classes[best]

    def add(self, X: Features, classes: Rows, rng: np.random.Generator) -> None:
        """Show rows (n, d) of the given classes (n,)."""
        n_entering = min(self.memory.n_free, len(X))
        self.memory.append(X[:n_entering], classes[:n_entering])
        for start in range(n_entering, len(X), self._n_candidates):
            part = slice(start, start + self._n_candidates)
            self._challenge(Labelled(X[part], classes[part]), rng)

    def _challenge(self, new: Labelled, rng: np.random.Generator) -> None:
        """Give the places of some held rows to those of greatest value among them and the new."""
        evaluation = self._draw_balanced(np.arange(len(self.memory)), rng)
        held = rng.permutation(self._others(evaluation))[: self._half(self._n_candidates)]
        minority = self._minority(new.classes, rng)
        values = knn_shapley(
            _join(self._at(held), new),
            _join(self._at(evaluation), Labelled(new.X[minority], new.classes[minority])),
            self._n_neighbours,
        ).sum(axis=0)
        ranked = np.argsort(-values, kind="stable")
        winners, losers = ranked[: len(held)], ranked[len(held) :]
        entering, leaving = winners[winners >= len(held)] - len(held), held[losers[losers < len(held)]]
        self.memory.put(leaving, new.X[entering], new.classes[entering])

    def _minority(self, classes: Rows, rng: np.random.Generator) -> Rows:
        """Return which of the new rows are of classes with few rows here, fewer than a random part of a fair share.

        They take part in the evaluation; a new class, of which the buffer can draw no evaluation, would otherwise
        have no row of value.
        """
        counts = self.memory.class_counts(int(classes.max()) + 1)
        n_classes = len(np.union1d(self.memory.classes, classes))
        return np.flatnonzero(counts[classes] < rng.random() * len(self.memory) / n_classes)

    def _draw_balanced(self, places: Rows, rng: np.random.Generator) -> Rows:
        """Return up to `n_candidates` of these places, evenly drawn from the classes."""
        classes = self.memory.classes[places]
        per_class = max(1, self._half(self._n_candidates) // len(np.unique(classes)))
        return places[draw_balanced(classes, per_class, rng)]

    def _others(self, places: Rows) -> Rows:
        """Return all held places but these; where there are no others, all."""
        others = np.setdiff1d(np.arange(len(self.memory)), places, assume_unique=True)
        return others if len(others) else np.arange(len(self.memory))

    def _half(self, n: int) -> int:
        return min(n, (len(self.memory) + 1) // 2)

    def _at(self, places: Rows) -> Labelled:
        return Labelled(self.memory.rows[places], self.memory.classes[places])


def _join(one: Labelled, other: Labelled) -> Labelled:
    return Labelled(
        np.concatenate([one.X, other.X], dtype=np.float32), np.concatenate([one.classes, other.classes])
    )
