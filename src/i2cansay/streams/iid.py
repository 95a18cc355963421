"""All rows in random order: the easy case, for comparison."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from i2cansay.streams.stream import Batch, Labels, Stream, batches_in_stretches, batches_of_pass, require


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class IidStream(Stream):
    """Every row once, shuffled over the whole stream.

    Parameters
    ----------
    points : int
        Stretches at whose ends the evaluator measures; they are not sessions.

    Examples
    --------
    >>> stream = IidStream(y=np.repeat(["a", "b"], 100), points=4)
    >>> len(stream), stream.n_sessions, stream.has_sessions
    (4, 4, False)
    """

    name: ClassVar[str] = "iid"
    has_sessions: ClassVar[bool] = False

    points: int = 10

    def check(self) -> None:
        """Raise ValueError if there would be no evaluation point."""
        require(self.points >= 1, "points", "at least 1", self.points)

    def arrange(self, classes: Labels, rng: np.random.Generator) -> Iterable[Batch]:
        """Return the shuffled rows in batches."""
        batches = batches_of_pass(rng.permutation(self.y.size), self.batch_size, session=0)
        return batches_in_stretches([batch.rows for batch in batches], self.points)
