"""The gate of FearNet: how likely a sample belongs to the recent classes, by a small network of its own."""

import numpy as np

from i2cansay.core.types import Features, Float64, State
from i2cansay.learners.sessions.losses import cross_entropy_error
from i2cansay.learners.sessions.nadam import NAdam
from i2cansay.learners.sessions.network import Arrays, Network, network_bytes, shuffled_batches

BOTH = np.ones(2, dtype=bool)


class Gate:
    """A network with two outputs, old and recent, that is trained anew whenever one of the two has changed.

    Examples
    --------
    >>> gate, rng = Gate(n_features=2, hidden=8), np.random.default_rng(0)
    >>> old, recent = rng.normal(size=(2, 100, 2)).astype(np.float32) + [[[0.0, 0.0]], [[6.0, 6.0]]]
    >>> gate.train(old.astype(np.float32), recent.astype(np.float32), rng, lr=0.01, epochs=20, batch_size=20)
    >>> bool((gate.recent(recent) > 0.5).mean() > 0.9)
    True
    """

    def __init__(self, n_features: int, hidden: int) -> None:
        self._network = Network(n_features, hidden)
        self._network.resize(2)

    def train(
        self,
        old: Features,
        recent: Features,
        rng: np.random.Generator,
        *,
        lr: float,
        epochs: int,
        batch_size: int,
    ) -> None:
        """Learn to tell old inputs (n, d) from recent ones (m, d), from fresh weights; each group counts as much."""
        for array in self._network.arrays().values():
            array[:] = 0
        self._network.draw(rng)
        X = np.concatenate([old, recent])
        rows = np.repeat([0, 1], [len(old), len(recent)])
        shares = np.repeat([0.5 / len(old), 0.5 / len(recent)], [len(old), len(recent)])
        optimiser = NAdam(self._network.arrays())
        gradients: Arrays | None = None
        for _ in range(epochs):
            for batch in shuffled_batches(len(X), batch_size, rng):
                inputs = X[batch]
                units = self._network.units(inputs)
                weights = shares[batch] / shares[batch].sum()
                error = cross_entropy_error(self._network.logits(units), rows[batch], weights, BOTH)
                gradients = self._network.gradients(inputs, units, error, into=gradients)
                optimiser.step(gradients, lr)

    def recent(self, X: Features) -> Float64:
        """Return how likely each of the inputs (n, d) is a recent one, (n,)."""
        logits = self._network.logits(self._network.units(X)).astype(np.float64)
        found: Float64 = 0.5 * (1 + np.tanh((logits[:, 1] - logits[:, 0]) / 2))
        return found

    def resize(self, n_classes: int) -> None:
        """Do nothing: it knows two kinds, whatever the classes."""

    def drop(self, row: int) -> None:
        """Do nothing."""

    def state(self) -> State:
        """Return the arrays of the network."""
        return self._network.state()

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned."""
        self._network.restore(state, 2)


def gate_bytes(n_features: int, hidden: int) -> int:
    """Return the bytes of a `Gate`."""
    return network_bytes(n_features, hidden, 2)
