"""Adam with Nesterov momentum, on arrays by name."""

import numpy as np

from i2cansay.learners.sessions.network import Arrays

FIRST, SECOND, TINY = 0.9, 0.999, 1e-8
"""Decay of the running mean of gradients and of their squares, and what keeps the quotient finite."""


class NAdam:
    """Changes arrays in place; lives as long as one training.

    References
    ----------
    T. Dozat, Incorporating Nesterov momentum into Adam, ICLR workshop 2016; with a constant momentum.

    Examples
    --------
    >>> weights = {"w": np.array([1.0])}
    >>> optimiser = NAdam(weights)
    >>> for _ in range(500):
    ...     optimiser.step({"w": 2 * weights["w"]}, lr=0.01)
    >>> bool(abs(weights["w"][0]) < 0.01)
    True
    """

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays
        self._mean = {name: np.zeros_like(array) for name, array in arrays.items()}
        self._square = {name: np.zeros_like(array) for name, array in arrays.items()}
        self._steps = 0

    def step(self, gradients: Arrays, lr: float) -> None:
        """Take one step against `gradients`, which must have an entry per array and are changed."""
        self._steps += 1
        ahead = FIRST / (1 - FIRST ** (self._steps + 1)), (1 - FIRST) / (1 - FIRST**self._steps)
        unbiased = 1 / (1 - SECOND**self._steps)
        for name, array in self._arrays.items():
            gradient, mean, square = gradients[name], self._mean[name], self._square[name]
            # In place, since temporaries of the size of the weights cost as much as the products of a batch.
            scratch = gradient * array.dtype.type(1 - FIRST)
            mean *= FIRST
            mean += scratch
            np.multiply(gradient, gradient, out=scratch)
            scratch *= 1 - SECOND
            square *= SECOND
            square += scratch
            np.multiply(square, unbiased, out=scratch)
            np.sqrt(scratch, out=scratch)
            scratch += TINY
            step = gradient * array.dtype.type(ahead[1])
            step += np.multiply(mean, ahead[0], out=gradient)
            step /= scratch
            step *= lr
            array[:] -= step
