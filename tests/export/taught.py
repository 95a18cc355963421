"""Small learners of every option that an export has to hold for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay import make_learner
from i2cansay.learners.base import OnlineClassifier

WIDTH, N_CLASSES = 24, 6
MEANS = np.abs(np.random.default_rng(7).normal(size=(N_CLASSES, WIDTH))) * 2

OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("i2cansay", {}),
    ("i2cansay", {"distance": "squared"}),
    ("i2cansay", {"distance": "absolute"}),
    ("i2cansay", {"bias_scale": "mean"}),
    ("i2cansay", {"significance": False, "momentum": 0.5}),
    ("i2cansay_shared", {"lift": 0}),
    ("i2cansay_shared", {"lift": 30}),
    ("i2cansay_shared", {"lift": 0, "analogies": False}),
    ("i2cansay_shared", {"lift": 0, "feature_transform": "none", "prior": "empirical"}),
    ("i2cansay_shared", {"lift": 0, "shrink_means": 0.0, "shrinkage": 0.3}),
    ("i2cansay_shared", {"lift": 0, "forgetting": 0.01}),
    ("i2cansay_shared", {"lift": 0, "width": 9}),
    ("i2cansay_shared", {"lift": 0, "width": 4, "analogies": False}),
    ("i2cansay_shared", {"lift": 12, "width": 9}),
    ("i2cansay_shared", {"lift": 0, "blocks": (10, 14)}),
    ("i2cansay_shared", {"lift": 12, "blocks": (10, 14)}),
    ("i2cansay_shared", {"lift": 0, "blocks": (10, 14), "width": 11, "analogies": False}),
]
"""Name and parameters; of two blocks, only the second has values below zero."""


def samples(n: int, seed: int = 0) -> tuple[NDArray[np.float32], NDArray[Any]]:
    """Return features, (n, WIDTH), and labels; those of the last dimension may be below zero."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, N_CLASSES, n)
    X = np.abs(MEANS[classes] + rng.normal(size=(n, WIDTH)))
    X[:, -1] -= 3
    return X.astype(np.float32), np.array([f"class {row}" for row in classes])


def taught(name: str, parameters: dict[str, Any], n: int = 600) -> OnlineClassifier:
    """Return a learner that was taught in lessons, so that it has evidence for verdicts."""
    learner = make_learner(name, random_state=0, **parameters)
    X, y = samples(n)
    for start in range(0, n, 20):
        learner.partial_fit(X[start : start + 20], y[start : start + 20])
    return learner
