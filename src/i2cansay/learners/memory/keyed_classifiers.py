"""Many linear classifiers behind fixed keys, of which each sample asks and teaches the few whose keys are nearest.

With x the encoding at unit length, s_m the cosine of x and key m, and the sums over the `n_active` nearest keys:

    output_c = sum_m s_m B tanh((w_mc x + b_mc) / B) / sum_m s_m        (B = 250)
    loss     = -mean over the batch of output_y
    w        <- (1 - lr decay) w - lr sign(gradient)                    (b alike)

The loss of a sample touches the weights of its own class only, in its own classifiers only: nothing that another
class has learnt is ever pushed away, which is what keeps such an ensemble from forgetting.
"""

from typing import NamedTuple

import numpy as np

from i2cansay.core.linalg.blas import add_outer, inner
from i2cansay.core.state_parts import check_range
from i2cansay.core.types import Features, Float32, Rows, State

# Of the outputs, as published; the tanh is all but linear until weights have grown for very long.
BOUND = np.float32(250.0)
# Below every cosine that is among the highest of many keys: with few keys in few dimensions one may be negative.
SMALLEST_SIMILARITY = np.float32(1e-6)
# The decay of all weights is kept as one factor; below this value it is applied to them.
SMALLEST_SCALE = 0.5
# Classes whose weights are one array. More classes open another; what is there is never copied.
CLASS_BLOCK = 16


class Lookup(NamedTuple):
    """Samples and the classifiers they ask."""

    encodings: Float32
    """(n, d), at unit length (or zero)."""
    active: Rows
    """(n, k), the classifiers with the nearest keys."""
    shares: Float32
    """(n, k), how much each of them counts; a row sums to one."""

    def of(self, rows: Rows) -> "Lookup":
        """Return the same of some of the samples."""
        return Lookup(self.encodings[rows], self.active[rows], self.shares[rows])


def look_up(X: Features, keys: Float32, n_active: int) -> Lookup:
    """Find the `n_active` nearest keys, (m, d) at unit length, by the cosine with X, (n, d).

    Examples
    --------
    >>> found = look_up(np.array([[0.0, 5.0]]), np.array([[0, 1], [0.8, 0.6], [1, 0]], dtype=np.float32), 2)
    >>> sorted(found.active[0].tolist()), round(float(found.shares.max()), 3)
    ([0, 1], 0.625)
    """
    length = np.sqrt(np.einsum("nd,nd->n", X, X))
    encodings = (X / np.where(length > 0, length, 1)[:, None]).astype(np.float32)
    cosines: Float32 = inner(encodings, keys)
    k = min(n_active, len(keys))
    active: Rows = np.argpartition(-cosines, k - 1, axis=1)[:, :k]
    shares = np.maximum(np.take_along_axis(cosines, active, axis=1), SMALLEST_SIMILARITY)
    return Lookup(encodings, active, shares / shares.sum(axis=1, keepdims=True))


