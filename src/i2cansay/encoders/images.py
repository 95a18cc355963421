"""Opening images of every kind; what is not an image is refused with a sentence that says why."""

from __future__ import annotations

import io
import os
import stat
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from i2cansay.encoders.extra import import_extra
from i2cansay.encoders.image_error import ImageError
from i2cansay.encoders.pillow_warnings import quiet_pillow_warnings
from i2cansay.encoders.rgb import eight_bits, to_rgb

if TYPE_CHECKING:
    from PIL import Image

    Source: TypeAlias = (
        str | os.PathLike[str] | bytes | bytearray | memoryview | IO[bytes] | Image.Image | NDArray[Any]
    )

__all__ = ["FORMATS", "MAX_PIXELS", "ImageError", "open_image"]

# The largest image that is decoded: 64-megapixel cameras pass, and decoding takes 0.3 GB, as WebP 1 GB.
MAX_PIXELS = 2**26
# Above this, images are decoded one at a time, so that several threads do not multiply that memory.
LARGE = 2**24
# Formats for photographs and drawings; others (EPS runs a program, PDF is a document) are never tried.
FORMATS = ("PNG", "JPEG", "MPO", "WEBP", "GIF", "BMP", "TIFF", "PPM", "AVIF")
# EXIF's orientation: which transposition shows the image upright.
UPRIGHT = {
    2: "FLIP_LEFT_RIGHT",
    3: "ROTATE_180",
    4: "FLIP_TOP_BOTTOM",
    5: "TRANSPOSE",
    6: "ROTATE_270",
    7: "TRANSVERSE",
    8: "ROTATE_90",
}
ORIENTATION = 0x0112

_one_at_a_time = threading.Lock()
# An image that Pillow has not loaded yet and an open file have a place where they are read next: two threads
# that meet the same one go one after the other. Which lock it is follows from where the object lies in memory;
# images come before files, so that nobody waits in a circle.
_image_locks = [threading.Lock() for _ in range(64)]
_file_locks = [threading.Lock() for _ in range(64)]


def open_image(
    source: Source, *, max_pixels: int = MAX_PIXELS, shorter_side: int | None = None
) -> Image.Image:
    """Open an image as upright RGB.

    Parameters
    ----------
    source : path, bytes, binary file, PIL image or ndarray
        Arrays are (height, width) or (height, width, 1, 3 or 4): bool, uint8, uint16 over the full range,
        or floats in 0..1.
    max_pixels : int
        A larger image is refused from its header, before it is decoded.
    shorter_side : int, optional
        What the caller needs of the shorter side. A JPEG file at least twice as large is decoded at a half, a
        quarter or an eighth of its size, but no smaller than this: several times faster for photographs.

    Returns
    -------
    PIL.Image.Image
        Mode RGB. EXIF orientation is applied; transparent parts are shown on white, as on a page; 16-bit
        grey is scaled to 8 bits; CMYK is converted without colour profile.

    Raises
    ------
    ImageError
        For what is missing, damaged, cut off, animated, empty, too large, or not an image.

    Examples
    --------
    >>> open_image(np.array([[0.0, 1.0]])).getpixel((1, 0))
    (255, 255, 255)
    >>> open_image(b"GIF89a")
    Traceback (most recent call last):
    i2cansay.encoders.image_error.ImageError: the file is damaged or not an image (PNG, JPEG, ...)
    """
    pillow = import_extra("PIL.Image")
    if isinstance(source, np.ndarray):
        _check_size(
            (source.shape[1], source.shape[0]) if source.ndim >= 2 else (0, 0), max_pixels, source.shape
        )
        return to_rgb(pillow.fromarray(eight_bits(source)))
    if isinstance(source, pillow.Image):
        with _lock_of(source, _image_locks), _lock_of(getattr(source, "fp", None), _file_locks):
            return _decoded(lambda: source, max_pixels, None)
    with ExitStack() as stack:
        stream = _stream(source, stack)
        if stream is source:
            stack.enter_context(_lock_of(stream, _file_locks))
        return _decoded(lambda: pillow.open(stream, formats=formats_of(pillow)), max_pixels, shorter_side)


