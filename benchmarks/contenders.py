"""Who takes turns in the comparisons: the two estimators, and the products that cannot be avoided."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from i2cansay import I2CANSAY, SharedI2CANSAY
from i2cansay.core.linalg.blas import add_outer, inner

BATCH = 50
Batch = tuple[NDArray[np.float32], NDArray[np.int64]]
Estimator = I2CANSAY | SharedI2CANSAY


def batches(d: int, c: int, size: int, n: int = 40) -> list[Batch]:
    """Return batches of noisy class centres, non-negative as features behind a ReLU are."""
    rng = np.random.default_rng(0)
    centres = rng.random((c, d), dtype=np.float32)
    labels = [rng.integers(0, c, size) for _ in range(n)]
    return [(centres[y] + 0.3 * rng.random((size, d), dtype=np.float32), y) for y in labels]


def cycle(items: list[Batch]) -> Callable[[], Batch]:
    """Return a function that gives the items in turn, without end."""
    position = -1

    def next_item() -> Batch:
        nonlocal position
        position = (position + 1) % len(items)
        return items[position]

    return next_item


def estimator(kind: str) -> Estimator:
    """Return a new "paper", "shared" or "closed form"; the latter two without a lift, so that all have one width."""
    if kind == "paper":
        return I2CANSAY(random_state=0)
    return SharedI2CANSAY(lift=0, analogies=kind == "shared", random_state=0)


def taught(kind: str, d: int, c: int) -> Estimator:
    """Return an estimator that has seen every class twice, and so much that it is scored rarely."""
    model, rng = estimator(kind), np.random.default_rng(1)
    for start in range(0, c, 500):
        y = np.repeat(np.arange(start, min(c, start + 500)), 2)
        model.partial_fit(rng.random((len(y), d), dtype=np.float32), y)
    model._calibrate_at = 2**62  # a stream pays for it, a single step is timed without it
    return model


def learn(learner: Any, data: list[Batch]) -> Callable[[], object]:
    """Return the next lesson, each time it is called."""
    following = cycle(data)
    return lambda: learner.partial_fit(*following())


def paper_floor(d: int, c: int, size: int) -> Callable[[], object]:
    """Return the two products of a step: logits of samples and pseudo-features, and the update of the weights."""
    W, rows = np.zeros((c, d), dtype=np.float32), np.ones((2 * size, d), dtype=np.float32)
    error = np.full((2 * size, c), 1e-3, dtype=np.float32)

    def run() -> None:
        inner(rows, W)
        add_outer(W, error, rows, scale=-1e-6)

    return run


def gram_floor(d: int, size: int) -> Callable[[], object]:
    """Return what the shared covariance cannot avoid: one triangle of the Gram matrix of a batch in float64."""
    X, triangle = np.ones((size, d)), np.zeros((d, d), order="F")
    return lambda: blas.dsyrk(1.0, X.T, beta=1.0, c=triangle, overwrite_c=1)


def shared_floor(d: int, c: int, size: int) -> Callable[[], object]:
    """Return the products of a step of the shared mode: Gram triangle, rows times precision, and the paper's two."""
    gram, head = gram_floor(d, size), paper_floor(d, c, size)
    precision, rows = np.zeros((d, d), dtype=np.float32), np.ones((size, d), dtype=np.float32)

    def run() -> None:
        gram()
        inner(rows, precision)
        head()

    return run
