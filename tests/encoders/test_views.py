"""The mean over an image and its mirror image."""

from __future__ import annotations

import numpy as np
import pytest

from i2cansay.encoders import get_encoder

IMAGES = np.random.default_rng(0).integers(0, 256, (5, 64, 64, 3), dtype=np.uint8)


@pytest.mark.parametrize("name", ["efficientnet-lite0@64", "efficientnet-lite0+stages@64"])
def test_mirror_is_the_mean_of_two_passes(name: str) -> None:
    single = get_encoder(name, threads=1)
    both = get_encoder(name, views="mirror", threads=1)
    squares = np.stack([single.prepare(image) for image in IMAGES])
    mirrored = np.ascontiguousarray(squares[:, :, ::-1])
    expected = (single.infer(squares) + single.infer(mirrored)) / 2
    assert np.abs(single.infer(squares) - single.infer(mirrored)).max() > 0.01
    assert np.array_equal(both.infer(squares), expected)
    assert (both.dim, both.blocks) == (single.dim, single.blocks)


def test_a_mirrored_image_has_the_same_features() -> None:
    encoder = get_encoder("efficientnet-lite0+stages+mirror@64", threads=1)
    there, back = encoder.encode(IMAGES), encoder.encode(IMAGES[:, :, ::-1])
    # Resampling may round a pixel of the mirrored image to the other side.
    assert np.allclose(there, back, atol=0.05)
    squares = np.stack([encoder.prepare(image) for image in IMAGES])
    assert np.array_equal(encoder.infer(squares), encoder.infer(np.ascontiguousarray(squares[:, :, ::-1])))


def test_views_are_in_the_fingerprint() -> None:
    names = ["efficientnet-lite0", "efficientnet-lite0+mirror"]
    names += ["efficientnet-lite0+stages", "efficientnet-lite0+stages+mirror"]
    encoders = {name: get_encoder(name) for name in names}
    assert len({encoder.fingerprint for encoder in encoders.values()}) == 4
    assert [encoder.name for encoder in encoders.values()] == names
    assert encoders[names[3]].last_fingerprint == encoders[names[1]].fingerprint
    assert encoders[names[2]].last_fingerprint == encoders[names[0]].fingerprint


def test_an_encoder_has_its_views_once() -> None:
    mirrored = get_encoder("pixels+mirror")
    assert mirrored.with_views("mirror") is mirrored
    with pytest.raises(ValueError, match="has its views already"):
        mirrored.with_views("single")
    with pytest.raises(ValueError, match="views is one of single, mirror, got 'upside-down'"):
        get_encoder("pixels", views="upside-down")


def test_making_a_mirrored_encoder_leaves_the_other_as_it_was() -> None:
    single = get_encoder("pixels", size=4)
    before = single.encode(IMAGES)
    mirrored = single.with_views("mirror")
    assert (single.views, mirrored.views, single.name) == ("single", "mirror", "pixels")
    assert np.array_equal(single.encode(IMAGES), before)
