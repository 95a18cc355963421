"""Parts of image files that cost more than pixels: too many or too large, and the file is not decoded.

A file of eight by eight pixels can hold a thousand colour profiles that unpack to a megabyte each, a tile of a
thousand megapixels, or a million comments. Pillow reads all of it, and the encoder would stand still meanwhile.
"""

from __future__ import annotations

import io
from typing import Any

from i2cansay.service.model.tiff_layout import tiff_layout

MOST_READS = 10_000
"""Of Pillow in a header. A photograph with profile, preview and 100 segments of metadata has some hundred."""
MOST_PACKED = 10
"""Compressed texts and colour profiles of a PNG, each of up to a megabyte when it is unpacked."""
CHUNKS, CHUNK = 1000, 1024
"""Chunks that a PNG may have, and bytes for each further one."""
MOST_PIECES = 20_000
"""Strips or tiles of a TIFF: one for each row of a scan of 20,000 rows."""
MOST_NUMBERS = 200_000
"""In one tag of a TIFF: a palette of 16 bits has 196,608."""
MOST_SCANS = 100
"""Of a progressive JPEG, each a pass over the whole image. Real files have about 10; libtiff stops here too."""
PACKED = frozenset({b"iCCP", b"zTXt", b"iTXt"})
AGAIN = "save it again as PNG or JPEG"


class TooManyReads(Exception):
    """A header does not end."""


class CountedReads(io.BytesIO):
    """A file in memory that raises TooManyReads instead of being read more than `MOST_READS` times."""

    reads = 0

    def read(self, size: int | None = -1) -> bytes:
        """Return the next bytes."""
        self.reads += 1
        if self.reads > MOST_READS:
            raise TooManyReads
        return super().read(size)


def expensive_part(data: bytes) -> str | None:
    """Return what makes a file too expensive to decode, or None.

    Examples
    --------
    >>> expensive_part(b"\\x89PNG\\r\\n\\x1a\\n" + 11 * b"\\x00\\x00\\x00\\x00iCCP....")
    'it has more than 10 compressed texts or colour profiles; save it again as PNG or JPEG'
    """
    if data[:8] == b"\x89PNG\r\n\x1a\n":
        return _in_png(data)
    if data[:2] == b"\xff\xd8" and (scans := data.count(b"\xff\xda")) > MOST_SCANS:
        return f"it has {scans} scans, more than {MOST_SCANS}; save it again as JPEG"
    return _in_tiff(data)


def _in_png(data: bytes) -> str | None:
    chunks, packed, place = 0, 0, 8
    while place + 8 <= len(data):
        kind = data[place + 4 : place + 8]
        chunks += 1
        packed += kind in PACKED
        if packed > MOST_PACKED:
            return f"it has more than {MOST_PACKED} compressed texts or colour profiles; {AGAIN}"
        if chunks > CHUNKS + len(data) // CHUNK:
            return f"it has more than {chunks - 1} chunks for its {len(data)} bytes; {AGAIN}"
        if kind == b"IEND":
            break
        place += 12 + int.from_bytes(data[place : place + 4])
    return None


def _in_tiff(data: bytes) -> str | None:
    if data[:4] == b"MM\0+":  # libtiff and Pillow read its directory in different ways
        return f"it is a big-endian BigTIFF; {AGAIN}"
    if (layout := tiff_layout(data)) is None:
        return None
    if layout.pieces > MOST_PIECES:
        return f"it is cut into {layout.pieces} strips or tiles, more than {MOST_PIECES}; {AGAIN}"
    if layout.longest > MOST_NUMBERS:
        return f"it has a tag of {layout.longest} numbers, more than {MOST_NUMBERS}; {AGAIN}"
    return None


def slow_decoder(pillow: Any, opened: Any) -> str | None:
    """Return why an open image would be decoded one value at a time, in Python, or None."""
    if any(tile[0] in pillow.DECODERS for tile in opened.tile):
        return f"it is {opened.format} in plain text, run lengths or unusual levels; {AGAIN}"
    return None
