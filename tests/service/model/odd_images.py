"""Images of a few pixels whose files cost much to open. Each maker takes the bytes that the file may have."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable

from PIL import Image


def square(kind: str) -> bytes:
    """Return eight by eight black pixels as a file."""
    file = io.BytesIO()
    Image.new("L", (8, 8)).save(file, kind)
    return file.getvalue()


def chunk(kind: bytes, data: bytes) -> bytes:
    """Return a chunk of a PNG file."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_profiles(n_bytes: int) -> bytes:
    """Return a PNG with as many colour profiles as fit, each of a megabyte when it is unpacked."""
    whole = square("PNG")
    profile = chunk(b"iCCP", b"x\0\0" + zlib.compress(bytes(10**6), 9))
    return whole[:33] + profile * (n_bytes // len(profile)) + whole[33:]


def png_late_profiles(n_bytes: int) -> bytes:
    """Return the same with the profiles behind the pixels."""
    whole = square("PNG")
    profile = chunk(b"iCCP", b"x\0\0" + zlib.compress(bytes(10**6), 9))
    return whole[:-12] + profile * (n_bytes // len(profile)) + whole[-12:]


def png_chunks(n_bytes: int) -> bytes:
    """Return a PNG of empty chunks."""
    whole, empty = square("PNG"), chunk(b"teXt", b"")
    return whole[:33] + empty * (n_bytes // len(empty)) + whole[33:]


def jpeg_fill(n_bytes: int) -> bytes:
    """Return a JPEG with fill bytes before its first marker."""
    whole = square("JPEG")
    return whole[:2] + b"\xff" * n_bytes + whole[2:]


def ppm_comments(n_bytes: int) -> bytes:
    """Return an image in plain text that is mostly comments."""
    return b"P3\n8 8 255\n" + b"#\n" * (n_bytes // 2) + b"1 " * 192


def ppm_header(n_bytes: int) -> bytes:
    """Return an image with a comment in its header."""
    return b"P6\n#" + b"x" * n_bytes + b"\n8 8 255\n" + bytes(192)


def ppm_levels(n_bytes: int) -> bytes:
    """Return an image of 255 levels, which Pillow reads pixel by pixel."""
    return b"P5\n%d 1000 254\n" % (n_bytes // 1000) + bytes(n_bytes // 1000 * 1000)


def bmp_runs(_: int) -> bytes:
    """Return a run-length encoded image of ten million pixels in a kilobyte."""
    palette = b"".join(bytes([level, level, level, 0]) for level in range(256))
    data = b"\1\7\0\0"
    start = 54 + len(palette)
    info = struct.pack("<IiiHHIIiiII", 40, 10**7, 1, 1, 8, 1, len(data), 0, 0, 256, 0)
    return b"BM" + struct.pack("<IHHI", start + len(data), 0, 0, start) + info + palette + data


def tiff(tags: dict[int, tuple[int, int, int]], data: bytes) -> bytes:
    """Return a TIFF of one directory, `tag: (type, count, value)`; -1 stands for where `data` begins."""
    start = 14 + 12 * len(tags)
    entries = [
        struct.pack("<HHIHH", tag, kind, count, value, 0)
        if kind == 3
        else struct.pack("<HHII", tag, kind, count, start if value < 0 else value)
        for tag, (kind, count, value) in sorted(tags.items())
    ]
    return b"II*\0" + struct.pack("<IH", 8, len(tags)) + b"".join(entries) + bytes(4) + data


def tiff_tile(n_bytes: int) -> bytes:
    """Return eight by eight pixels in a tile that unpacks to a thousand times the file."""
    side = 16 * (int((1000 * n_bytes) ** 0.5) // 16)
    data = zlib.compress(bytes(side * side), 9)
    tags = {256: (4, 1, 8), 257: (4, 1, 8), 258: (3, 1, 8), 259: (3, 1, 8), 262: (3, 1, 1), 277: (3, 1, 1)}
    tile = {322: (4, 1, side), 323: (4, 1, side), 324: (4, 1, -1), 325: (4, 1, len(data))}
    return tiff(tags | tile, data)


def tiff_strips(n_bytes: int) -> bytes:
    """Return an image of one column, with a strip for each pixel."""
    n = n_bytes // 4
    tags = {256: (4, 1, 1), 257: (4, 1, n), 258: (3, 1, 8), 259: (3, 1, 1), 262: (3, 1, 1), 277: (3, 1, 1)}
    strips = {273: (4, n, -1), 278: (4, 1, 1), 279: (4, n, -1)}
    return tiff(tags | strips, struct.pack("<I", 8) * n)


def gif_comments(n_bytes: int) -> bytes:
    """Return a GIF with comments behind its only frame."""
    return square("GIF")[:-1] + b"\x21\xfe\x01x\0" * (n_bytes // 5) + b";"


KINDS: dict[str, Callable[[int], bytes]] = {
    made.__name__.replace("_", "-"): made
    for made in (
        png_profiles,
        png_late_profiles,
        png_chunks,
        jpeg_fill,
        ppm_comments,
        ppm_header,
        ppm_levels,
        bmp_runs,
        tiff_tile,
        tiff_strips,
        gif_comments,
    )
}
