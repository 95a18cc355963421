"""Sizes of images, read from their headers, so that expensive images are refused before they are decoded."""

from __future__ import annotations

import io
import struct
from typing import Any, NamedTuple

from i2cansay.encoders.extra import import_extra
from i2cansay.encoders.images import formats_of
from i2cansay.encoders.pillow_warnings import quiet_pillow_warnings
from i2cansay.service.errors import refused, too_large
from i2cansay.service.limits import Limits

MOST_SCANS = 100
"""Of a progressive JPEG, each a pass over the whole image. Real files have about 10; libtiff stops here too."""


class MeasuredImage(NamedTuple):
    """The bytes of an image and the number of its pixels, 0 where its header cannot be read."""

    data: bytes
    pixels: int


def measure_images(images: list[bytes], limits: Limits) -> list[MeasuredImage]:
    """Return images with their sizes; raise ServiceError where they are too large to decode.

    Data that are not an image pass: the encoder says what is wrong with them.
    """
    measured: list[MeasuredImage] = []
    total = 0
    for number, data in enumerate(images, start=1):
        width, height = _size(data)
        if width * height > limits.pixels:
            raise refused(
                f"image {number}: it has {width} x {height} pixels, more than the {limits.pixels} allowed; "
                "shrink it first"
            )
        if data[:2] == b"\xff\xd8" and (scans := data.count(b"\xff\xda")) > MOST_SCANS:
            raise refused(
                f"image {number}: it has {scans} scans, more than {MOST_SCANS}; save it again as JPEG"
            )
        total += width * height
        if total > limits.request_pixels:
            raise too_large(
                f"the images of one request may have {limits.request_pixels} pixels together, and images 1 to "
                f"{number} have {total}; shrink them, or send them in parts"
            )
        measured.append(MeasuredImage(data, width * height))
    return measured


def _size(data: bytes) -> tuple[int, int]:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return webp_size(data)
    pillow: Any = import_extra("PIL.Image")
    try:
        with quiet_pillow_warnings(), pillow.open(io.BytesIO(data), formats=formats_of(pillow)) as opened:
            width, height = opened.size
            return width, height
    except Exception:  # decoders raise anything
        return 0, 0


def webp_size(data: bytes) -> tuple[int, int]:
    """Return width and height of a WebP file; Pillow would allocate all of its pixels first.

    Examples
    --------
    >>> webp_size(b"RIFF....WEBPVP8X....\\x00...\\x2b\\x01\\x00\\xc7\\x00\\x00")
    (300, 200)
    """
    try:
        kind = data[12:16]
        if kind == b"VP8X":
            low = struct.unpack_from("<HBHB", data, 24)
            return 1 + low[0] + (low[1] << 16), 1 + low[2] + (low[3] << 16)
        if kind == b"VP8L":
            (bits,) = struct.unpack_from("<I", data, 21)
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    except struct.error:
        return 0, 0
