"""A learnt linear embedding, and a slowly moving prototype of unit length per class in it."""

import numpy as np

from i2cansay.core.linalg.blas import inner
from i2cansay.core.linalg.row_buffer import RowBuffer
from i2cansay.core.state_parts import check_range
from i2cansay.core.types import Features, Float32, Float64, Rows, State
from i2cansay.learners.memory.prototype_loss import unit_rows


class Embedding:
    """``x -> W x / |W x|``, from d features to `width` dimensions; W starts as the identity.

    A narrower W is drawn by `draw`, as a random orthogonal map.
    """

    def __init__(self, n_features: int, width: int) -> None:
        self._map: Float32 = np.eye(width, n_features, dtype=np.float32)
        self._drawn = width == n_features

    def draw(self, rng: np.random.Generator) -> None:
        """Draw a map to fewer dimensions, unless that has been done."""
        if not self._drawn:
            directions = rng.standard_normal(self._map.shape[::-1])
            self._map = np.ascontiguousarray(np.linalg.qr(directions)[0].T, dtype=np.float32)
            self._drawn = True

    def of(self, X: Features) -> tuple[Features, Features]:
        """Return the embedding of rows (n, d), (n, m) of unit length, and the lengths before, (n, 1)."""
        return unit_rows(inner(X, self._map).astype(np.float64))

    @property
    def map(self) -> Float32:
        """The map W, (m, d); a view."""
        return self._map

    def resize(self, n_classes: int) -> None:
        """Do nothing: all classes share the map."""

    def drop(self, row: int) -> None:
        """Do nothing: all classes share the map."""

    def state(self) -> State:
        """Return the `map`, (m, d)."""
        return {"map": self._map}

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned, which must be of this shape."""
        if state["map"].shape != self._map.shape:
            raise ValueError(f"the map should be of shape {self._map.shape}, not {state['map'].shape}")
        self._map, self._drawn = np.array(state["map"], dtype=np.float32), True


class Prototypes:
    """A prototype per class, (c, m), of unit length or shorter, and how often each was updated.

    Examples
    --------
    >>> prototypes = Prototypes(width=2)
    >>> prototypes.resize(1)
    >>> prototypes.begin(np.array([[0.0, 1.0]]), np.array([0]), np.ones(1))
    >>> prototypes.move(np.array([[6.0, 8.0]]), np.array([2.0]), momentum=0.9)  # the first update counts in full
    >>> prototypes.values
    array([[0.6, 0.8]])
    """

    def __init__(self, width: int) -> None:
        self._values = RowBuffer(width=width, dtype=np.float64)
        self._updates = RowBuffer(width=None, dtype=np.int64)

    @property
    def values(self) -> Float64:
        """The prototypes, (c, m); a view."""
        return self._values.view

    def begin(self, embedded: Features, classes: Rows, weights: Float64) -> None:
        """Give the classes that have none a prototype to take the first step by: the mean of their rows, (n, m)."""
        for row in np.unique(classes[self._updates.view[classes] == 0]).tolist():
            own = classes == row
            mean = np.average(embedded[own], axis=0, weights=weights[own])
            self.values[row] = unit_rows(mean[None])[0]

    def move(self, sums: Float64, counts: Float64, *, momentum: float, unit: bool = True) -> None:
        """Move every class with rows, of these sums (c, m) and weights (c,), towards their mean.

        With `unit` the prototypes are then scaled to length one; without it they become shorter.
        """
        moved = np.flatnonzero(counts)
        updates = self._updates.view[moved]
        keep = np.minimum(momentum, updates / (updates + 1.0))[:, None]
        old, mean = self.values[moved], sums[moved] / counts[moved, None]
        new = keep * old + (1.0 - keep) * mean
        self.values[moved] = unit_rows(new)[0] if unit else new
        self._updates.view[moved] += 1

    def resize(self, n_classes: int) -> None:
        """Grow to `n_classes` classes; the new ones have no prototype yet."""
        self._values.resize(n_classes)
        self._updates.resize(n_classes)

    def drop(self, row: int) -> None:
        """Remove the prototype of one class."""
        self._values.drop(row)
        self._updates.drop(row)

    def state(self) -> State:
        """Return `values` and `updates`."""
        return {"values": self.values, "updates": self._updates.view}

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned, which must be of `n_classes` classes of this width."""
        expected = {"values": (n_classes, self.values.shape[1]), "updates": (n_classes,)}
        for name, shape in expected.items():
            if state[name].shape != shape:
                raise ValueError(
                    f"the prototypes' {name} should be of shape {shape}, not {state[name].shape}"
                )
        check_range("the updates of a class", state["updates"])
        check_range("the prototypes", state["values"], -1.001, 1.001)  # of unit length or shorter
        self._values.set(state["values"])
        self._updates.set(state["updates"])
