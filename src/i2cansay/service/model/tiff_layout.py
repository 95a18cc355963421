"""How a TIFF is cut into strips or tiles, read from its directory before anything is decoded."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

MOST_ENTRIES = 10_000
TIFF = (b"II*\0", b"MM\0*", b"II\0*", b"MM*\0", b"II+\0")
"""How a TIFF begins for Pillow, which takes two misspellings."""
WIDTH, HEIGHT, STRIPS, ROWS_PER_STRIP, TILE_WIDTH, TILE_HEIGHT, TILES = 256, 257, 273, 278, 322, 323, 324
WHOLE = {1: "B", 3: "H", 4: "I", 6: "b", 8: "h", 9: "i", 16: "Q", 17: "q"}
"""The types of whole numbers in a TIFF."""
BYTES = frozenset({1, 2, 6, 7})
"""The types that Pillow reads as bytes or text, not as a number each."""


@dataclass(frozen=True)
class TiffLayout:
    """How a TIFF is cut.

    Attributes
    ----------
    width, height : int
        Of all tiles together, 0 without tiles. A tile is decoded as a whole, however little of it lies in the image.
    pieces : int
        Its strips or tiles.
    longest : int
        The most numbers in one tag.
    """

    width: int
    height: int
    pieces: int
    longest: int


def tiff_layout(data: bytes) -> TiffLayout | None:
    """Return the layout of the first image of a TIFF; None for what is not a TIFF, or has no entries.

    Where a tag comes twice, the larger value counts.

    Examples
    --------
    >>> entries = [(256, 4, 1, 100), (257, 4, 1, 60), (322, 4, 1, 64), (323, 4, 1, 64), (324, 4, 2, 0)]
    >>> packed = b"".join(struct.pack("<HHII", *entry) for entry in entries)
    >>> tiff_layout(b"II*\\0" + struct.pack("<IH", 8, len(entries)) + packed)
    TiffLayout(width=128, height=64, pieces=2, longest=2)
    """
    counts: Counter[int] = Counter()
    values: Counter[int] = Counter()
    longest = 0
    for entry in _directory(data):
        counts[entry.tag] = max(counts[entry.tag], entry.length)
        values[entry.tag] = max(values[entry.tag], entry.value)
        longest = max(longest, 0 if entry.kind in BYTES else entry.length)
    if not counts:
        return None
    width, height = values[TILE_WIDTH], values[TILE_HEIGHT]
    if width and height:
        columns, rows = -(-values[WIDTH] // width), -(-values[HEIGHT] // height)
    else:
        columns, rows = 1, -(-values[HEIGHT] // (values[ROWS_PER_STRIP] or 2**32))
    pieces = max(columns * rows, counts[STRIPS], counts[TILES])
    return TiffLayout(columns * width, rows * height, pieces, longest)


class _Entry(NamedTuple):
    """An entry of a directory; `value` is its first one, 0 where that is missing or not a whole number."""

    tag: int
    kind: int
    length: int
    value: int


def _directory(data: bytes) -> Iterator[_Entry]:
    """Yield the entries of the first directory, as far as it goes."""
    if data[:4] not in TIFF:
        return
    order = "<" if data[:2] == b"II" else ">"
    large = data[2] == 43  # BigTIFF, for files above 4 GB: the same with longer numbers
    number, short, start = ("Q", "Q", 8) if large else ("I", "H", 4)
    place = _unpack(order + number, data, start)[0]
    entries = _unpack(order + short, data, place)[0]
    place += struct.calcsize(order + short)
    head, room = f"{order}HH{number}", struct.calcsize(order + number)
    for _ in range(min(entries, MOST_ENTRIES)):
        tag, kind, length = _unpack(head, data, place)
        place += struct.calcsize(head)
        value = 0
        if (whole := WHOLE.get(kind)) is not None:
            beside = length * struct.calcsize(whole) > room
            where = _unpack(order + number, data, place)[0] if beside else place
            value = _unpack(order + whole, data, where)[0]
        yield _Entry(tag, kind, length, value)
        place += room


def _unpack(form: str, data: bytes, place: int) -> tuple[int, ...]:
    """Return the numbers at a place, 0 where the data end before."""
    if place + struct.calcsize(form) > len(data):
        return (0,) * len(form[1:])
    return struct.unpack_from(form, data, place)
