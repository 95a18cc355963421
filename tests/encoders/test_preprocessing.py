"""What part of an image the encoder sees, at which brightness."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from i2cansay.encoders.preprocessing import Preprocessing


def gradient(width: int, height: int) -> Image.Image:
    """Red grows to the right, green downwards."""
    red = np.tile(np.linspace(0, 255, width), (height, 1))
    green = np.tile(np.linspace(0, 255, height)[:, None], (1, width))
    return Image.fromarray(np.dstack([red, green, 0 * red]).round().astype(np.uint8))


@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 24), st.integers(0, 8))
@settings(max_examples=60, deadline=None)
def test_any_image_becomes_a_square(width: int, height: int, size: int, margin: int) -> None:
    looking = Preprocessing(size=size, resize=size + margin)
    square = looking.square(Image.new("RGB", (width, height), (10, 20, 30)))
    assert square.shape == (size, size, 3)
    assert (square == [10, 20, 30]).all()


def test_a_large_image_is_resized_and_cropped_as_in_two_steps() -> None:
    looking = Preprocessing(size=56, resize=64, interpolation="bilinear")
    image = gradient(300, 200)
    resized = np.asarray(image.resize((96, 64), Image.Resampling.BILINEAR)).astype(int)
    expected = resized[4:60, 20:76]
    assert np.abs(looking.square(image) - expected).max() <= 2


def test_a_small_image_keeps_its_border() -> None:
    looking = Preprocessing(size=64, resize=80)
    image = gradient(32, 32)
    expected = np.asarray(image.resize((64, 64), Image.Resampling.BICUBIC))
    assert np.array_equal(looking.square(image), expected)


def test_the_crop_is_central() -> None:
    square = Preprocessing(size=20, resize=25).square(gradient(100, 60)).astype(int)
    assert np.abs(square + square[::-1, ::-1] - [255, 255, 0]).max() <= 3


def test_normalisation_is_the_published_formula() -> None:
    looking = Preprocessing(mean=(0.1, 0.2, 0.3), std=(0.5, 0.6, 0.7))
    pixels = np.arange(0, 240, dtype=np.uint8).reshape(2, 4, 10, 3)
    expected = (pixels / 255 - [0.1, 0.2, 0.3]) / [0.5, 0.6, 0.7]
    assert np.allclose(looking.normalise(pixels), expected, atol=1e-6)


def test_size_keeps_the_margin_in_proportion() -> None:
    assert Preprocessing().with_size(None) == Preprocessing()
    assert Preprocessing().with_size(112) == Preprocessing(size=112, resize=128)


@pytest.mark.parametrize(
    "change",
    [
        {"size": 225},
        {"resize": 255},
        {"interpolation": "bilinear"},
        {"mean": (0.0,) * 3},
        {"std": (1.0,) * 3},
    ],
)
def test_every_setting_is_in_the_fingerprint(change: dict[str, object]) -> None:
    original = Preprocessing()
    changed = replace(original, **change)  # type: ignore[arg-type]
    assert changed.fingerprint_text() != original.fingerprint_text()


@pytest.mark.parametrize(
    ("settings_", "sentence"),
    [
        ({"size": 0}, "1 <= size"),
        ({"size": 30, "resize": 20}, "size <= resize"),
        ({"interpolation": "cubic"}, "bicubic"),
        ({"std": (1.0, 0.0, 1.0)}, "positive"),
        ({"mean": (1.0, 0.0)}, "three"),
    ],
)
def test_impossible_settings_are_refused(settings_: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Preprocessing(**settings_)  # type: ignore[arg-type]


@pytest.mark.parametrize("looking", [Preprocessing(size=64, resize=72), Preprocessing(size=64, resize=64)])
def test_the_words_are_true(looking: Preprocessing) -> None:
    """A frame of 1 / 10 is cut off where the words say so, and kept where they say so."""
    for side in (40, 640):
        image = np.zeros((side, side, 3), np.uint8)
        image[: side // 20] = 255
        seen = looking.square(Image.fromarray(image)).max() > 128
        keeps = looking.resize == looking.size or side < looking.size
        assert seen == keeps
    assert ("enlarged to 64 instead" in looking.in_words()) == (looking.resize > looking.size)
