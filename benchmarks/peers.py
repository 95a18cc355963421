"""Whom the estimators are compared with, beside scikit-learn's: a plain SLDA, river's classifiers, eager torch.

Peers are taken as they come, on data of one shape. river and torch take part where they are installed.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from contenders import Batch, cycle
from numpy.typing import NDArray

from i2cansay import I2CANSAY


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


def river_predict(learner: Any, X: NDArray[np.float32], c: int) -> Callable[[], object]:
    """Return a question of one row as river takes it, a dictionary; making it is not what is timed.

    Two samples of each of the `c` classes are learnt before: river scores the classes that it knows, and computes
    less for one without a variance.
    """
    rows = [dict(enumerate(x.tolist())) for x in X[: 2 * c]]
    for position, row in enumerate(rows):
        learner.learn_one(row, position % c)
    position = -1

    def run() -> object:
        nonlocal position
        position = (position + 1) % len(rows)
        return learner.predict_one(rows[position])

    return run


def eager_torch_step(d: int, c: int, data: list[Batch], threads: int = 1) -> Callable[[], object] | None:
    """Return the same complete step (moments, pseudo-features, both losses, SGD) in eager torch, or None."""
    if (torch := _torch(threads)) is None:
        return None
    functional = torch.nn.functional
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


def eager_torch_predict(
    model: I2CANSAY, X: NDArray[np.float32], threads: int = 1
) -> Callable[[], NDArray[np.int64]] | None:
    """Return the paper's decision for the rows of `X`, (n, d), in eager torch, or None.

    It is that of `model`, by three products. What `I2CANSAY` keeps ready between questions is made before. Its
    guard against cancellation is left out.
    """
    if (torch := _torch(threads)) is None:
        return None
    weights = torch.from_numpy(model._head.weights[model._labels.order])
    mean, std = torch.from_numpy(model.class_means_).float(), torch.from_numpy(model.class_stds_)
    u = torch.softmax(-std, dim=1)
    u_mean = u * mean
    constant = (u_mean * mean).sum(dim=1)

    def predict() -> NDArray[np.int64]:
        with torch.inference_mode():
            x = torch.from_numpy(X)
            squared = (x * x) @ u.T + constant - 2 * (x @ u_mean.T)
            distances = squared.clamp_(min=0).sqrt_()
            correction = distances.sum(dim=1, keepdim=True) / distances
            scores = torch.softmax(x @ weights.T, dim=1) + correction
            best: NDArray[np.int64] = scores.argmax(dim=1).numpy()
        return best

    return predict


def _torch(threads: int) -> Any:
    """Return torch, set to so many threads, or None where it is not installed."""
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(threads)
    return torch