class KeyedClassifiers:
    """Weights, (m, c, d), and biases, (m, c), of m classifiers, starting at zero.

    Examples
    --------
    >>> keys = np.array([[1, 0], [0, 1], [-1, 0]], dtype=np.float32)
    >>> classifiers = KeyedClassifiers(n_classifiers=3, n_features=2)
    >>> classifiers.resize(2)
    >>> samples = look_up(np.array([[1.0, 0.1], [-1.0, 0.1]]), keys, n_active=1)
    >>> classifiers.step(samples, np.array([0, 1]), np.full(2, 0.5), lr=0.1, weight_decay=0.0)
    >>> classifiers.outputs(samples).round(2)
    array([[0.21, 0.  ],
           [0.  , 0.21]], dtype=float32)
    """

    def __init__(self, n_classifiers: int, n_features: int) -> None:
        self._n_features = n_features
        # Arrays of CLASS_BLOCK classes each. Zeros that were never written take no memory from the system.
        self._weights: list[Float32] = []
        self._biases: Float32 = np.zeros((n_classifiers, 0), dtype=np.float32)
        self._n_classes = 0
        self._scale = 1.0

    @property
    def weights(self) -> Float32:
        """The weights, (m, c, d), a copy."""
        return self._together() * np.float32(self._scale)

    @property
    def biases(self) -> Float32:
        """The biases, (m, c), a copy."""
        return self._biases[:, : self._n_classes] * np.float32(self._scale)

    def resize(self, n_classes: int) -> None:
        """Grow to `n_classes` classes; the new ones are zero."""
        n_classifiers = len(self._biases)
        while n_classes > len(self._weights) * CLASS_BLOCK:
            shape = (n_classifiers, CLASS_BLOCK, self._n_features)
            self._weights.append(np.zeros(shape, dtype=np.float32))
            more = np.zeros((n_classifiers, CLASS_BLOCK), dtype=np.float32)
            self._biases = np.concatenate([self._biases, more], axis=1)
        self._n_classes = n_classes

    def drop(self, row: int) -> None:
        """Remove the weights of one class."""
        last = self._n_classes - 1
        for later in range(row, last):
            self._of_class(later)[:] = self._of_class(later + 1)
        self._of_class(last)[:] = 0
        self._biases[:, row:last] = self._biases[:, row + 1 : last + 1]
        self._biases[:, last] = 0
        self._n_classes -= 1

    def _of_class(self, row: int) -> Float32:
        """Return the weights of one class, (m, d), a view."""
        return self._weights[row // CLASS_BLOCK][:, row % CLASS_BLOCK]

    def _together(self) -> Float32:
        """Return the weights before the decay, (m, c, d)."""
        empty: Float32 = np.zeros((len(self._biases), 0, self._n_features), dtype=np.float32)
        return np.concatenate([empty, *self._weights], axis=1)[:, : self._n_classes]

    def _values(self, encodings: Float32, classifier: int) -> Float32:
        """Return what one classifier says of every class before the decay, (n, c)."""
        values = np.empty((len(encodings), self._n_classes), dtype=np.float32)
        for block, weights in enumerate(self._weights):
            start = block * CLASS_BLOCK
            stop = min(start + CLASS_BLOCK, self._n_classes)
            if stop > start:
                values[:, start:stop] = inner(encodings, weights[classifier, : stop - start])
        values += self._biases[classifier, : self._n_classes]
        return values

    def outputs(self, samples: Lookup) -> Float32:
        """Return the ensemble's output for each class, (n, c)."""
        outputs = np.zeros((len(samples.encodings), self._n_classes), dtype=np.float32)
        k = samples.active.shape[1]
        order = np.argsort(samples.active, axis=None, kind="stable")
        asked, starts = np.unique(samples.active.ravel()[order], return_index=True)
        for classifier, places in zip(asked.tolist(), np.split(order, starts[1:]), strict=True):
            rows = places // k
            values = self._values(samples.encodings[rows], classifier)
            outputs[rows] += samples.shares.ravel()[places, None] * self._bounded(values)
        return outputs

    def _bounded(self, values: Float32) -> Float32:
        values *= np.float32(self._scale) / BOUND
        np.tanh(values, out=values)
        values *= BOUND
        return values

    def gradient(self, samples: Lookup, row: int, weights: Features) -> tuple[Rows, Float32, Float32]:
        """Return which classifiers samples of class `row` touch, and the gradient of their loss there.

        Parameters
        ----------
        samples : Lookup of (n, d) encodings, all of this class
        weights : (n,) weight of each sample's loss

        Returns
        -------
        touched : (t,) classifiers
        by_weights : (t, d)
        by_biases : (t,)
        """
        touched, places = np.unique(samples.active, return_inverse=True)
        values: Float32 = inner(samples.encodings, self._of_class(row)[touched])
        values += self._biases[touched, row]
        slopes = 1 - (self._bounded(values) / BOUND) ** 2
        shares = np.zeros_like(slopes)
        np.put_along_axis(shares, places.reshape(samples.active.shape), samples.shares, axis=1)
        error = -weights[:, None].astype(np.float32) * shares * slopes
        by_weights = np.zeros((len(touched), samples.encodings.shape[1]), dtype=np.float32)
        add_outer(by_weights, error, samples.encodings, scale=1.0)
        return touched, by_weights, error.sum(axis=0)

    def step(
        self, samples: Lookup, targets: Rows, weights: Features, *, lr: float, weight_decay: float
    ) -> None:
        """Move every weight by `lr` against the sign of its gradient, after all of them have decayed.

        Parameters
        ----------
        samples : Lookup of (n, d) encodings
        targets : (n,) rows of the classes
        weights : (n,) weight of each sample's loss
        """
        gradients = []
        for row in np.unique(targets).tolist():
            of_class = np.flatnonzero(targets == row)
            gradients.append((row, *self.gradient(samples.of(of_class), row, weights[of_class])))
        self._decay(1 - lr * weight_decay)
        length = np.float32(lr / self._scale)
        for row, touched, by_weights, by_biases in gradients:
            self._of_class(row)[touched] -= length * np.sign(by_weights)
            self._biases[touched, row] -= length * np.sign(by_biases)

    def _decay(self, factor: float) -> None:
        self._scale *= factor
        if self._scale < SMALLEST_SCALE:
            for block in self._weights:
                np.multiply(block, np.float32(self._scale), out=block)
            self._biases *= np.float32(self._scale)
            self._scale = 1.0

    def state(self) -> State:
        """Return weights and biases before the decay, and its `scale`."""
        return {
            "weights": self._together(),
            "biases": self._biases[:, : self._n_classes],
            "scale": np.array([self._scale]),
        }

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned, which must be of `n_classes` classes."""
        n_classifiers, width = len(self._biases), self._n_features
        expected = {
            "weights": (n_classifiers, n_classes, width),
            "biases": (n_classifiers, n_classes),
            "scale": (1,),
        }
        for name, shape in expected.items():
            if state[name].shape != shape:
                raise ValueError(f"expected {name} of shape {shape}, got {state[name].shape}")
        check_range("the scale of the weights", state["scale"], SMALLEST_SCALE / 2, 1)
        self._weights, self._biases = [], np.zeros((n_classifiers, 0), dtype=np.float32)
        self.resize(n_classes)
        for row in range(n_classes):
            self._of_class(row)[:] = state["weights"][:, row]
        self._biases[:, :n_classes] = state["biases"]
        self._scale = float(state["scale"][0])
