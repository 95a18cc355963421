"""Step partition: a few classes per session, in random order."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from i2cansay.streams.stream import Batch, Labels, Stream, batches_of_pass, require


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StepStream(Stream):
    """Sessions of `classes_per_session` classes in random order; the rows of a session are shuffled.

    The last session has fewer classes if the step does not divide their number.

    Parameters
    ----------
    classes_per_session : int
        The step: classes that arrive together.
    epochs : int
        Passes over the rows of a session before the next session begins, each in a new order. More than one is the
        offline protocol, not a single pass.

    Examples
    --------
    >>> stream = StepStream(y=np.array([0, 1, 2, 0, 1, 2]), classes_per_session=1, batch_size=2)
    >>> [stream.y[batch.rows].tolist() for batch in stream]
    [[0, 0], [2, 2], [1, 1]]
    """

    name: ClassVar[str] = "step"
    has_sessions: ClassVar[bool] = True

    classes_per_session: int
    epochs: int = 1

    def check(self) -> None:
        """Raise ValueError if the step is larger than the number of classes."""
        wanted = f"from 1 to {self.classes.size}, the number of classes in the labels"
        require(
            1 <= self.classes_per_session <= self.classes.size,
            "classes_per_session",
            wanted,
            self.classes_per_session,
        )
        require(self.epochs >= 1, "epochs", "at least 1", self.epochs)

    def arrange(self, classes: Labels, rng: np.random.Generator) -> Iterable[Batch]:
        """Yield the batches session by session, epoch by epoch."""
        for session, start in enumerate(range(0, classes.size, self.classes_per_session)):
            rows = self.rows_of(classes[start : start + self.classes_per_session])
            for _ in range(self.epochs):
                yield from batches_of_pass(rng.permutation(rows), self.batch_size, session)
