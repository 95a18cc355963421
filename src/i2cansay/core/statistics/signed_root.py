"""The square root of features, also of those below zero: Tukey's transform with exponent one half."""

import numpy as np

from i2cansay.core.types import Features


def signed_root(X: Features) -> Features:
    """Return ``sign(x) sqrt(|x|)`` of every entry of `X`, (n, d), in its precision.

    On features that a ReLU left, none below zero, it is the plain square root, which makes their long tails
    shorter.

    Examples
    --------
    >>> signed_root(np.array([[4.0, 0.0, -9.0]]))
    array([[ 2.,  0., -3.]])
    """
    roots: Features = np.copysign(np.sqrt(np.abs(X)), X)
    return roots
