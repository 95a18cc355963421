"""The first layer of a network while it is trained on rows that are known beforehand.

Symbols: W -> the weights, (m, d); X -> the rows, (n, d). A step on some of the rows with gradients E by the layer's
outputs has the gradient ``E^T X`` by W. So W never leaves what its start and the rows span: ``W = k W0 + C^T X``,
with k below one where weights decay. A row goes to ``k W0 x_i + sum over j of (x_i . x_j) c_j``. With the products
of rows at hand, a step multiplies with n instead of d numbers to a row, once where the weights take two products. It
changes C only. The result is the same up to rounding.
"""

import numpy as np

from i2cansay.core.linalg.blas import add_outer, inner, product
from i2cansay.core.types import Features, Float32, Rows

# What else than its product a step costs, as a share of it: C and its velocity are passed over.
PASSES = 0.3
# Spanned training has to save this share of the products.
SAVED = 0.2
# Products of rows with larger numbers could overflow in single precision.
LARGEST_NUMBER = 1e9


def spanning_pays(X: Features, outputs: int, epochs: int) -> bool:
    """Whether training a layer with so many outputs on rows (n, d) takes fewer products by way of `SpannedLayer`.

    Examples
    --------
    >>> rows = np.ones((1000, 1280), dtype=np.float32)
    >>> spanning_pays(rows, outputs=256, epochs=40), spanning_pays(rows, outputs=256, epochs=2)
    (True, False)
    """
    n, d = X.shape
    plain = 2.0 * epochs * n * d * outputs
    spanned = (1 + PASSES) * epochs * n * n * outputs + n * d * (n + 2 * outputs)
    return spanned < (1 - SAVED) * plain and bool(np.abs(X).max(initial=0) < LARGEST_NUMBER)


class SpannedLayer:
    """Weights, (m, d), that take steps with momentum on some of the rows, (n, d); changed by `apply`.

    Examples
    --------
    >>> weights, rows = np.zeros((1, 3), dtype=np.float32), np.eye(3, dtype=np.float32)[:2]
    >>> layer = SpannedLayer(weights, rows, momentum=0.0, weight_decay=0.0)
    >>> layer.step(np.array([1]), np.array([[2.0]], dtype=np.float32), lr=0.5)
    >>> layer.outputs(np.array([0, 1])).ravel()
    array([ 0., -1.], dtype=float32)
    >>> layer.apply()
    >>> weights
    array([[ 0., -1.,  0.]], dtype=float32)
    """

    def __init__(self, weights: Float32, X: Float32, *, momentum: float, weight_decay: float) -> None:
        self._weights, self._rows = weights, X
        self._momentum, self._weight_decay = momentum, weight_decay
        self._first = inner(X, weights)  # what the rows go to before the first step
        self._alike = inner(X, X)
        self._added = np.zeros_like(self._first)
        self._velocity = np.zeros_like(self._first)
        self._kept, self._kept_velocity = 1.0, 0.0

    def outputs(self, places: Rows) -> Float32:
        """Return what the weights make of some of the rows now, (k, m)."""
        found: Float32 = product(self._alike[places], self._added)
        found += self._first[places] if self._kept == 1 else np.float32(self._kept) * self._first[places]
        return found

    def norm(self, places: Rows, error: Float32) -> float:
        """Return the norm of the gradient by the weights, given that by the outputs of some of the rows, (k, m)."""
        square = float(np.vdot(inner(error, error), self._alike[places[:, None], places]))
        return float(np.sqrt(max(square, 0.0)))

    def step(self, places: Rows, error: Float32, lr: float) -> None:
        """Take a step against the gradient by the outputs of some of the rows, (k, m), each row once."""
        velocity = self._velocity
        velocity *= np.float32(self._momentum)
        velocity[places] += error
        self._kept_velocity *= self._momentum
        if self._weight_decay:
            velocity += np.float32(self._weight_decay) * self._added
            self._kept_velocity += self._weight_decay * self._kept
        self._added -= np.float32(lr) * velocity
        self._kept -= lr * self._kept_velocity

    def apply(self) -> None:
        """Change the weights by all the steps, in place."""
        if self._kept != 1:
            np.multiply(self._weights, np.float32(self._kept), out=self._weights)
        add_outer(self._weights, self._added, self._rows, scale=1.0)
