"""Pixels as features."""

from __future__ import annotations

import numpy as np
import pytest

from i2cansay.encoders import get_encoder


def test_an_image_of_the_right_size_is_only_flattened_and_scaled() -> None:
    image = np.random.default_rng(0).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    features = get_encoder("pixels").encode([image])
    assert np.array_equal(features[0], image.ravel().astype(np.float32) / np.float32(255))


def test_size_changes_width_and_fingerprint() -> None:
    small, large = get_encoder("pixels", size=4), get_encoder("pixels", size=5)
    assert (small.dim, large.dim) == (48, 75)
    assert small.fingerprint != large.fingerprint
    assert small.fingerprint == get_encoder("pixels", size=4, threads=3).fingerprint


def test_weights_are_refused() -> None:
    with pytest.raises(ValueError, match="has no weights"):
        get_encoder("pixels", weights="some.npz")
