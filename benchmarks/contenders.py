"""Who takes turns in the comparisons: the two estimators, their peers, and the products that cannot be avoided.

Peers are taken as they come, on data of one shape: scikit-learn's SGDClassifier and GaussianNB, a plain streaming
LDA, and, where they are installed, river's classifiers and the complete step of the paper in eager torch.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
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


class PlainSLDA:
    """Streaming LDA as published: every sample adds an outer product to one covariance; predicting inverts it."""

    def __init__(self, n_features: int, n_classes: int) -> None:
        self._count, self._mean = np.zeros(n_classes), np.zeros((n_classes, n_features))
        self._scatter = np.zeros((n_features, n_features))

    def partial_fit(self, X: NDArray[np.float32], y: NDArray[np.int64]) -> None:
        """Learn a batch, sample by sample."""
        for x, label in zip(X.astype(np.float64), y.tolist(), strict=True):
            n, offset = self._count[label], x - self._mean[label]
            self._scatter += n / (n + 1) * np.outer(offset, offset)
            self._mean[label] += offset / (n + 1)
            self._count[label] += 1

    def predict(self, X: NDArray[np.float32]) -> NDArray[np.int64]:
        """Return the class of each row."""
        covariance = self._scatter / self._count.sum()
        covariance = (1 - 1e-4) * covariance + 1e-4 * np.eye(len(covariance))
        weights = np.linalg.solve(covariance, self._mean.T)
        offset = -0.5 * np.einsum("cd,dc->c", self._mean, weights)
        best: NDArray[np.int64] = (X @ weights + offset).argmax(axis=1)
        return best


def river_learners(c: int) -> dict[str, Any]:
    """Return river's classifiers, none where it is not installed or one sample would take long."""
    if c > 100 or find_spec("river") is None:
        return {}
    linear_model, naive_bayes = (import_module(f"river.{name}") for name in ("linear_model", "naive_bayes"))
    return {
        "river SoftmaxRegression": linear_model.SoftmaxRegression(),
        "river GaussianNB": naive_bayes.GaussianNB(),
    }


def river_learn(learner: Any, data: list[Batch]) -> Callable[[], object]:
    """Return a lesson of one sample as river takes it, a dictionary; making it is not what is timed.

    All samples are learnt once before: the first of a class takes river forty times as long as the others, and what
    is compared are learners that know their classes.
    """
    samples = [(dict(enumerate(X[0].tolist())), int(y[0])) for X, y in data]
    for sample in samples:
        learner.learn_one(*sample)
    position = -1

    def run() -> None:
        nonlocal position
        position = (position + 1) % len(samples)
        learner.learn_one(*samples[position])

    return run


def eager_torch_step(d: int, c: int, data: list[Batch], threads: int = 1) -> Callable[[], object] | None:
    """Return the same complete step (moments, pseudo-features, both losses, SGD) in eager torch, or None."""
    try:
        import torch
    except ImportError:
        return None
    functional = torch.nn.functional
    torch.set_num_threads(threads)
    count = torch.full((c,), 2.0, dtype=torch.float64)
    mean, m2 = torch.rand(c, d, dtype=torch.float64), torch.rand(c, d, dtype=torch.float64)
    head = torch.nn.Linear(d, c, bias=False)
    optimiser = torch.optim.SGD(head.parameters(), lr=0.02, weight_decay=5e-5)
    following = cycle(data)

    def step() -> None:
        x, y = (torch.from_numpy(array) for array in following())
        with torch.no_grad():
            classes, groups = torch.unique(y, return_inverse=True)
            offset = x.double() - mean[y]
            shape = (len(classes), d)
            total = torch.zeros(shape, dtype=torch.float64).index_add_(0, groups, offset)
            squares = torch.zeros(shape, dtype=torch.float64).index_add_(0, groups, offset * offset)
            count.index_add_(0, y, torch.ones(len(y), dtype=torch.float64))
            move = total / count[classes, None]
            mean.index_add_(0, classes, move)
            m2.index_add_(0, classes, squares - move * total)
            old = torch.randint(0, c - 1, (len(y),))
            old += old >= y
            ratio = (m2[old] / count[old, None]).sqrt() / ((m2[y] / count[y, None]).sqrt() + 1e-8)
            pseudo = ((x - mean[y]) * ratio + mean[old]).float()
        loss = functional.cross_entropy(head(x), y) + 2 * functional.cross_entropy(head(pseudo), old)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    return step
