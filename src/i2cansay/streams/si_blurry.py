"""Si-Blurry: sessions with blurred borders, in which old classes reappear."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from i2cansay.streams.stream import Batch, Labels, Stream, batches_of_pass, require


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SiBlurryStream(Stream):
    """Every class has a home session; some classes stay in it, the others spill into all sessions.

    The classes are dealt to the sessions in turn, so that sessions differ by at most one class. Every row comes
    exactly once.

    Parameters
    ----------
    sessions : int
        Number of sessions.
    disjoint : float
        Share of the classes whose rows all come in their home session.
    blurry : float
        Share of the rows of the other classes that is scattered over all sessions at random (the home
        session among them).

    Examples
    --------
    >>> stream = SiBlurryStream(y=np.repeat(np.arange(4), 100), sessions=2, batch_size=400)
    >>> for batch in stream:
    ...     print(np.bincount(stream.y[batch.rows], minlength=4))
    [ 90   2   0 100]
    [ 10  98 100   0]
    """

    name: ClassVar[str] = "si_blurry"
    has_sessions: ClassVar[bool] = True

    sessions: int = 5
    disjoint: float = 0.5
    blurry: float = 0.1

    def check(self) -> None:
        """Raise ValueError if a share is not from 0 to 1, or a session would have no class."""
        wanted = f"from 1 to {self.classes.size}, the number of classes in the labels"
        require(1 <= self.sessions <= self.classes.size, "sessions", wanted, self.sessions)
        require(0 <= self.disjoint <= 1, "disjoint", "a share from 0 to 1", self.disjoint)
        require(0 <= self.blurry <= 1, "blurry", "a share from 0 to 1", self.blurry)

    def arrange(self, classes: Labels, rng: np.random.Generator) -> Iterable[Batch]:
        """Assign every row to a session, then yield the sessions, each shuffled."""
        session_of_row = np.empty(self.y.size, dtype=np.int64)
        for position, label in enumerate(classes):
            session_of_row[self.y == label] = position % self.sessions
        n_disjoint = round(self.disjoint * classes.size)
        blurred = self.rows_of(classes[n_disjoint:])
        scattered = rng.choice(blurred, size=round(self.blurry * blurred.size), replace=False)
        session_of_row[scattered] = rng.integers(self.sessions, size=scattered.size)
        for session in range(self.sessions):
            rows = rng.permutation(np.flatnonzero(session_of_row == session))
            yield from batches_of_pass(rows, self.batch_size, session)
