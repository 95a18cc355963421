"""From an image to the square of pixels that an encoder looks at."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from i2cansay.encoders.extra import import_extra

if TYPE_CHECKING:
    from PIL import Image

Pixels = NDArray[np.uint8]

INTERPOLATIONS = ("nearest", "bilinear", "bicubic", "lanczos")
IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


class SizeError(ValueError):
    """A size of input that an encoder cannot take."""


@dataclass(frozen=True)
class Preprocessing:
    """How an image becomes an encoder's input.

    The shorter side is resized to `resize` and the central square of `size` pixels is kept. An image whose
    shorter side is below `size` is enlarged to `size` instead, with nothing cropped but the excess of its
    longer side: the border of a 32-pixel image is subject, not margin. The two steps are done as one, by
    resampling the part of the image that will be kept.

    Attributes
    ----------
    size : int
        Side of the square that the encoder sees.
    resize : int
        Length of the shorter side before the crop; at least `size`.
    interpolation : {"nearest", "bilinear", "bicubic", "lanczos"}
    mean, std : tuple of three floats
        The encoder sees (pixel / 255 - mean) / std for red, green and blue.

    Examples
    --------
    >>> from PIL import Image
    >>> looking = Preprocessing(size=4, resize=5)
    >>> looking.square(Image.new("RGB", (30, 20), "red")).shape
    (4, 4, 3)
    >>> looking.with_size(8).resize
    10
    """

    size: int = 224
    resize: int = 256
    interpolation: str = "bicubic"
    mean: tuple[float, float, float] = IMAGENET_MEAN
    std: tuple[float, float, float] = IMAGENET_STD

    def __post_init__(self) -> None:
        if not 1 <= self.size <= self.resize:
            raise ValueError(f"expected 1 <= size <= resize, got size {self.size} and resize {self.resize}")
        if self.interpolation not in INTERPOLATIONS:
            raise ValueError(
                f"interpolation is one of {', '.join(INTERPOLATIONS)}, got {self.interpolation!r}"
            )
        finite = all(math.isfinite(value) for value in (*self.mean, *self.std))
        if len(self.mean) != 3 or len(self.std) != 3 or not finite or min(self.std) <= 0:
            raise ValueError(f"expected three means and three positive stds, got {self.mean} and {self.std}")

    def with_size(self, size: int | None) -> Preprocessing:
        """Return the same at another size, with the margin around the crop kept in proportion."""
        if size is None or size == self.size:
            return self
        return replace(self, size=size, resize=round(size * self.resize / self.size))

    def in_words(self) -> str:
        """Say what becomes of an image.

        Examples
        --------
        >>> Preprocessing(size=64, resize=64).in_words()
        'shorter side of small and large images to 64 pixels, bicubic, then the centre of 64 x 64'
        """
        crop = f"{self.interpolation}, then the centre of {self.size} x {self.size}"
        if self.resize == self.size:
            return f"shorter side of small and large images to {self.size} pixels, {crop}"
        return (
            f"shorter side to {self.resize} pixels, {crop}; an image whose shorter side is below {self.size} "
            f"is enlarged to {self.size} instead, which keeps its border"
        )

    def square(self, image: Image.Image) -> Pixels:
        """Resize and crop an RGB image.

        Returns
        -------
        ndarray of shape (size, size, 3), uint8
        """
        resampling = getattr(import_extra("PIL.Image").Resampling, self.interpolation.upper())
        shorter = min(image.size)
        kept = shorter * self.size / (self.resize if shorter >= self.size else self.size)
        left, top = (image.width - kept) / 2, (image.height - kept) / 2
        box = (left, top, left + kept, top + kept)
        return np.asarray(image.resize((self.size, self.size), resampling, box=box))

    def normalise(self, squares: Pixels) -> NDArray[np.float32]:
        """Turn squares of shape (n, size, size, 3) into the numbers that the encoder sees, same shape."""
        scale, shift = self.scale_and_shift()
        return np.asarray(squares, dtype=np.float32) * scale + shift

    def scale_and_shift(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return scale and shift, each of shape (3,), so that the encoder sees pixel * scale + shift."""
        mean, std = np.array(self.mean), np.array(self.std)
        return (1 / (255 * std)).astype(np.float32), (-mean / std).astype(np.float32)

    def fingerprint_text(self) -> str:
        """Return the settings as one line that is equal exactly when they are equal."""
        return json.dumps(asdict(self), sort_keys=True)
