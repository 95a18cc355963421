"""Small synthetic images shared by the tests of this room."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture
def small_images(rng: np.random.Generator) -> NDArray[np.uint8]:
    """Sixty images of 32x32."""
    return rng.integers(0, 256, (60, 32, 32, 3), dtype=np.uint8)


@pytest.fixture
def ten_labels(rng: np.random.Generator) -> NDArray[np.int64]:
    return rng.integers(0, 10, 60, dtype=np.int64)
