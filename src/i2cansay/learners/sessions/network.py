"""The trainable layers above the frozen encoder: a linear layer, or one hidden layer of rectified units below it.

Symbols: x a feature (d), h = max(A x + a, 0) the hidden units, or x itself where there are none, z = W h + b the
logits. Gradients are written out by hand; tests compare them with finite differences.
"""

import numpy as np
from numpy.typing import DTypeLike

from i2cansay.core.linalg.blas import add_outer, inner, product
from i2cansay.core.linalg.row_buffer import RowBuffer
from i2cansay.core.part_bytes import room
from i2cansay.core.types import Features, Rows, State

Arrays = dict[str, Features]
"""Weights, or something of the same shapes as their gradients, by name."""


class Network:
    """Weights by name, with a row of `weights` and a number of `bias` per class, that start at zero.

    A penalty or a statistic that has a number for each weight is a `Network` too: it grows with the classes as the
    weights do.

    Parameters
    ----------
    n_features : int
    hidden : int
        Rectified units between features and logits; 0 for a linear layer.
    dtype : data type
        float32, except where gradients are checked.

    Examples
    --------
    >>> network = Network(n_features=2, hidden=3)
    >>> network.draw(np.random.default_rng(0))
    >>> network.resize(4)
    >>> {name: array.shape for name, array in network.arrays().items()}
    {'weights': (4, 3), 'bias': (4,), 'hidden_weights': (3, 2), 'hidden_bias': (3,)}
    >>> network.logits(network.units(np.eye(2, dtype=np.float32))).shape
    (2, 4)
    """

    def __init__(self, n_features: int, hidden: int, dtype: DTypeLike = np.float32) -> None:
        self._weights = RowBuffer(width=hidden or n_features, dtype=dtype)
        self._bias = RowBuffer(width=None, dtype=dtype)
        self._hidden: Arrays = {}
        if hidden:
            self._hidden = {
                "hidden_weights": np.zeros((hidden, n_features), dtype=dtype),
                "hidden_bias": np.zeros(hidden, dtype=dtype),
            }

    def draw(self, rng: np.random.Generator) -> None:
        """Draw the hidden weights; at zero, no gradient would ever reach them."""
        if self._hidden:
            weights = self._hidden["hidden_weights"]
            # Such that a unit has the mean square of a feature (He et al. 2015).
            weights[:] = rng.normal(scale=np.sqrt(2 / weights.shape[1]), size=weights.shape)

    def arrays(self) -> Arrays:
        """Return the arrays by name; views, to read and to write, valid until it grows."""
        return {"weights": self._weights.view, "bias": self._bias.view, **self._hidden}

    @property
    def has_hidden(self) -> bool:
        """Whether there are hidden units."""
        return bool(self._hidden)

    @property
    def first_layer(self) -> str:
        """The name of the weights that multiply the features."""
        return "hidden_weights" if self._hidden else "weights"

    @property
    def first_outputs(self) -> int:
        """The number of rows of these weights."""
        return len(self.arrays()[self.first_layer])

    def units(self, X: Features) -> Features:
        """Return the hidden units of rows (n, d), or the rows themselves where there are none."""
        if not self._hidden:
            return X
        return self.activate(inner(X, self._hidden["hidden_weights"]))

    def activate(self, inputs: Features) -> Features:
        """Return the hidden units, given what the hidden weights make of rows, (n, hidden), which is changed."""
        inputs += self._hidden["hidden_bias"]
        return np.maximum(inputs, 0, out=inputs)

    def logits(self, units: Features) -> Features:
        """Return the logits, (n, c), of what `units` returned."""
        logits = inner(units, self._weights.view)
        logits += self._bias.view
        return logits

    def gradients(self, X: Features, units: Features, error: Features, into: Arrays | None = None) -> Arrays:
        """Return the gradients of a loss, given that by the logits, (n, c), of rows (n, d) and their `units`.

        Parameters
        ----------
        into : dict of arrays, optional
            What an earlier call returned; it is written over, and no memory is asked for.
        """
        found = {} if into is None else into
        if not self._hidden:
            found["weights"] = outer(error, units, into=found.get("weights"))
            found["bias"] = error.sum(axis=0)
            return found
        below = self.output_gradients(units, error, found)
        found["hidden_weights"] = outer(below, X, into=found.get("hidden_weights"))
        return found

    def output_gradients(self, units: Features, error: Features, into: Arrays) -> Features:
        """Write the gradients by all arrays but the hidden weights; return that by what goes into the units."""
        into["weights"] = outer(error, units, into=into.get("weights"))
        into["bias"] = error.sum(axis=0)
        below: Features = product(error, self._weights.view)
        below *= units > 0
        into["hidden_bias"] = below.sum(axis=0)
        return below

    def resize(self, n_classes: int) -> None:
        """Grow to `n_classes` classes; what belongs to the new ones is zero."""
        self._weights.resize(n_classes)
        self._bias.resize(n_classes)

    def drop(self, row: int) -> None:
        """Remove one class; the hidden layer stays."""
        self._weights.drop(row)
        self._bias.drop(row)

    def state(self) -> State:
        """Return `arrays`."""
        return dict(self.arrays())

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned, which must be of `n_classes` classes and this width."""
        for name, array in self.arrays().items():
            expected = (n_classes, *array.shape[1:]) if name in ("weights", "bias") else array.shape
            if state[name].shape != expected:
                raise ValueError(
                    f"the network's {name} should be of shape {expected}, not {state[name].shape}"
                )
        self._weights.set(state["weights"])
        self._bias.set(state["bias"])
        for name, array in self._hidden.items():
            array[:] = state[name]


def outer(a: Features, b: Features, into: Features | None = None) -> Features:
    """Return ``a.T @ b`` for (n, c) and (n, d), in the precision of `b`; written over `into`, if there is one."""
    found = np.zeros((a.shape[1], b.shape[1]), dtype=b.dtype) if into is None else into
    if found.size:
        add_outer(found, a, b, scale=1.0, keep=0.0)
    return found


def network_bytes(n_features: int, hidden: int, n_classes: int) -> int:
    """Return the bytes of a `Network` in float32."""
    return 4 * (room(n_classes) * ((hidden or n_features) + 1) + hidden * (n_features + 1))


def shuffled_batches(n: int, size: int, rng: np.random.Generator) -> list[Rows]:
    """Return one pass over `n` rows in random order, cut into batches.

    Examples
    --------
    >>> [len(batch) for batch in shuffled_batches(5, 2, np.random.default_rng(0))]
    [2, 2, 1]
    """
    order = rng.permutation(n)
    return [order[start : start + size] for start in range(0, n, size)]


def balanced_draw(classes: Rows, n_each: int, rng: np.random.Generator) -> Rows:
    """Return the numbers of up to `n_each` rows of every class, drawn without replacement.

    Parameters
    ----------
    classes : (n,) rows of the classes of the samples

    Examples
    --------
    >>> chosen = balanced_draw(np.array([0, 0, 0, 7, 0]), 2, np.random.default_rng(0))
    >>> len(chosen), 3 in chosen
    (3, True)
    """
    order = rng.permutation(len(classes))
    order = order[np.argsort(classes[order], kind="stable")]
    found = classes[order]
    starts = np.flatnonzero(np.diff(found, prepend=-1))
    place = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    chosen: Rows = order[place < n_each]
    return chosen
