"""The generator of ILUGAN: from codes to inputs, through one hidden layer."""

import numpy as np
from numpy.typing import DTypeLike

from i2cansay.core.types import Features, State
from i2cansay.learners.sessions.network import Arrays, Network, network_bytes


class Generator:
    """Makes inputs (n, d) from codes (n, code).

    Examples
    --------
    >>> generator = Generator(code=3, hidden=8, n_features=5)
    >>> generator.draw(np.random.default_rng(0))
    >>> generator.make(np.ones((4, 3), dtype=np.float32)).shape
    (4, 5)
    """

    def __init__(self, code: int, hidden: int, n_features: int, dtype: DTypeLike = np.float32) -> None:
        self._n_features = n_features
        self._network = Network(
            code, hidden, dtype
        )  # with an output per feature in place of a logit per class
        self._network.resize(n_features)

    def draw(self, rng: np.random.Generator) -> None:
        """Draw the hidden weights; those above them start at zero, and so does what it makes."""
        self._network.draw(rng)

    def arrays(self) -> Arrays:
        """Return the arrays by name, to read and to write."""
        return self._network.arrays()

    def units(self, codes: Features) -> Features:
        """Return the hidden units, (n, hidden), of codes (n, code)."""
        return self._network.units(codes)

    def output(self, units: Features) -> Features:
        """Return the inputs, (n, d), that hidden units lead to."""
        return self._network.logits(units)

    def make(self, codes: Features) -> Features:
        """Return the inputs, (n, d), that codes (n, code) lead to."""
        return self.output(self.units(codes))

    def gradients(
        self, codes: Features, units: Features, error: Features, into: Arrays | None = None
    ) -> Arrays:
        """Return the gradients of a loss by all arrays, given that by the inputs made, (n, d)."""
        return self._network.gradients(codes, units, error, into)

    def resize(self, n_classes: int) -> None:
        """Do nothing: it makes all classes."""

    def drop(self, row: int) -> None:
        """Do nothing."""

    def state(self) -> State:
        """Return `arrays`."""
        return self._network.state()

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned."""
        self._network.restore(state, self._n_features)


def generator_bytes(code: int, hidden: int, n_features: int) -> int:
    """Return the bytes of a `Generator` in float32."""
    return network_bytes(code, hidden, n_features)
