"""The gradients of a linear head for single samples, compared without being formed.

The cross-entropy of one row has the gradient (p - onehot) x [x, 1], an outer product of its error over the c
classes and of its input over the d features (and the bias). The cosine of two such gradients is therefore the cosine
of their errors times that of their inputs, and a sum of n of them is one (c, d + 1) product: nothing of size
n x c x d is ever made.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from i2cansay.core.linalg.blas import add_outer, inner
from i2cansay.core.paper.head import LinearHead, error_signal
from i2cansay.core.types import Features, Float32, Float64, Rows

# Replaces zero as a divisor.
SMALLEST = 1e-30


@dataclass(frozen=True)
class UnitGradients:
    """Gradients of n rows, each scaled to length 1; one without length (nothing left to learn) stays zero.

    Parameters
    ----------
    errors : (n, c) float32 array, rows of length 1 or 0
    inputs : (n, d) float32 array, rows of length 1 or 0; with a bias one column wider

    Examples
    --------
    >>> head = LinearHead(n_features=2, bias=False)
    >>> head.resize(2)
    >>> X = np.array([[1.0, 0.0], [3.0, 0.0], [0.0, 2.0]])
    >>> gradients = UnitGradients.of(head, X, np.array([0, 1, 1]))
    >>> gradients.cosines(gradients).round(6) + 0.0  # the first two pull on one weight from two sides
    array([[ 1., -1.,  0.],
           [-1.,  1.,  0.],
           [ 0.,  0.,  1.]], dtype=float32)
    """

    errors: Float32
    inputs: Float32

    @classmethod
    def of(cls, head: LinearHead, X: Features, classes: Rows) -> Self:
        """Return the gradients that rows (n, d) of the given classes (n,) have at the head as it is."""
        errors, inputs = _factors(head, X, classes)
        return cls(_unit(errors), _unit(inputs))

    def __len__(self) -> int:
        return len(self.errors)

    def at(self, places: Rows) -> Self:
        """Return the gradients at `places`."""
        return type(self)(self.errors[places], self.inputs[places])

    def cosines(self, other: "UnitGradients") -> Float32:
        """Return the cosine of each of n gradients here with each of m there, (n, m)."""
        cosines: Float32 = inner(self.errors, other.errors)
        cosines *= inner(self.inputs, other.inputs)
        return cosines

    def along(self, direction: Float32) -> Float64:
        """Return the product of each gradient with one gradient written out, (c, d) or with bias wider, (n,)."""
        products: Float64 = np.einsum(
            "nc,nc->n", inner(self.inputs, direction), self.errors, dtype=np.float64
        )
        return products

    def similarities(self) -> Float64:
        """Return for each gradient the sum of its cosines with all of them, itself included, (n,)."""
        total = np.zeros((self.errors.shape[1], self.inputs.shape[1]), dtype=np.float32)
        add_outer(total, self.errors, self.inputs, scale=1.0)
        return self.along(total)


def batch_direction(head: LinearHead, X: Features, classes: Rows) -> Float32:
    """Return the gradient of the rows' mean cross-entropy, scaled to length 1, (c, d) or with bias (c, d + 1).

    Examples
    --------
    >>> head = LinearHead(n_features=1, bias=False)
    >>> head.resize(2)
    >>> batch_direction(head, np.array([[1.0], [3.0]]), np.array([0, 1])).round(3)
    array([[ 0.707],
           [-0.707]], dtype=float32)
    """
    errors, inputs = _factors(head, X, classes)
    direction = np.zeros((errors.shape[1], inputs.shape[1]), dtype=np.float32)
    inputs /= max(float(np.abs(inputs).max(initial=0.0)), SMALLEST)
    add_outer(direction, errors, inputs, scale=1.0)
    return _unit(direction.reshape(1, -1)).reshape(direction.shape)


def _factors(head: LinearHead, X: Features, classes: Rows) -> tuple[Float32, Float32]:
    """Return the errors, (n, c), and the inputs, (n, d) or with bias (n, d + 1), of the rows' gradients."""
    errors: Float32 = error_signal(head.logits(X), classes, np.ones(len(X), dtype=np.float32))
    inputs = np.ones((len(X), X.shape[1] + (head.bias is not None)), dtype=np.float32)
    inputs[:, : X.shape[1]] = X
    return errors, inputs


def _unit(rows: Float32) -> Float32:
    """Scale rows to length 1 in place and return them; rows of zeros stay."""
    # First by the largest entry: the square of a very small or large one leaves float32.
    largest = np.abs(rows).max(axis=1, initial=0.0, keepdims=True)
    rows /= np.where(largest > 0, largest, 1)
    length = np.sqrt(np.einsum("nd,nd->n", rows, rows))[:, None]
    rows /= np.where(length > 0, length, 1)
    return rows
