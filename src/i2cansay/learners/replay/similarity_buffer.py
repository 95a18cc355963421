"""A bounded buffer that prefers rows whose gradients are unlike those it holds (GSS-Greedy)."""

import numpy as np

from i2cansay.core.buffers.sample_buffer import SampleBuffer
from i2cansay.core.paper.head import LinearHead
from i2cansay.core.state_parts import check_range
from i2cansay.core.types import Features, Float32, Float64, Rows, State
from i2cansay.learners.replay.head_gradients import UnitGradients, batch_direction

# The score of rows that nothing can be compared with: as if at a right angle to everything.
UNCOMPARED = 1.0


class SimilarityBuffer(SampleBuffer):
    """Every row has a score: the highest cosine of its gradient with those of a few random held batches, plus 1.

    While there is room all rows enter. Then, if the gradient of a whole batch points away from all it is compared
    with (its score is below 1), each of its rows challenges a held row drawn in proportion to the held scores C, and
    takes its place with probability C / (C + c), c its own. A score is that of the moment of entering; it is not
    computed again.

    Parameters
    ----------
    n_compared : int
        Held batches that the rows are compared with.
    compared_rows : int
        Rows in each of them.

    Notes
    -----
    In batches of one row and with `compared_rows` 1 this is the published algorithm to the letter. Comparing whole
    batches, and letting the batch decide together, is how its authors run it.

    References
    ----------
    Aljundi, Lin, Goujaud, Bengio (2019), Gradient based sample selection for online continual learning, NeurIPS
    (Algorithm 2).

    Examples
    --------
    >>> head = LinearHead(n_features=1, bias=True)
    >>> head.resize(2)
    >>> rng = np.random.default_rng(0)
    >>> buffer = SimilarityBuffer(size=10, n_features=1, n_compared=3, compared_rows=1)
    >>> for row in np.repeat([0, 1], [90, 10]):  # nine times as many of one class
    ...     buffer.add(np.ones((1, 1)), np.array([row]), head, rng)
    >>> buffer.memory.class_counts(2)
    array([5, 5])
    """

    def __init__(self, size: int, n_features: int, *, n_compared: int = 10, compared_rows: int = 50) -> None:
        super().__init__(size, n_features)
        self._scores: Float64 = np.zeros(size)
        self._n_compared = n_compared
        self._compared_rows = compared_rows

    @property
    def scores(self) -> Float64:
        """The scores of the held rows, (n,), from 0 to 2; a view."""
        return self._scores[: len(self.memory)]

    def add(self, X: Features, classes: Rows, head: LinearHead, rng: np.random.Generator) -> None:
        """Show rows (n, d) of the given classes (n,), a batch."""
        batch_score, scores = self._score(X, classes, head, rng)
        n_entering = min(self.memory.n_free, len(X))
        places = len(self.memory) + np.arange(n_entering)
        self.memory.put(places, X[:n_entering], classes[:n_entering])
        self._scores[places] = scores[:n_entering]
        if batch_score >= 1:
            return
        for row in range(n_entering, len(X)):
            place = self._draw_held(rng)
            if rng.random() * (self._scores[place] + scores[row]) < self._scores[place]:
                self.memory.put(place, X[row], classes[row])
                self._scores[place] = scores[row]

    def _score(
        self, X: Features, classes: Rows, head: LinearHead, rng: np.random.Generator
    ) -> tuple[float, Float64]:
        """Return the score of the batch and of each of its rows, (n,)."""
        held = self._held_directions(head, rng)
        if not held:
            return UNCOMPARED, np.full(len(X), UNCOMPARED)
        whole, gradients = batch_direction(head, X, classes), UnitGradients.of(head, X, classes)
        batch_cosine = max(float(np.vdot(whole, direction)) for direction in held)
        cosines = np.max([gradients.along(direction) for direction in held], axis=0)
        # Rounding may leave the range, and a score below zero is no weight to draw by.
        return batch_cosine + 1, np.clip(cosines, -1.0, 1.0) + 1

    def _held_directions(self, head: LinearHead, rng: np.random.Generator) -> list[Float32]:
        """Return the directions of up to `n_compared` disjoint random batches of held rows."""
        size = min(self._compared_rows, max(len(self.memory), 1))
        n_batches = min(self._n_compared, len(self.memory) // size)
        drawn = (
            rng.choice(len(self.memory), n_batches * size, replace=False) if n_batches else np.empty(0, int)
        )
        return [
            batch_direction(head, self.memory.rows[places], self.memory.classes[places])
            for places in drawn.reshape(n_batches, size)
        ]

    def _draw_held(self, rng: np.random.Generator) -> int:
        """Return a held place with a probability in proportion to its score."""
        up_to = np.cumsum(self.scores)
        if not up_to[-1] > 0:
            return int(rng.integers(len(up_to)))
        place = np.searchsorted(up_to, rng.random() * up_to[-1], side="right")
        return min(int(place), len(up_to) - 1)

    def drop(self, row: int) -> None:
        """Remove the samples of one class; the classes behind it move up."""
        left = self.scores[self.memory.classes != row]
        super().drop(row)
        self._scores[: len(left)] = left

    def state(self) -> State:
        """Return the held rows, their classes and their scores."""
        return {**super().state(), "scores": self.scores}

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned, which must be of `n_classes` classes."""
        super().restore(state, n_classes)
        if state["scores"].shape != (len(self.memory),):
            raise ValueError(f"expected a score for each of the {len(self.memory)} rows of the buffer")
        check_range("the scores of the buffer", state["scores"], 0, 2)
        self._scores[: len(self.memory)] = state["scores"]
