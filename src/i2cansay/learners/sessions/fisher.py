"""The diagonal of the Fisher information of a network's weights, exact and per sample.

    F_i = mean over x of sum over y of p(y|x) (d log p(y|x) / d w_i)^2

The sum over y has a closed form. For a logit it is p_k (1 - p_k), the variance of the indicator of class k. For a
hidden unit it is the variance, under p, of the output weights that lead away from the unit. Each is multiplied by
the square of what comes in, sample by sample: the square of a mean gradient over a batch would be too small by about
the size of the batch.
"""

import numpy as np

from i2cansay.core.linalg.blas import add_outer, product
from i2cansay.core.types import Features, Float64
from i2cansay.learners.sessions.losses import Columns, softmax_over
from i2cansay.learners.sessions.network import Arrays, Network

# Samples at a time: their squares take 21 MB at a width of 1280.
BLOCK = 4096


def fisher_diagonal(
    network: Network, X: Features, columns: Columns, weights: Float64 | None = None
) -> Arrays:
    """Return the diagonal, in the shapes of the network's arrays.

    Parameters
    ----------
    X : (n, d) array
    columns : (c,) bool array
        The classes that p is a softmax over; the weights of others have no information.
    weights : (n,) weights of the samples, optional

    Examples
    --------
    >>> network = Network(n_features=2, hidden=0, dtype=np.float64)
    >>> network.resize(2)  # all weights are zero, so p is one half
    >>> fisher_diagonal(network, np.array([[2.0, 0.0]]), np.array([True, True]))["weights"]
    array([[1., 0.],
           [1., 0.]])
    """
    found = {name: np.zeros_like(array) for name, array in network.arrays().items()}
    shares = np.full(len(X), 1 / len(X)) if weights is None else weights / weights.sum()
    output = network.arrays()["weights"]
    for start in range(0, len(X), BLOCK):
        inputs, share = X[start : start + BLOCK], shares[start : start + BLOCK, None]
        units = network.units(inputs)
        likely = softmax_over(network.logits(units), columns)
        _add(found, "", likely * (1 - likely) * share, units)
        if "hidden_weights" in found:
            mean = product(likely, output)
            variance = product(likely, output**2) - mean**2
            # Rounding may leave a little less than nothing.
            _add(found, "hidden_", np.maximum(variance, 0) * (units > 0) * share, inputs)
    return found


def _add(found: Arrays, layer: str, variance: Features, inputs: Features) -> None:
    """Add what samples say of a layer with these `inputs`, (n, k), and this `variance` of its outputs, (n, m)."""
    add_outer(found[f"{layer}weights"], variance, inputs**2, scale=1.0)
    found[f"{layer}bias"] += variance.sum(axis=0)
