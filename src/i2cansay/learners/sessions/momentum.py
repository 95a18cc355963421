"""Stochastic gradient descent with momentum, on arrays by name."""

from collections.abc import Iterable

import numpy as np
from scipy.linalg import blas

from i2cansay.core.linalg.blas import threads_for
from i2cansay.core.types import Features
from i2cansay.learners.sessions.network import Arrays

# Beyond any gradient of usual features: only values like 1e8 are cut, with which two layers would grow to infinity.
LARGEST_GRADIENT = 100.0


class MomentumSGD:
    """Changes arrays in place; lives as long as the training of one session.

    Examples
    --------
    >>> weights = {"w": np.array([1.0])}
    >>> optimiser = MomentumSGD(weights, momentum=0.0, weight_decay=0.0)
    >>> optimiser.step({"w": np.array([0.5])}, lr=0.1)  # they were not cut
    1.0
    >>> weights["w"]
    array([0.95])
    """

    def __init__(self, arrays: Arrays, *, momentum: float, weight_decay: float) -> None:
        self._arrays, self._momentum, self._weight_decay = arrays, momentum, weight_decay
        self._velocity = {name: np.zeros_like(array) for name, array in arrays.items()} if momentum else {}

    def step(self, gradients: Arrays, lr: float, *, beside: float = 0.0) -> float:
        """Take one step against `gradients`, which are changed; return by which factor they were cut.

        Parameters
        ----------
        beside : float
            Norm of a gradient that belongs to them, by weights which are changed elsewhere.
        """
        factor = clip(gradients.values(), beside=beside)
        for name, array in self._arrays.items():
            direction = gradients[name]
            if self._weight_decay:
                direction += self._weight_decay * array
            if self._momentum:
                velocity = self._velocity[name]
                velocity *= self._momentum
                velocity += direction
                direction = velocity
            array[:] -= np.multiply(direction, np.asarray(lr, dtype=array.dtype), out=gradients[name])
        return factor


def clip(gradients: Iterable[Features], largest: float = LARGEST_GRADIENT, *, beside: float = 0.0) -> float:
    """Scale gradients in place by one factor, so that their joint norm is at most `largest`; return the factor.

    The norm of another gradient may be given `beside` them; it counts, and is to be scaled by who has it.

    Examples
    --------
    >>> gradient = np.array([300.0, 400.0])
    >>> clip([gradient])
    0.2
    >>> gradient
    array([60., 80.])
    """
    gradients = list(gradients)
    norm = float(np.linalg.norm([beside, *(_norm(part) for part in gradients)]))
    if not norm > largest:
        return 1.0
    for part in gradients:
        part[:] *= np.asarray(largest / norm, dtype=part.dtype)
    return largest / norm


def _norm(array: Features) -> float:
    flat = array.reshape(-1)
    dot = blas.ddot if array.dtype == np.float64 else blas.sdot
    with threads_for(flat.size):
        square = float(dot(flat, flat))
    if np.isfinite(square):
        return float(np.sqrt(square))
    # BLAS scales on the way: the squares of float32 numbers beyond 1e19 overflow. It is several times as slow.
    norm = blas.dnrm2 if array.dtype == np.float64 else blas.snrm2
    return float(norm(flat))
