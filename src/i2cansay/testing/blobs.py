"""The small streams of the checks: a cloud of points per class."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.types import Float64


class Samples(NamedTuple):
    """Features (n, d) and their labels (n,)."""

    X: Float64
    y: NDArray[Any]


def blobs(
    n_classes: int = 4, per_class: int = 12, n_features: int = 6, *, seed: int = 0, spread: float = 0.5
) -> Samples:
    """Return shuffled samples of classes 0, 1, ... around centres that do not depend on `seed`.

    Examples
    --------
    >>> X, y = blobs(n_classes=2, per_class=3, n_features=4)
    >>> X.shape, np.bincount(y)
    ((6, 4), array([3, 3]))
    """
    centres = np.random.default_rng(20).normal(scale=2.0, size=(n_classes, n_features))
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(n_classes), per_class))
    X = centres[y] + spread * rng.normal(size=(len(y), n_features))
    # Values that float32 holds exactly, so that a kept sample is found in either precision.
    return Samples(X.astype(np.float32).astype(np.float64), y)


def late_class(samples: Samples) -> Samples:
    """Return the samples with the two highest classes at the end, so that new labels come late in the stream."""
    late = samples.y >= samples.y.max() - 1
    order = np.argsort(late, kind="stable")
    return Samples(samples.X[order], samples.y[order])


def batches(samples: Samples, sizes: tuple[int, ...] = (7, 1, 12, 3)) -> Iterator[Samples]:
    """Cut samples into consecutive batches of these sizes, taken in turn.

    Examples
    --------
    >>> [len(part.y) for part in batches(blobs(n_classes=2, per_class=6), sizes=(5, 2))]
    [5, 2, 5]
    """
    start = turn = 0
    while start < len(samples.y):
        stop = start + sizes[turn % len(sizes)]
        yield Samples(samples.X[start:stop], samples.y[start:stop])
        start, turn = stop, turn + 1
