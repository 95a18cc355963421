"""Adam, on arrays by name."""

import numpy as np

from i2cansay.learners.sessions.network import Arrays

FIRST, SECOND, TINY = 0.5, 0.999, 1e-8
"""Decay of the running mean of gradients, as usual for adversaries, and of their squares; a guard against zero."""


class Adam:
    """Changes arrays in place; lives as long as one training.

    References
    ----------
    D. P. Kingma and J. Ba, Adam: a method for stochastic optimization, ICLR 2015. The first decay is that of
    A. Radford, L. Metz and S. Chintala, Unsupervised representation learning with DCGAN, ICLR 2016.

    Examples
    --------
    >>> weights = {"w": np.array([1.0])}
    >>> optimiser = Adam(weights)
    >>> optimiser.step({"w": np.array([7.0])}, lr=0.01)  # the first step has the size of the rate
    >>> weights["w"].round(6)
    array([0.99])
    """

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays
        self._mean = {name: np.zeros_like(array) for name, array in arrays.items()}
        self._square = {name: np.zeros_like(array) for name, array in arrays.items()}
        self._steps = 0

    def step(self, gradients: Arrays, lr: float) -> None:
        """Take one step against `gradients`, which must have an entry per array and are changed."""
        self._steps += 1
        rate = lr / (1 - FIRST**self._steps)
        unbiased = 1 / (1 - SECOND**self._steps)
        for name, array in self._arrays.items():
            gradient, mean, square = gradients[name], self._mean[name], self._square[name]
            mean *= FIRST
            mean += gradient * array.dtype.type(1 - FIRST)
            square *= SECOND
            gradient *= gradient
            gradient *= 1 - SECOND
            square += gradient
            np.multiply(square, unbiased, out=gradient)
            np.sqrt(gradient, out=gradient)
            gradient += TINY
            np.divide(mean, gradient, out=gradient)
            gradient *= rate
            array[:] -= gradient
