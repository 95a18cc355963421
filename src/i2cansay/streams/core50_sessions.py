"""CoRe50's class-incremental protocol: ten classes, then eight times five."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from i2cansay.streams.stream import Batch, Labels, Stream, batches_of_pass, require

FIRST_SESSION = 10
LATER_SESSION = 5
N_CLASSES = 50


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Core50Stream(Stream):
    """Nine sessions over 50 classes, the first of ten, the others of five; rows of a session shuffled.

    Parameters
    ----------
    groups : {"random", "consecutive"}
        "random": a random class order, cut into 10 + 8 x 5. "consecutive", as in the notebook of DSDM: the sorted
        labels are cut into 10 + 8 x 5 and the sessions come in random order, so that the session of ten classes can
        come at any time.
    max_batches : int or None
        Most batches per session (DSDM: 55); the other rows of the session never come. None: all rows.

    Examples
    --------
    >>> stream = Core50Stream(y=np.repeat(np.arange(50), 20), batch_size=100)
    >>> [batch.session for batch in stream]
    [0, 0, 1, 2, 3, 4, 5, 6, 7, 8]
    """

    name: ClassVar[str] = "core50"
    has_sessions: ClassVar[bool] = True

    groups: str = "random"
    max_batches: int | None = None

    def check(self) -> None:
        """Raise ValueError unless there are exactly 50 classes."""
        if self.classes.size != N_CLASSES:
            raise ValueError(
                f"the stream 'core50' expects labels of {N_CLASSES} classes, got {self.classes.size}; "
                "use step:5 for another number"
            )
        require(self.groups in ("random", "consecutive"), "groups", "'random' or 'consecutive'", self.groups)
        require(
            self.max_batches is None or self.max_batches >= 1, "max_batches", "at least 1", self.max_batches
        )

    def arrange(self, classes: Labels, rng: np.random.Generator) -> Iterable[Batch]:
        """Yield the batches session by session."""
        cuts = range(FIRST_SESSION, N_CLASSES, LATER_SESSION)
        if self.groups == "random":
            groups = np.split(classes, cuts)
        else:
            in_order = np.split(self.classes, cuts)
            groups = [in_order[position] for position in rng.permutation(len(in_order))]
        for session, group in enumerate(groups):
            rows = rng.permutation(self.rows_of(group))
            yield from batches_of_pass(rows, self.batch_size, session)[: self.max_batches]
