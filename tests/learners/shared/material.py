"""Learners of one covariance for all classes, and streams for their tests."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from i2cansay import SharedI2CANSAY

C, D = 5, 8


def shared(**parameters: Any) -> SharedI2CANSAY:
    return SharedI2CANSAY(**{"lift": 0, "random_state": 0, **parameters})


def closed_form(**parameters: Any) -> SharedI2CANSAY:
    return shared(analogies=False, **parameters)


def draw(n: int = 200, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return signed features of classes that come one after the other, and correlated dimensions."""
    rng, fixed = np.random.default_rng(seed), np.random.default_rng(99)
    y = np.sort(rng.integers(0, C, n))
    mixing = np.eye(D) + 0.3 * fixed.standard_normal((D, D))
    return rng.standard_normal((n, D)) @ mixing + 1.5 * fixed.standard_normal((C, D))[y], y


def taught(model: SharedI2CANSAY, X: np.ndarray, y: np.ndarray, batch: int = 20) -> SharedI2CANSAY:
    for start in range(0, len(X), batch):
        model.partial_fit(X[start : start + batch], y[start : start + batch])
    return model


@cache
def digits() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return X.astype(np.float32), y
