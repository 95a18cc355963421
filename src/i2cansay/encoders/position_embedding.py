"""Position embeddings of vision transformers, interpolated for another number of patches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.encoders.checkpoint import CheckpointError


def resize_positions(positions: NDArray[Any], side: int) -> NDArray[np.float32]:
    """Interpolate a position embedding for another number of patches.

    Parameters
    ----------
    positions : ndarray of shape (1, 1 + old * old, dim)
        The CLS token's first.
    side : int
        The wanted number of patches along a side.

    Returns
    -------
    ndarray of shape (1, 1 + side * side, dim), float32
        Bicubic, as torch's `interpolate(mode="bicubic")`.

    Examples
    --------
    >>> resize_positions(np.ones((1, 1 + 4 * 4, 2)), 6).shape
    (1, 37, 2)
    """
    n_patches, dim = positions.shape[1] - 1, positions.shape[2]
    old = round(n_patches**0.5)
    if old * old != n_patches:
        raise CheckpointError(
            f"expected positions of a CLS token and a square of patches, got {n_patches + 1}"
        )
    if old == side:
        return np.array(positions, dtype=np.float32)
    grid = positions[0, 1:].astype(np.float64).reshape(old, old, dim)
    weights = cubic_weights(old, side)
    resized = np.einsum("ai,bj,ijd->abd", weights, weights, grid, optimize=True).reshape(1, side * side, dim)
    return np.concatenate([positions[:, :1], resized], axis=1).astype(np.float32)


def cubic_weights(old: int, new: int) -> NDArray[np.float64]:
    """Return the (new, old) matrix of cubic interpolation (a = -0.75, pixel centres, edges repeated)."""
    at = (np.arange(new) + 0.5) * old / new - 0.5
    matrix = np.zeros((new, old))
    for neighbour in range(-1, 3):
        source = np.floor(at).astype(int) + neighbour
        distance = np.abs(at - source)
        near = (1.25 * distance - 2.25) * distance**2 + 1
        far = -0.75 * (((distance - 5) * distance + 8) * distance - 4)
        weight = np.where(distance <= 1, near, far)
        np.add.at(matrix, (np.arange(new), source.clip(0, old - 1)), weight)
    return matrix
