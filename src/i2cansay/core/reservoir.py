"""A bounded, uniform sample of everything that has passed (for the buffer of Tables 4 and 5)."""

import numpy as np

from i2cansay.core.types import Features, Float32, Rows, State


class Reservoir:
    """Holds up to `size` of the rows shown, each with the same chance of being among them.

    Rows that are thrown out (a class forgotten, a sample unlearnt) free their place for the next to come.

    Examples
    --------
    >>> reservoir = Reservoir(size=2, n_features=1)
    >>> reservoir.add(np.arange(5.0)[:, None], np.zeros(5, dtype=np.int64), np.random.default_rng(0))
    >>> len(reservoir)
    2
    """

    def __init__(self, size: int, n_features: int) -> None:
        self._rows: Float32 = np.zeros((size, n_features), dtype=np.float32)
        self._classes: Rows = np.zeros(size, dtype=np.int64)
        self._held = 0
        self._seen = 0

    def __len__(self) -> int:
        return self._held

    def add(self, X: Features, classes: Rows, rng: np.random.Generator) -> None:
        """Show rows (n, d) of the given classes (n,): algorithm R, a batch at a time."""
        size, arriving = len(self._rows), np.arange(len(X))
        free = self._held + arriving
        slot = np.where(free < size, free, rng.integers(0, self._seen + arriving + 1))
        for row, target in enumerate(slot.tolist()):
            if target < size:
                self._rows[target], self._classes[target] = X[row], classes[row]
        self._held = min(size, self._held + len(X))
        self._seen += len(X)

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Float32, Rows]:
        """Return up to `n` different held rows and their classes."""
        chosen = rng.permutation(self._held)[:n]
        return self._rows[chosen], self._classes[chosen]

    def drop(self, row: int) -> None:
        """Throw out the samples of one class; the classes behind it move up."""
        keep = np.flatnonzero(self._classes[: self._held] != row)
        classes = self._classes[keep]
        self._set(self._rows[keep], classes - (classes > row))

    def discard(self, X: Features, classes: Rows) -> None:
        """Throw out held rows equal to the given samples."""
        keep = np.ones(self._held, dtype=bool)
        for x, row in zip(X.astype(np.float32), classes, strict=True):
            same = (self._classes[: self._held] == row) & keep
            same[same] = (self._rows[: self._held][same] == x).all(axis=1)
            keep[np.flatnonzero(same)[:1]] = False
        kept = np.flatnonzero(keep)
        self._set(self._rows[kept], self._classes[kept])

    def merge(self, other: "Reservoir", rows: Rows, rng: np.random.Generator) -> None:
        """Become a uniform sample of both streams; class i of `other` is class ``rows[i]`` here."""
        size, seen = len(self._rows), self._seen + other._seen
        total = min(size, self._held + other._held)
        mine = (
            int(rng.hypergeometric(self._seen, other._seen, total)) if self._seen and other._seen else total
        )
        mine = min(max(mine if self._seen else 0, total - other._held), self._held)
        own, own_classes = self.draw(mine, rng)
        theirs, their_classes = other.draw(total - mine, rng)
        self._set(np.concatenate([own, theirs]), np.concatenate([own_classes, rows[their_classes]]))
        self._seen = seen

    def _set(self, rows: Float32, classes: Rows) -> None:
        rows, classes = rows.copy(), classes.copy()
        self._held = len(rows)
        self._rows[: self._held], self._classes[: self._held] = rows, classes
        self._rows[self._held :] = 0

    def state(self) -> State:
        """Return the held rows, their classes and how many were seen."""
        return {
            "rows": self._rows[: self._held],
            "classes": self._classes[: self._held],
            "seen": np.array([self._seen]),
        }

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` gave, which must be of `n_classes` classes."""
        rows, classes = state["rows"], state["classes"]
        if len(classes) and not 0 <= classes.min() <= classes.max() < n_classes:
            raise ValueError(f"the buffer holds samples of classes beyond the {n_classes} known")
        fits = len(rows) <= len(self._rows) and rows.shape[1:] == self._rows.shape[1:]
        if not fits or classes.shape != (len(rows),) or state["seen"].shape != (1,):
            raise ValueError("the buffer does not fit its declared size and width")
        self._set(rows, classes)
        self._seen = int(state["seen"][0])
