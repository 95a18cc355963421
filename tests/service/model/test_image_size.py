"""Sizes from headers."""

from __future__ import annotations

import io
import struct
from typing import Any

import pytest
from PIL import Image, features

from i2cansay.service.errors import ServiceError
from i2cansay.service.limits import Limits
from i2cansay.service.model.image_parts import MOST_SCANS
from i2cansay.service.model.image_size import measure_images


def saved(kind: str, mode: str = "RGB", size: tuple[int, int] = (30, 20), **options: Any) -> bytes:
    file = io.BytesIO()
    Image.new(mode, size).save(file, kind, **options)
    return file.getvalue()


@pytest.mark.parametrize(
    ("kind", "mode", "options"),
    [
        ("PNG", "RGB", {}),
        ("JPEG", "RGB", {"progressive": True}),
        ("GIF", "L", {}),
        ("BMP", "RGB", {}),
        ("TIFF", "RGB", {}),
        ("PPM", "RGB", {}),
        ("WEBP", "RGB", {}),
        ("WEBP", "RGB", {"lossless": True}),
        ("WEBP", "RGBA", {}),
        ("AVIF", "RGB", {}),
    ],
)
def test_every_format_says_how_large_it_is(kind: str, mode: str, options: dict[str, Any]) -> None:
    if kind == "AVIF" and not features.check("avif"):
        pytest.skip("Pillow was built without AVIF")
    data = saved(kind, mode, **options)
    assert measure_images([data], Limits(pixels=600)) == [(data, 600)]
    with pytest.raises(ServiceError, match="image 2: it has 30 x 20 pixels") as refusal:
        measure_images([saved("PNG", size=(2, 2)), data], Limits(pixels=599))
    assert refusal.value.status == 422


@pytest.mark.parametrize("kind", ["VP8 ", "VP8L", "VP8X"])
def test_webp_is_not_opened_to_be_measured(kind: str) -> None:
    head = {
        "VP8 ": b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 16383, 16383),
        "VP8L": b"\x2f" + struct.pack("<I", 16382 | 16382 << 14),
        "VP8X": b"\0\0\0\0" + (16382).to_bytes(3, "little") * 2,
    }[kind]
    data = b"RIFF\0\0\0\0WEBP" + kind.encode() + b"\0\0\0\0" + head
    with pytest.raises(ServiceError, match="16383 x 16383"):
        measure_images([data], Limits())
    assert measure_images([data[:20]], Limits())[0].pixels == 0  # cut off: the encoder has the words for it


def test_the_pixels_of_a_request_are_added_up() -> None:
    images = [saved("PNG")] * 3
    assert len(measure_images(images, Limits(request_pixels=1800))) == 3
    with pytest.raises(
        ServiceError, match=r"images 1 to 3 have 0.0018 megapixels; shrink them, or send them in parts"
    ) as refusal:
        measure_images([*images, b""], Limits(request_pixels=1799))
    assert refusal.value.status == 413


def test_what_is_no_image_has_no_pixels() -> None:
    for data in (b"", b"GIF89a", b"RIFF", b"RIFF1234WEBP", b"\xff\xd8\xff", b"x" * 1000):
        assert measure_images([data], Limits()) == [(data, 0)]


def scans(side: int, n: int) -> bytes:
    """Return a progressive JPEG with many empty scans: some bytes each, and a pass over all pixels."""

    def segment(marker: int, body: bytes) -> bytes:
        return bytes([0xFF, marker]) + struct.pack(">H", len(body) + 2) + body

    blocks = ((side + 7) // 8) ** 2
    assert blocks <= 2**15
    head = b"\xff\xd8" + segment(0xDB, b"\0" + bytes([1] * 64))
    head += segment(0xC2, struct.pack(">BHHB", 8, side, side, 1) + bytes([1, 0x11, 0]))
    head += segment(0xC4, b"\x00" + bytes([1] + [0] * 15) + b"\x00")
    head += segment(0xC4, b"\x10" + bytes([1] + [0] * 15) + b"\xe0")
    first = segment(0xDA, bytes([1, 1, 0, 0, 0, 0])) + bytes((blocks + 7) // 8)
    nothing = segment(0xDA, bytes([1, 1, 0, 1, 63, 0])) + b"\x7f\xff\x00"  # the end of 2 ** 15 - 1 blocks
    return head + first + nothing * (n - 1) + b"\xff\xd9"


def test_a_jpeg_of_a_thousand_scans_is_refused() -> None:
    assert measure_images([scans(64, MOST_SCANS)], Limits())[0].pixels == 64 * 64
    with pytest.raises(ServiceError, match="image 1: it has 1000 scans, more than 100"):
        measure_images([scans(64, 1000)], Limits())


def test_the_attack_with_scans_is_one() -> None:
    with Image.open(io.BytesIO(scans(64, 50))) as opened:
        opened.load()
        assert opened.size == (64, 64)
