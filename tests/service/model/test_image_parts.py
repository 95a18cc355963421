"""Files that cost more than their pixels."""

from __future__ import annotations

import io
import struct
from typing import Any

import pytest
from PIL import Image, PngImagePlugin

from i2cansay.encoders import get_encoder
from i2cansay.encoders.pillow_warnings import quiet_pillow_warnings
from i2cansay.service.errors import ServiceError
from i2cansay.service.limits import Limits
from i2cansay.service.model.image_parts import CHUNK, CHUNKS, MOST_PACKED, MOST_PIECES, MOST_READS
from i2cansay.service.model.image_size import measure_images
from i2cansay.service.model.tiff_layout import TiffLayout, tiff_layout
from tests.service.model.odd_images import KINDS, chunk, square, tiff

SENTENCES = {
    "png-profiles": "more than 10 compressed texts or colour profiles",
    "png-late-profiles": "more than 10 compressed texts or colour profiles",
    "png-chunks": "chunks for its",
    "jpeg-fill": f"its header does not end within {MOST_READS} reads",
    "ppm-comments": "PPM in plain text",
    "ppm-header": f"its header does not end within {MOST_READS} reads",
    "ppm-levels": "unusual levels",
    "bmp-runs": "run lengths",
    "tiff-tile": r"it has 1\d{4} x 1\d{4} pixels",
    "tiff-strips": "strips or tiles, more than 20000",
    "gif-comments": f"its header does not end within {MOST_READS} reads",
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_small_image_in_an_expensive_file_is_refused(kind: str) -> None:
    with pytest.raises(ServiceError, match=f"image 2: .*{SENTENCES[kind]}") as refusal:
        measure_images([square("PNG"), KINDS[kind](200_000)], Limits())
    assert refusal.value.status == 422


@pytest.mark.parametrize("kind", KINDS)
def test_these_files_are_images_of_few_pixels(kind: str) -> None:
    """Without the check they would be decoded."""
    with quiet_pillow_warnings(), Image.open(io.BytesIO(KINDS[kind](2000))) as opened:
        assert opened.width * opened.height <= 10**7
        if kind != "bmp-runs":
            opened.load()


def photograph(kind: str, **options: Any) -> bytes:
    """Return noise, so that the file is as large as that of a photograph."""
    file = io.BytesIO()
    Image.effect_noise((300, 200), 50).convert("RGB").save(file, kind, **options)
    return file.getvalue()


def texts(n: int) -> PngImagePlugin.PngInfo:
    noted = PngImagePlugin.PngInfo()
    for number in range(n):
        noted.add_text(f"note {number}", "word " * 100, zip=True)
    return noted


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("PNG", {"pnginfo": texts(MOST_PACKED - 1), "icc_profile": bytes(3000)}),
        ("JPEG", {"icc_profile": bytes(500_000), "exif": b"Exif\0\0" + bytes(60_000), "progressive": True}),
        ("TIFF", {"compression": "tiff_lzw"}),
        ("TIFF", {"compression": "jpeg"}),
        ("TIFF", {"tiffinfo": {278: 1}}),  # a strip for every row
        ("TIFF", {"big_tiff": True}),
        ("GIF", {"comment": b"word " * 1000}),
        ("BMP", {}),
        ("PPM", {}),
    ],
)
def test_what_cameras_and_programs_write_is_welcome(kind: str, options: dict[str, Any]) -> None:
    data = photograph(kind, **options)
    assert measure_images([data], Limits())[0].pixels == 60_000
    assert len(get_encoder("pixels").encode([data])) == 1


def test_a_png_may_have_as_many_chunks_as_its_bytes_explain() -> None:
    whole = square("PNG")
    long = chunk(b"teXt", bytes(CHUNK - 12))
    data = whole[:33] + long * (2 * CHUNKS) + whole[33:]
    assert measure_images([data], Limits())[0].pixels == 64
    assert measure_images([whole[:33] + chunk(b"teXt", b"") * (CHUNKS - 10) + whole[33:]], Limits())


def test_a_tile_counts_as_a_whole() -> None:
    size = {256: (4, 1, 100), 257: (4, 1, 60), 322: (3, 1, 64), 323: (3, 1, 64), 324: (4, 2, 0)}
    layout = tiff_layout(tiff(size, b""))
    assert layout is not None
    assert (layout.width, layout.height, layout.pieces) == (128, 64, 2)
    twice = tiff(size, b"").replace(struct.pack("<HHI", 322, 3, 1), struct.pack("<HHI", 323, 3, 1))
    assert tiff_layout(twice) is not None


@pytest.mark.parametrize("start", [b"MM\0*", b"MM*\0", b"II\0*"])
def test_every_spelling_of_a_tiff_is_read(start: bytes) -> None:
    order = "<" if start[:1] == b"I" else ">"
    entries = [(256, 4, 1, 8), (257, 4, 1, 10**6), (278, 4, 1, 1), (273, 4, 10**6, 0)]
    data = start + struct.pack(f"{order}IH", 8, len(entries))
    data += b"".join(struct.pack(f"{order}HHII", *entry) for entry in entries)
    with pytest.raises(ServiceError, match="cut into 1000000 strips"):
        measure_images([data], Limits())


def test_a_broken_entry_hides_nothing() -> None:
    size = {256: (4, 1, 8), 257: (4, 1, 8), 322: (4, 1, 60_000), 323: (4, 1, 60_000)}
    for broken in ((4, 1000, 2**31), (16, 2**31, 2**31), (3, 0, 0), (77, 9, 9)):
        for tag in (200, 60_000):  # before the others, and after them
            layout = tiff_layout(tiff({**size, tag: broken}, b""))
            assert layout is not None
            assert layout.width == layout.height == 60_000
    for cut in (b"II*\0", b"II*\0" + b"\xff" * 8, b"II+\0\x08\0\0\0" + b"\xff" * 20):
        assert tiff_layout(cut) in (None, TiffLayout(0, 0, 0, 0))


def test_a_tag_of_millions_of_numbers_and_the_other_bigtiff() -> None:
    long = tiff({256: (4, 1, 8), 257: (4, 1, 8), 258: (4, 10**7, 0)}, b"")
    with pytest.raises(ServiceError, match="a tag of 10000000 numbers"):
        measure_images([long], Limits())
    with pytest.raises(ServiceError, match="big-endian BigTIFF"):
        measure_images([b"MM\0+\0\x08\0\0"], Limits())
    assert MOST_PIECES < 10**7
