"""The discriminator of ILUGAN: one hidden layer, a logit per class, and one that tells real inputs from made ones.

Symbols: x an input (d); u = max(P x + p, 0) the hidden units, which are the code of x; z = W u + b the logits of the
classes; s = v u + c the logit of "real".
"""

import numpy as np
from numpy.typing import DTypeLike

from i2cansay.core.linalg.blas import inner, product
from i2cansay.core.types import Features, State
from i2cansay.learners.sessions.network import Arrays, Network, network_bytes, outer


class Critic:
    """Tells classes apart, and real inputs from made ones; a generator starts from its hidden units.

    Examples
    --------
    >>> critic = Critic(n_features=4, hidden=3)
    >>> critic.draw(np.random.default_rng(0))
    >>> critic.resize(2)
    >>> codes = critic.codes(np.ones((5, 4), dtype=np.float32))
    >>> codes.shape, critic.logits(codes).shape, critic.real(codes).shape
    ((5, 3), (5, 2), (5,))
    """

    def __init__(self, n_features: int, hidden: int, dtype: DTypeLike = np.float32) -> None:
        self._network = Network(n_features, hidden, dtype)
        self._real: Arrays = {"real_weights": np.zeros((1, hidden), dtype), "real_bias": np.zeros(1, dtype)}

    def draw(self, rng: np.random.Generator) -> None:
        """Draw the hidden weights; those above them start at zero."""
        self._network.draw(rng)

    def arrays(self) -> Arrays:
        """Return the arrays by name; views, to read and to write, valid until it grows."""
        return {**self._network.arrays(), **self._real}

    def codes(self, X: Features) -> Features:
        """Return the hidden units, (n, hidden), of inputs (n, d)."""
        return self._network.units(X)

    def logits(self, codes: Features) -> Features:
        """Return the logits of the classes, (n, c)."""
        return self._network.logits(codes)

    def real(self, codes: Features) -> Features:
        """Return the logit of "real", (n,)."""
        found: Features = inner(codes, self._real["real_weights"])[:, 0] + self._real["real_bias"]
        return found

    def gradients(
        self, X: Features, codes: Features, error: Features, real_error: Features, into: Arrays | None = None
    ) -> Arrays:
        """Return the gradients of a loss by all arrays, given those by both outputs.

        Parameters
        ----------
        X, codes : (n, d) and (n, hidden) arrays
            Inputs, and what `codes` returned for them.
        error, real_error : (n, c) and (n,) arrays
            Gradients by the logits of the classes, and by that of "real".
        into : dict of arrays, optional
            What an earlier call returned, to be written over.
        """
        found = {} if into is None else into
        below = self.code_error(codes, error, real_error)
        found["weights"] = outer(error, codes, into=found.get("weights"))
        found["bias"] = error.sum(axis=0)
        found["hidden_weights"] = outer(below, X, into=found.get("hidden_weights"))
        found["hidden_bias"] = below.sum(axis=0)
        found["real_weights"] = outer(real_error[:, None], codes, into=found.get("real_weights"))
        found["real_bias"] = real_error.sum(keepdims=True)
        return found

    def code_error(
        self, codes: Features, error: Features, real_error: Features, more: Features | None = None
    ) -> Features:
        """Return the gradient by what goes into the hidden units, (n, hidden); `more` comes from their values."""
        below: Features = product(error, self._network.arrays()["weights"])
        below += real_error[:, None] * self._real["real_weights"]
        if more is not None:
            below += more
        below *= codes > 0
        return below

    def input_error(self, code_error: Features) -> Features:
        """Return the gradient by the inputs, (n, d), given what `code_error` returned."""
        return product(code_error, self._network.arrays()["hidden_weights"])

    def resize(self, n_classes: int) -> None:
        """Grow to `n_classes` classes; the weights of new ones are zero."""
        self._network.resize(n_classes)

    def drop(self, row: int) -> None:
        """Remove one class; the rest stays."""
        self._network.drop(row)

    def state(self) -> State:
        """Return `arrays`."""
        return dict(self.arrays())

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned, which must be of `n_classes` classes and these widths."""
        for name, array in self._real.items():
            if state[name].shape != array.shape:
                raise ValueError(
                    f"the critic's {name} should be of shape {array.shape}, not {state[name].shape}"
                )
        self._network.restore(state, n_classes)
        for name, array in self._real.items():
            array[:] = state[name]


def critic_bytes(n_features: int, hidden: int, n_classes: int) -> int:
    """Return the bytes of a `Critic` in float32."""
    return network_bytes(n_features, hidden, n_classes) + 4 * (hidden + 1)
