"""Gradients by the logits, (n, c), of the losses of the offline methods, each with the loss itself.

Every loss is the mean over rows with weights that sum to one, so that its gradient is linear in those weights.
"""

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.paper.head import softmax
from i2cansay.core.types import Features, Rows

Columns = NDArray[np.bool_]
"""Which classes take part, (c,)."""


def softmax_over(logits: Features, columns: Columns) -> Features:
    """Return the softmax over some of the classes; the others have probability zero.

    Examples
    --------
    >>> softmax_over(np.array([[0.0, 5.0, 0.0]]), np.array([True, False, True]))
    array([[0.5, 0. , 0.5]])
    """
    found = np.zeros_like(logits)
    found[:, columns] = softmax(logits[:, columns])
    return found


def cross_entropy_error(logits: Features, targets: Rows, weights: Features, columns: Columns) -> Features:
    """Return the gradient of the cross-entropy of a softmax over some classes, those of `targets` among them."""
    error = softmax_over(logits, columns)
    error[np.arange(len(targets)), targets] -= 1
    error *= weights[:, None]
    return error


def distillation_loss(logits: Features, teacher: Features, temperature: float, weights: Features) -> float:
    """Return the cross-entropy of a teacher's softmax and a student's, both at a temperature.

    It does not change if a constant is added to all logits of a row. It is not multiplied by the squared
    temperature.

    Examples
    --------
    >>> logits, weights = np.array([[1.0, 2.0, 4.0]]), np.ones(1)
    >>> teacher = np.array([[1.0, 3.0, 4.0]])
    >>> loss = distillation_loss(logits, teacher, 2.0, weights)
    >>> bool(np.isclose(distillation_loss(logits + 7, teacher, 2.0, weights), loss))
    True
    """
    target = softmax(teacher / temperature)
    return float(-(weights[:, None] * target * np.log(softmax(logits / temperature))).sum())


def distillation_error(
    logits: Features, teacher: Features, temperature: float, weights: Features
) -> Features:
    """Return the gradient of `distillation_loss` by the student's logits."""
    error = softmax(logits / temperature)
    error -= softmax(teacher / temperature)
    error *= weights[:, None] / temperature
    return error


def softmax_in_heads(logits: Features, starts: Rows) -> Features:
    """Return a softmax inside each head, a run of neighbouring classes; `starts` has the first class of each.

    Examples
    --------
    >>> softmax_in_heads(np.array([[0.0, 0.0, 7.0, 7.0, 7.0, 7.0]]), np.array([0, 2]))
    array([[0.5 , 0.5 , 0.25, 0.25, 0.25, 0.25]])
    """
    sizes = np.diff(starts, append=logits.shape[1])
    found: Features = np.exp(logits - np.repeat(np.maximum.reduceat(logits, starts, axis=1), sizes, axis=1))
    found /= np.repeat(np.add.reduceat(found, starts, axis=1), sizes, axis=1)
    return found


def head_distillation_error(
    logits: Features, targets: Features, starts: Rows, temperature: float, weights: Features
) -> Features:
    """Return the gradient of the distillations inside all heads, summed.

    Parameters
    ----------
    targets : (n, c) array
        Of the teacher: `softmax_in_heads` of its logits at this temperature.
    """
    error = softmax_in_heads(logits / temperature, starts)
    error -= targets
    error *= weights[:, None] / temperature
    return error


def sigmoid(logits: Features) -> Features:
    """Return the logistic function, without overflow.

    Examples
    --------
    >>> sigmoid(np.array([-1000.0, 0.0, 1000.0]))
    array([0. , 0.5, 1. ])
    """
    half: Features = np.tanh(logits / 2)
    return (half + 1) / 2


def binary_error(logits: Features, targets: Features, weights: Features) -> Features:
    """Return the gradient of the binary cross-entropies, summed over classes, of targets from 0 to 1, (n, c)."""
    error: Features = (sigmoid(logits) - targets) * weights[:, None]
    return error
