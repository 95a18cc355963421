"""Sizes of images, read from their headers, so that expensive images are refused before they are decoded."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

from i2cansay.encoders.extra import import_extra
from i2cansay.encoders.images import formats_of
from i2cansay.encoders.pillow_warnings import quiet_pillow_warnings
from i2cansay.service.errors import refused, too_large
from i2cansay.service.limits import Limits
from i2cansay.service.model.image_parts import (
    AGAIN,
    MOST_READS,
    CountedReads,
    expensive_part,
    slow_decoder,
)
from i2cansay.service.model.tiff_layout import tiff_layout


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
        if (why := expensive_part(data)) is not None:
            raise refused(f"image {number}: {why}")
        width, height, why = _size(data)
        if why is not None:
            raise refused(f"image {number}: {why}")
        if width * height > limits.pixels:
            raise refused(
                f"image {number}: it has {width} x {height} pixels, {megapixels(width * height)}, and an image may "
                f"have {megapixels(limits.pixels)}; shrink it first"
            )
        total += width * height
        if total > limits.request_pixels:
            raise too_large(
                f"the images of one request may have {megapixels(limits.request_pixels)} together, and images 1 to "
                f"{number} have {megapixels(total)}; shrink them, or send them in parts"
            )
        measured.append(MeasuredImage(data, width * height))
    return measured


def megapixels(pixels: int) -> str:
    """Say a number of pixels as people say it.

    Examples
    --------
    >>> megapixels(50_000_000), megapixels(1_250_410_000)
    ('50 megapixels', '1,250.41 megapixels')
    """
    return f"{pixels / 1e6:,.6g} megapixels"


def _size(data: bytes) -> tuple[int, int, str | None]:
    """Return width and height, 0 where they cannot be read, and why the image should not be decoded."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return *webp_size(data), None
    pillow: Any = import_extra("PIL.Image")
    file = CountedReads(data)
    width = height = 0
    slow = None
    try:
        with quiet_pillow_warnings(), pillow.open(file, formats=formats_of(pillow)) as opened:
            width, height = opened.size
            slow = slow_decoder(pillow, opened)
            _ = getattr(opened, "is_animated", False)  # the decoder asks too, and a GIF is searched for it
    except Exception:  # decoders raise anything
        pass
    if file.reads > MOST_READS:
        return 0, 0, f"its header does not end within {MOST_READS} reads; {AGAIN}"
    if (layout := tiff_layout(data)) is not None:
        width, height = max(width, layout.width), max(height, layout.height)
    return width, height, slow


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
