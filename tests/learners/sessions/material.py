"""Small sessions: clouds of points, a few classes at a time."""

from collections.abc import Iterator

import numpy as np

from i2cansay.learners.base import OnlineClassifier


def clouds(
    n: int = 300, n_classes: int = 6, width: int = 10, *, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return samples of classes whose centres do not depend on `seed`."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    centres = np.random.default_rng(9).normal(size=(n_classes, width))
    return centres[y] + 0.4 * rng.normal(size=(n, width)), y


def sessions(X: np.ndarray, y: np.ndarray, step: int = 2) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the samples of `step` classes at a time."""
    for first in range(0, int(y.max()) + 1, step):
        rows = np.flatnonzero((y >= first) & (y < first + step))
        yield X[rows], y[rows]


def taught(model: OnlineClassifier, X: np.ndarray, y: np.ndarray, step: int = 2) -> OnlineClassifier:
    """Return the model after one session after the other."""
    for session in sessions(X, y, step):
        model.partial_fit(*session)
    return model
