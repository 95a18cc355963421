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
        """Take one step against `gradients`, which must have an entry per array."""
        self._steps += 1
        for name, array in self._arrays.items():
            gradient, mean, square = gradients[name], self._mean[name], self._square[name]
            mean *= FIRST
            mean += (1 - FIRST) * gradient
            square *= SECOND
            square += (1 - SECOND) * gradient**2
            ahead = FIRST * mean / (1 - FIRST ** (self._steps + 1))
            ahead += (1 - FIRST) * gradient / (1 - FIRST**self._steps)
            array[:] -= lr * ahead / (np.sqrt(square / (1 - SECOND**self._steps)) + TINY)
