"""Stored rows of features with their classes: the storage of every replay buffer.

Which rows are stored is decided by the buffer that owns it, see `sample_buffer`.
"""

import numpy as np

from i2cansay.core.state_parts import LARGEST_FEATURE, check_range
from i2cansay.core.types import Features, Float32, Rows, State


class SampleMemory:
    """Up to `size` rows, without gaps, each with the row of its class; float32, since features have no more digits.

    Examples
    --------
    >>> memory = SampleMemory(size=3, n_features=2)
    >>> memory.append(np.eye(2), np.array([0, 1]))
    >>> memory.put(0, np.array([5.0, 5.0]), 1)
    >>> memory.classes, len(memory), memory.n_free, memory.n_bytes
    (array([1, 1]), 2, 1, 32)
    """

    def __init__(self, size: int, n_features: int) -> None:
        self._rows: Float32 = np.zeros((size, n_features), dtype=np.float32)
        self._classes: Rows = np.zeros(size, dtype=np.int64)
        self._held = 0

    def __len__(self) -> int:
        return self._held

    @property
    def size(self) -> int:
        """How many rows there is room for."""
        return len(self._rows)

    @property
    def n_free(self) -> int:
        """How many more rows there is room for."""
        return self.size - self._held

    @property
    def rows(self) -> Float32:
        """The stored rows, (n, d); a view, valid until the next change."""
        return self._rows[: self._held]

    @property
    def classes(self) -> Rows:
        """The rows of their classes, (n,); a view, valid until the next change."""
        return self._classes[: self._held]

    @property
    def n_bytes(self) -> int:
        """Bytes of the stored rows and their classes."""
        return self.rows.nbytes + self.classes.nbytes

    def class_counts(self, n_classes: int) -> Rows:
        """Return how many rows of each of the first `n_classes` classes are stored, (n_classes,) or more."""
        return np.bincount(self.classes, minlength=n_classes)

    def put(self, places: Rows | int, X: Features, classes: Rows | int) -> None:
        """Overwrite the rows at `places`; the place ``len(self)``, the next free one, appends.

        One place with one row (d,), or (n,) places with (n, d) rows, where of two for the same place the later
        stays.
        """
        self._rows[places], self._classes[places] = X, classes
        self._held = max(self._held, int(np.max(places, initial=-1)) + 1)

    def append(self, X: Features, classes: Rows) -> None:
        """Put rows (n, d) of the given classes (n,) behind those stored; there must be room for them."""
        self.put(np.arange(self._held, self._held + len(X)), X, classes)

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Float32, Rows]:
        """Return copies of up to `n` different stored rows and of their classes."""
        chosen = rng.permutation(self._held)[:n]
        return self._rows[chosen], self._classes[chosen]

    def keep(self, places: Rows) -> None:
        """Remove all rows but those at `places`, which then come in that order."""
        self.replace(self._rows[places], self._classes[places])

    def replace(self, rows: Float32, classes: Rows) -> None:
        """Store these rows (n, d) of these classes (n,) instead."""
        rows, classes = rows.copy(), classes.copy()
        before, self._held = self._held, len(rows)
        self._rows[: self._held], self._classes[: self._held] = rows, classes
        self._rows[self._held : before] = 0  # removed rows are erased, not only out of reach

    def resize(self, n_classes: int) -> None:
        """Do nothing: room is kept by sample, not by class."""

    def drop(self, row: int) -> None:
        """Remove the samples of one class; the classes behind it move up."""
        keep = np.flatnonzero(self.classes != row)
        classes = self._classes[keep]
        self.replace(self._rows[keep], classes - (classes > row))

    def discard(self, X: Features, classes: Rows) -> None:
        """Remove stored rows equal to the given samples, one for each."""
        keep = np.ones(self._held, dtype=bool)
        for x, row in zip(X.astype(np.float32), classes, strict=True):
            same = (self.classes == row) & keep
            same[same] = (self.rows[same] == x).all(axis=1)
            keep[np.flatnonzero(same)[:1]] = False
        self.keep(np.flatnonzero(keep))

    def state(self) -> State:
        """Return the stored `rows` and their `classes`."""
        return {"rows": self.rows, "classes": self.classes}

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned, which must be of `n_classes` classes."""
        rows, classes = state["rows"], state["classes"]
        if len(classes) and not 0 <= classes.min() <= classes.max() < n_classes:
            raise ValueError(f"the buffer holds samples of classes beyond the {n_classes} known")
        fits = len(rows) <= self.size and rows.shape[1:] == self._rows.shape[1:]
        if not fits or classes.shape != (len(rows),):
            raise ValueError("the buffer does not fit its declared size and width")
        most = float(
            np.nextafter(np.float32(LARGEST_FEATURE), np.float32(0))
        )  # features are below, not at it
        check_range("a sample of the buffer", rows, -most, most)
        self.replace(rows, classes)
