"""Pixels of any mode or type as 8-bit RGB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.encoders.extra import import_extra
from i2cansay.encoders.image_error import ImageError

if TYPE_CHECKING:
    from PIL import Image


def to_rgb(image: Image.Image) -> Image.Image:
    """Convert any mode to RGB."""
    if image.mode == "RGB" and "transparency" not in image.info:
        return image
    pillow = import_extra("PIL.Image")
    if image.mode.startswith("I") or image.mode == "F":
        return pillow.fromarray(eight_bits(_numbers(image))).convert("RGB")  # type: ignore[no-any-return]
    if image.mode == "La":  # Pillow has no shorter way from this one
        image = image.convert("LA")
    if image.mode in ("LA", "PA", "RGBA", "RGBa") or "transparency" in image.info:
        straight = image.convert("RGBA")
        page = pillow.new("RGB", image.size, "white")
        page.paste(straight, mask=straight.getchannel("A"))
        return page  # type: ignore[no-any-return]
    return image.convert("RGB")


def _numbers(image: Image.Image) -> NDArray[Any]:
    """Pixels of the modes I, I;16 and F; whole numbers as uint16, or as uint8 where that was meant."""
    numbers = np.asarray(image)
    if image.mode == "F":
        return numbers
    # Mode I has 32 bits, but the files that give it (16-bit PNG and PGM in some Pillow versions) use 16.
    if numbers.min() < 0 or numbers.max() > 65535:
        raise ImageError("the image has pixels of 32 bits; expected 8 or 16 bits per channel")
    # Made in memory from 8 bits it keeps their range; a dark 16-bit file must stay dark.
    if image.mode == "I" and image.format not in ("PNG", "PPM") and numbers.max() <= 255:
        return numbers.astype(np.uint8)
    return numbers.astype(np.uint16)


def eight_bits(pixels: NDArray[Any]) -> NDArray[np.uint8]:
    """Pixels of any accepted type as uint8, (height, width) or (height, width, 3 or 4)."""
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    if pixels.ndim not in (2, 3) or (pixels.ndim == 3 and pixels.shape[2] not in (3, 4)):
        raise ImageError(
            f"expected an array of shape (height, width) or (height, width, 1, 3 or 4), got {pixels.shape}"
        )
    if pixels.dtype == np.uint8:
        return np.ascontiguousarray(pixels)
    if pixels.dtype == np.bool_:
        return pixels.astype(np.uint8) * np.uint8(255)
    if pixels.dtype == np.uint16:
        return ((pixels.astype(np.uint32) + 128) // 257).astype(np.uint8)
    if pixels.dtype.kind == "f":
        # NaN fails both comparisons, so the check is written as what must hold.
        if not (pixels.min() >= 0 and pixels.max() <= 1):
            raise ImageError(
                "pixels given as floats must lie in 0..1; divide by their largest possible value"
            )
        scaled: NDArray[np.uint8] = np.rint(pixels.astype(np.float32) * np.float32(255)).astype(np.uint8)
        return scaled
    raise ImageError(f"expected pixels of type uint8, uint16, bool or float in 0..1, got {pixels.dtype}")
