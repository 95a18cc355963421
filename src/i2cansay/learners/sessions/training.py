"""Steps of gradient descent on a network, batch by batch of rows that are known beforehand."""

from collections.abc import Callable

import numpy as np

from i2cansay.core.types import Features, Float32, Rows
from i2cansay.learners.sessions.momentum import MomentumSGD
from i2cansay.learners.sessions.network import Arrays, Network
from i2cansay.learners.sessions.spanned_layer import SpannedLayer

ErrorOf = Callable[[Features, Rows], Features]
"""From the logits, (n, c), of the rows with these numbers, (n,), to the gradient of the loss by the logits."""


class PlainTraining:
    """Changes all weights in every step."""

    def __init__(self, network: Network, X: Float32, *, momentum: float, weight_decay: float) -> None:
        self._network, self._rows = network, X
        self._optimiser = MomentumSGD(network.arrays(), momentum=momentum, weight_decay=weight_decay)
        self._gradients: Arrays | None = None

    def step(self, batch: Rows, error_of: ErrorOf, lr: float) -> None:
        """Take a step on the rows with these numbers."""
        inputs = self._rows[batch]
        units = self._network.units(inputs)
        error = error_of(self._network.logits(units), batch)
        self._gradients = self._network.gradients(inputs, units, error, into=self._gradients)
        self._optimiser.step(self._gradients, lr)

    def end(self) -> None:
        """Do nothing: the weights are changed."""


class SpannedTraining:
    """The same, except that the weights of the first layer are changed once, by `end`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, networks = rng.normal(size=(6, 40)).astype(np.float32), [Network(40, hidden=5) for _ in range(2)]
    >>> for network, kind in zip(networks, (PlainTraining, SpannedTraining)):
    ...     network.draw(np.random.default_rng(1))
    ...     network.resize(3)
    ...     training = kind(network, X, momentum=0.9, weight_decay=0.01)
    ...     for start in (0, 2, 4, 0):
    ...         training.step(np.arange(start, start + 2), lambda logits, batch: logits - batch[:, None], 0.01)
    ...     training.end()
    >>> plain, spanned = (network.arrays()["hidden_weights"] for network in networks)
    >>> np.allclose(plain, spanned, atol=1e-5)
    True
    """

    def __init__(self, network: Network, X: Float32, *, momentum: float, weight_decay: float) -> None:
        self._network = network
        rest = network.arrays()
        weights = rest.pop(network.first_layer)
        self._layer = SpannedLayer(weights, X, momentum=momentum, weight_decay=weight_decay)
        self._optimiser = MomentumSGD(rest, momentum=momentum, weight_decay=weight_decay)
        self._gradients: Arrays = {}

    def step(self, batch: Rows, error_of: ErrorOf, lr: float) -> None:
        """Take a step on the rows with these numbers."""
        outputs, found = self._layer.outputs(batch), self._gradients
        if self._network.has_hidden:
            units = self._network.activate(outputs)
            error = error_of(self._network.logits(units), batch)
            below = self._network.output_gradients(units, error, found)
        else:
            outputs += self._network.arrays()["bias"]
            below = error_of(outputs, batch)
            found["bias"] = below.sum(axis=0)
        factor = self._optimiser.step(found, lr, beside=self._layer.norm(batch, below))
        self._layer.step(batch, below if factor == 1 else np.float32(factor) * below, lr)

    def end(self) -> None:
        """Change the weights of the first layer."""
        self._layer.apply()
