"""Small images of three classes that differ in colour, in every form a user may have them."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

COLOURS = {"blue": (40, 60, 200), "green": (40, 180, 60), "red": (200, 50, 40)}


def small_images(n: int, seed: int = 0) -> tuple[list[Any], list[str]]:
    """Make `n` noisy images of 16 x 12 pixels and their labels, in random order."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(list(COLOURS), size=n).tolist()
    noise = rng.normal(scale=25, size=(n, 12, 16, 3))
    means = np.array([COLOURS[label] for label in labels]).reshape(n, 1, 1, 3)
    return list(np.clip(means + noise, 0, 255).astype(np.uint8)), labels


def file_of(image: NDArray[Any] | Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    """Write an image as a file."""
    stream = io.BytesIO()
    opened = image if isinstance(image, Image.Image) else Image.fromarray(image)
    opened.save(stream, kind, **options)
    return stream.getvalue()
