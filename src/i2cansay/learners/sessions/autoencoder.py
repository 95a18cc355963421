"""An autoencoder with a classifier on its code: the long-term memory of FearNet.

Symbols: x an input (d); s = elu(S x) and t = elu(T s) the layers of the encoder, t the code; z = V t the logits;
u = elu(U t) and w = W u the layers of the decoder, which mirror s and x. Each layer has a bias. Loss of a row:

    cross-entropy(z) + a mean (x - w)^2 + b mean (s - u)^2
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from i2cansay.core.linalg.blas import inner, product
from i2cansay.core.linalg.row_buffer import RowBuffer
from i2cansay.core.part_bytes import room
from i2cansay.core.types import Features, Rows, State
from i2cansay.learners.sessions.losses import Columns, cross_entropy_error
from i2cansay.learners.sessions.network import Arrays, outer

LAYERS = ("first", "code", "back", "input")
"""Layers that do not grow with the classes, from the input through the code and back."""


def elu(x: Features) -> Features:
    """Return x where it is positive, exp(x) - 1 elsewhere; changes `x` in place.

    Examples
    --------
    >>> elu(np.array([2.0, 0.0, -1000.0]))
    array([ 2.,  0., -1.])
    """
    below = np.minimum(x, 0)
    np.expm1(below, out=below)
    return np.maximum(x, below, out=x)


def slope(y: Features) -> Features:
    """Return the derivative of `elu` where its value is y."""
    found: Features = np.minimum(y, 0)
    found += 1
    return found


class Pass(NamedTuple):
    """What rows become on their way through: first layer, code, first layer of the decoder, reconstruction."""

    first: Features
    code: Features
    back: Features
    again: Features


class Autoencoder:
    """Encoder, decoder, and a softmax layer on the code that has a row per class.

    Parameters
    ----------
    n_features, hidden, code : int
        Widths of the input, of the layer between, and of the code.

    Examples
    --------
    >>> network = Autoencoder(n_features=6, hidden=5, code=3)
    >>> network.draw(np.random.default_rng(0))
    >>> network.resize(2)
    >>> X = np.ones((4, 6), dtype=np.float32)
    >>> network.encode(X).shape, network.decode(network.encode(X)).shape, network.logits(network.encode(X)).shape
    ((4, 3), (4, 6), (4, 2))
    """

    def __init__(self, n_features: int, hidden: int, code: int, dtype: DTypeLike = np.float32) -> None:
        widths = (n_features, hidden, code, hidden, n_features)
        self._fixed: Arrays = {}
        for layer, below, above in zip(LAYERS, widths[:-1], widths[1:], strict=True):
            self._fixed[f"{layer}_weights"] = np.zeros((above, below), dtype=dtype)
            self._fixed[f"{layer}_bias"] = np.zeros(above, dtype=dtype)
        self._weights, self._bias = RowBuffer(width=code, dtype=dtype), RowBuffer(width=None, dtype=dtype)

    def draw(self, rng: np.random.Generator) -> None:
        """Draw all weights but those of the classes."""
        for layer in LAYERS:
            weights = self._fixed[f"{layer}_weights"]
            weights[:] = rng.normal(scale=np.sqrt(1 / weights.shape[1]), size=weights.shape)

    def arrays(self) -> Arrays:
        """Return the arrays by name; views, to read and to write, valid until it grows."""
        return {"weights": self._weights.view, "bias": self._bias.view, **self._fixed}

    def _layer(self, X: Features, layer: str) -> Features:
        found = inner(X, self._fixed[f"{layer}_weights"])
        found += self._fixed[f"{layer}_bias"]
        return found

    def encode(self, X: Features) -> Features:
        """Return the codes, (n, code), of rows (n, d)."""
        return elu(self._layer(elu(self._layer(X, "first")), "code"))

    def decode(self, codes: Features) -> Features:
        """Return the inputs, (n, d), that codes (n, code) stand for."""
        return self._layer(elu(self._layer(codes, "back")), "input")

    def logits(self, codes: Features) -> Features:
        """Return the logits, (n, c), of codes (n, code)."""
        found = inner(codes, self._weights.view)
        found += self._bias.view
        return found

    def forward(self, X: Features) -> Pass:
        """Send rows (n, d) through encoder and decoder."""
        first = elu(self._layer(X, "first"))
        code = elu(self._layer(first, "code"))
        back = elu(self._layer(code, "back"))
        return Pass(first, code, back, self._layer(back, "input"))

    def gradients(
        self,
        X: Features,
        rows: Rows,
        columns: Columns,
        *,
        input_weight: float,
        layer_weight: float,
        into: Arrays | None = None,
    ) -> Arrays:
        """Return the gradients of the mean loss of inputs (n, d) of classes (n,).

        Parameters
        ----------
        columns : (c,) classes that the softmax is over
        input_weight, layer_weight : float
            a and b of the loss: of the reconstruction of the input, and of the layer between.
        into : dict of arrays, optional
            What an earlier call returned, to be written over.
        """
        through, fixed = self.forward(X), self._fixed
        n = len(X)
        shares = np.full(n, 1 / n, dtype=X.dtype)
        error = cross_entropy_error(self.logits(through.code), rows, shares, columns)
        of_input = np.subtract(through.again, X, out=through.again)
        of_input *= 2 * input_weight / X.size
        apart = (2 * layer_weight / through.first.size) * (through.back - through.first)
        of_back = (product(of_input, fixed["input_weights"]) + apart) * slope(through.back)
        of_code = product(of_back, fixed["back_weights"]) + product(error, self._weights.view)
        of_code *= slope(through.code)
        of_first = (product(of_code, fixed["code_weights"]) - apart) * slope(through.first)
        found = {} if into is None else into
        found["weights"] = outer(error, through.code, into=found.get("weights"))
        found["bias"] = error.sum(axis=0)
        ways = (of_first, X), (of_code, through.first), (of_back, through.code), (of_input, through.back)
        for layer, (above, below) in zip(LAYERS, ways, strict=True):
            name = f"{layer}_weights"
            found[name] = outer(above, below, into=found.get(name))
            found[f"{layer}_bias"] = above.sum(axis=0)
        return found

    def resize(self, n_classes: int) -> None:
        """Grow to `n_classes` classes; the weights of new ones are zero."""
        self._weights.resize(n_classes)
        self._bias.resize(n_classes)

    def drop(self, row: int) -> None:
        """Remove one class; encoder and decoder stay."""
        self._weights.drop(row)
        self._bias.drop(row)

    def state(self) -> State:
        """Return `arrays`."""
        return dict(self.arrays())

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned, which must be of `n_classes` classes and these widths."""
        for name, array in self.arrays().items():
            expected = (n_classes, *array.shape[1:]) if name in ("weights", "bias") else array.shape
            if state[name].shape != expected:
                raise ValueError(
                    f"the autoencoder's {name} should be of shape {expected}, not {state[name].shape}"
                )
        self._weights.set(state["weights"])
        self._bias.set(state["bias"])
        for name, array in self._fixed.items():
            array[:] = state[name]


def autoencoder_bytes(n_features: int, hidden: int, code: int, n_classes: int) -> int:
    """Return the bytes of an `Autoencoder` in float32."""
    there = hidden * (n_features + 1) + code * (hidden + 1)
    back = hidden * (code + 1) + n_features * (hidden + 1)
    return 4 * (there + back + room(n_classes) * (code + 1))
