"""Drawing prompts and keys, and how near a query is to keys."""

from __future__ import annotations

import numpy as np

from i2cansay.core.types import Float32
from i2cansay.learners.prompts.vision_transformer import Tensor
from i2cansay.learners.torch_extra import import_torch


def cosines(queries: Tensor, keys: Tensor) -> Tensor:
    """Return the cosines, (n, m), of queries (n, d) and keys (m, d)."""
    normalize = import_torch().nn.functional.normalize
    return normalize(queries, dim=-1) @ normalize(keys, dim=-1).T


def uniform(rng: np.random.Generator | None, *shape: int) -> Float32:
    """Return numbers from -1 to 1, or without a generator zeros."""
    if rng is None:
        return np.zeros(shape, np.float32)
    return rng.uniform(-1, 1, shape).astype(np.float32)


def orthonormal(rng: np.random.Generator | None, n: int, width: int) -> Float32:
    """Return `n` random rows of length one that are orthogonal as far as their width allows.

    Examples
    --------
    >>> rows = orthonormal(np.random.default_rng(0), 3, 8)
    >>> np.allclose(rows @ rows.T, np.eye(3), atol=1e-6)
    True
    """
    if rng is None:
        return np.zeros((n, width), np.float32)
    runs = []
    for start in range(0, n, width):  # no more than `width` rows are orthogonal to each other
        square, _ = np.linalg.qr(rng.normal(size=(width, min(width, n - start))))
        runs.append(square.T)
    return np.concatenate(runs).astype(np.float32)
