"""The signed square root of features: Tukey's transform with exponent one half."""

import numpy as np

from i2cansay.core.types import Features


def signed_root(X: Features) -> Features:
    """Return ``sign(x) sqrt(|x|)`` of every entry of `X`, (n, d), in its precision.

    On features behind a ReLU, which are not negative, it is the plain square root, which shortens their long
    tails.

    Examples
    --------
    >>> signed_root(np.array([[4.0, 0.0, -9.0]]))
    array([[ 2.,  0., -3.]])
    """
    roots: Features = np.copysign(np.sqrt(np.abs(X)), X)
    return roots