def _lock_of(thing: object, locks: list[threading.Lock]) -> AbstractContextManager[object]:
    return nullcontext() if thing is None else locks[(id(thing) >> 4) % len(locks)]


def _stream(source: Any, stack: ExitStack) -> IO[bytes]:
    """The bytes of an image as a binary stream; files are closed with the stack."""
    if isinstance(source, bytes | bytearray | memoryview):
        if len(source) == 0:
            raise ImageError("the image has no bytes")
        return io.BytesIO(source)
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        try:
            # A pipe or a device could block for ever.
            if not stat.S_ISREG(path.stat().st_mode):
                raise ImageError(f"{path} is not a file")
            return stack.enter_context(path.open("rb"))
        except (OSError, ValueError) as error:
            if isinstance(error, ImageError):
                raise
            reason = error.strerror if isinstance(error, OSError) else error
            raise ImageError(f"cannot open {str(path)!r}: {reason}") from error
    if hasattr(source, "read") and hasattr(source, "seek"):
        stream: IO[bytes] = source
        return stream
    raise ImageError(
        "expected a path, bytes, a binary file, a PIL image or an array, "
        f"got {type(source).__module__}.{type(source).__qualname__}"
    )


def _decoded(opened: Callable[[], Image.Image], max_pixels: int, shorter_side: int | None) -> Image.Image:
    """Open, check, decode, turn upright, convert; whatever a decoder raises becomes an ImageError."""
    try:
        with quiet_pillow_warnings():
            image = opened()
            _check_size(image.size, max_pixels, image.size)
            # MPO is what some phones call a photograph with a second view or depth map behind it.
            if image.format != "MPO" and getattr(image, "is_animated", False):
                raise ImageError("the image is animated or has several pages; expected a single one")
            if shorter_side is not None:
                image.draft(None, (shorter_side, shorter_side))
            with _one_at_a_time if image.width * image.height > LARGE else nullcontext():
                image.load()
                return to_rgb(_upright(image))
    except ImageError:
        raise
    except MemoryError as error:
        raise ImageError("the image needs more memory than there is") from error
    except Exception as error:  # decoders raise OSError, SyntaxError, struct.error, IndexError, ...
        raise ImageError(_what_happened(error)) from error


def _what_happened(error: Exception) -> str:
    """Return a sentence on what a decoder raised."""
    kind = type(error).__name__
    if kind == "DecompressionBombError":
        return "the image has more pixels than Pillow opens; shrink it first"
    text = str(error).split("\n", maxsplit=1)[0].strip()
    if kind == "UnidentifiedImageError":
        text = "PNG, JPEG, ..."
    elif not text or " object at 0x" in text:  # addresses mean nothing to the reader
        text = kind
    return f"the file is damaged or not an image ({text})"


def _check_size(size: tuple[int, int], max_pixels: int, shown: tuple[int, ...]) -> None:
    if min(size) < 1:
        raise ImageError(f"the image has no pixels (size {shown})")
    if size[0] * size[1] > max_pixels:
        raise ImageError(
            f"the image has {size[0]} x {size[1]} pixels, more than the {max_pixels} allowed; shrink it first"
        )


def _upright(image: Image.Image) -> Image.Image:
    try:
        orientation = image.getexif().get(ORIENTATION, 1)
    except Exception:  # damaged EXIF: the image itself may be whole
        orientation = 1
    if orientation not in UPRIGHT:
        return image
    return image.transpose(getattr(import_extra("PIL.Image").Transpose, UPRIGHT[orientation]))


def formats_of(pillow: Any) -> list[str]:
    """The accepted formats that this Pillow was built with."""
    pillow.init()
    return [name for name in FORMATS if name in pillow.OPEN]
