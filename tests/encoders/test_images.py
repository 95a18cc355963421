"""Opening images: every kind shows the same scene, and whatever is none gives an ImageError."""

from __future__ import annotations

import io
import os
import resource
import struct
import sys
import time
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from i2cansay.encoders.images import MAX_PIXELS, ImageError, open_image


def scene() -> NDArray[np.uint8]:
    """An image without symmetry: each corner has its own colour, with smooth ways between."""
    corners = np.array([[[250, 20, 20], [20, 240, 30]], [[30, 30, 230], [240, 240, 60]]], np.uint8)
    return np.asarray(Image.fromarray(corners).resize((48, 32), Image.Resampling.BILINEAR))


def saved(image: Image.Image, kind: str, **options: Any) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def difference(image: Image.Image, expected: NDArray[np.uint8]) -> float:
    """Mean absolute difference of two images in grey levels."""
    assert image.mode == "RGB"
    return float(np.abs(np.asarray(image).astype(float) - expected).mean())


@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF", "PPM", "WEBP", "JPEG", "GIF"])
def test_every_format_shows_the_scene(kind: str) -> None:
    options = {"lossless": True} if kind == "WEBP" else {"quality": 95} if kind == "JPEG" else {}
    allowed = {"JPEG": 5.0, "GIF": 12.0}.get(kind, 0.0)
    assert difference(open_image(saved(Image.fromarray(scene()), kind, **options)), scene()) <= allowed


def test_every_kind_of_source_gives_the_same_image(tmp_path: Path) -> None:
    data = saved(Image.fromarray(scene()), "PNG")
    path = tmp_path / "scene.png"
    path.write_bytes(data)
    lazily = Image.open(path)
    sources: list[Any] = [
        path,
        str(path),
        data,
        bytearray(data),
        memoryview(data),
        io.BytesIO(data),
        lazily,
        scene(),
    ]
    for source in sources:
        assert difference(open_image(source), scene()) == 0
    lazily.close()


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "TIFF", "WEBP"])
def test_exif_orientation_is_undone(orientation: int, kind: str) -> None:
    stored = {
        1: scene(),
        2: scene()[:, ::-1],
        3: scene()[::-1, ::-1],
        4: scene()[::-1],
        5: scene().transpose(1, 0, 2),
        6: np.rot90(scene(), 1),
        7: scene()[::-1, ::-1].transpose(1, 0, 2),
        8: np.rot90(scene(), -1),
    }[orientation]
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = saved(Image.fromarray(np.ascontiguousarray(stored)), kind, exif=exif, quality=95)
    assert difference(open_image(data), scene()) < 6


def test_damaged_exif_does_not_cost_the_image() -> None:
    data = saved(Image.fromarray(scene()), "JPEG", exif=b"Exif\x00\x00II*\x00\xff\xff\xff\x7f", quality=95)
    assert difference(open_image(data), scene()) < 6


def test_grey_palette_and_bilevel() -> None:
    grey = Image.fromarray(scene()).convert("L")
    expected = np.repeat(np.asarray(grey)[:, :, None], 3, axis=2)
    assert difference(open_image(saved(grey, "PNG")), expected) == 0
    palette = Image.fromarray(scene()).quantize(256)
    assert difference(open_image(saved(palette, "PNG")), np.asarray(palette.convert("RGB"))) == 0
    bilevel = Image.fromarray(np.asarray(grey) > 128)
    assert set(np.unique(np.asarray(open_image(saved(bilevel, "PNG"))))) == {0, 255}


def test_sixteen_bits_keep_their_brightness() -> None:
    grey = np.asarray(Image.fromarray(scene()).convert("L"))
    sixteen = grey.astype(np.uint16) * 257
    expected = np.repeat(grey[:, :, None], 3, axis=2)
    for source in (saved(Image.fromarray(sixteen), "PNG"), saved(Image.fromarray(sixteen), "TIFF"), sixteen):
        assert difference(open_image(source), expected) == 0
    assert difference(open_image(Image.fromarray(sixteen.astype(np.int32))), expected) == 0


def test_transparency_is_shown_on_white() -> None:
    transparent = np.dstack([scene(), np.zeros(scene().shape[:2], np.uint8)])
    opaque = np.dstack([scene(), np.full(scene().shape[:2], 255, np.uint8)])
    for wrap in (lambda array: array, lambda array: saved(Image.fromarray(array), "PNG")):
        assert np.asarray(open_image(wrap(transparent))).min() == 255
        assert difference(open_image(wrap(opaque)), scene()) == 0
    keyed = Image.fromarray(scene()).quantize(16)
    data = saved(keyed, "PNG", transparency=bytes(16))
    assert np.asarray(open_image(data)).min() == 255
    one_colour = saved(Image.new("RGB", (4, 4), (9, 9, 9)), "PNG", transparency=(9, 9, 9))
    assert np.asarray(open_image(one_colour)).min() == 255


def test_cmyk_is_converted() -> None:
    data = saved(Image.fromarray(scene()).convert("CMYK"), "JPEG", quality=95)
    assert difference(open_image(data), scene()) < 8


def test_arrays_of_every_accepted_type() -> None:
    assert difference(open_image(scene() / 255), scene()) == 0
    assert difference(open_image((scene() / 255).astype(np.float16)), scene()) <= 1
    assert difference(open_image(scene()[:, :, :1]), np.repeat(scene()[:, :, :1], 3, axis=2)) == 0
    assert difference(open_image(scene()[::2, ::-1]), scene()[::2, ::-1]) == 0
    assert open_image(np.array([[True, False]])).getpixel((0, 0)) == (255, 255, 255)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (b"", "no bytes"),
        (b"not an image at all", "not an image"),
        ("/nowhere/at/all.png", "cannot open"),
        ("with\0nul.png", "cannot open"),
        (".", "is not a file"),
        (None, "got builtins.NoneType"),
        (np.zeros((0, 5, 3), np.uint8), "no pixels"),
        (np.zeros((5,), np.uint8), "no pixels"),
        (np.zeros((5, 5, 2), np.uint8), "shape"),
        (np.zeros((2, 5, 5, 3), np.uint8), "shape"),
        (np.zeros((5, 5), np.int64), "uint8"),
        (np.full((5, 5), 7.0), "0..1"),
        (np.full((5, 5), np.nan), "0..1"),
        (Image.new("RGB", (0, 4)), "no pixels"),
        (Image.fromarray(np.full((2, 2), 70_000, np.int32)), "32 bits"),
    ],
)
def test_what_is_no_image_gets_a_sentence(source: Any, sentence: str) -> None:
    with pytest.raises(ImageError, match=sentence):
        open_image(source)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_refused_rather_than_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    with pytest.raises(ImageError, match="not a file"):
        open_image(tmp_path / "pipe.png")


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP", "TIFF"])
def test_animated_images_are_refused(kind: str) -> None:
    frames = [Image.fromarray(scene()), Image.fromarray(scene()[::-1].copy())]
    data = saved(frames[0], kind, save_all=True, append_images=frames[1:])
    with pytest.raises(ImageError, match="animated"):
        open_image(data)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP"])
def test_a_cut_off_file_is_refused(kind: str) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    data = saved(Image.fromarray(noise), kind)
    with pytest.raises(ImageError, match="damaged"):
        open_image(data[: len(data) // 2])


def bomb(width: int, height: int) -> bytes:
    """A PNG whose header promises a size that its few bytes do not hold."""
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = b"IDAT" + zlib.compress(bytes(1000))
    parts = (
        struct.pack(">I", len(part) - 4) + part + struct.pack(">I", zlib.crc32(part))
        for part in (header, data)
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@pytest.mark.parametrize("size", [(8193, 8192), (15_000, 15_000), (2**31 - 1, 2**31 - 1)])
def test_a_decompression_bomb_is_refused_from_its_header(size: tuple[int, int]) -> None:
    start = time.process_time()
    with pytest.raises(ImageError, match=r"more than the|more pixels than"):
        open_image(bomb(*size))
    assert time.process_time() - start < 1
    assert size[0] * size[1] > MAX_PIXELS


def test_the_limit_can_be_set_and_holds_for_every_source() -> None:
    for source in (scene(), Image.fromarray(scene()), saved(Image.fromarray(scene()), "PNG")):
        assert open_image(source, max_pixels=48 * 32).size == (48, 32)
        with pytest.raises(ImageError, match="48 x 32"):
            open_image(source, max_pixels=48 * 32 - 1)


def test_a_large_jpeg_is_decoded_smaller_but_not_too_small() -> None:
    large = Image.fromarray(scene()).resize((960, 640), Image.Resampling.BICUBIC)
    data = saved(large, "JPEG", quality=95)
    assert open_image(data).size == (960, 640)
    assert open_image(data, shorter_side=400).size == (960, 640)
    assert open_image(data, shorter_side=160).size == (240, 160)
    assert open_image(data, shorter_side=1).size == (120, 80)
    small = open_image(data, shorter_side=80)
    assert difference(small, np.asarray(large.resize((120, 80), Image.Resampling.BOX))) < 3


def test_a_given_image_is_left_as_it_was() -> None:
    given = Image.fromarray(np.dstack([scene(), scene()[:, :, 0]]))
    before = given.tobytes()
    open_image(given)
    assert (given.mode, given.tobytes()) == ("RGBA", before)


def test_an_error_knows_its_index() -> None:
    error = ImageError("damaged").at(4)
    assert (error.index, error.reason, str(error)) == (4, "damaged", "image 4: damaged")


def seeds() -> list[bytes]:
    """Small valid files of many kinds, to be damaged."""
    image = Image.fromarray(scene())
    exif = Image.Exif()
    exif[0x0112] = 6
    files = [
        saved(image, "PNG", exif=exif),
        saved(image.quantize(16), "PNG", transparency=bytes(range(16))),
        saved(Image.fromarray(scene()[:, :, 0].astype(np.uint16) * 257), "PNG"),
        saved(image, "JPEG", exif=exif),
        saved(image, "JPEG", progressive=True),
        saved(image.convert("CMYK"), "JPEG"),
        saved(image, "WEBP", exif=exif),
        saved(image.convert("RGBA"), "WEBP", lossless=True),
        saved(image, "GIF"),
        saved(image, "GIF", save_all=True, append_images=[image.rotate(180)]),
    ]
    return [*files, saved(image, "TIFF", compression="tiff_lzw"), saved(image, "BMP")]


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """Flip, cut, repeat, insert or overwrite bytes, more often near the header."""
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 6))):
        reach = len(changed) if rng.random() < 0.5 else min(len(changed), 64)
        at = int(rng.integers(0, max(reach, 1)))
        match int(rng.integers(0, 5)):
            case 0:
                changed[at : at + 1] = bytes([int(rng.integers(0, 256))])
            case 1:
                del changed[at : at + int(rng.integers(1, 20))]
            case 2:
                changed[at:at] = rng.bytes(int(rng.integers(1, 20)))
            case 3:
                changed[at : at + 4] = rng.choice(
                    [b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x7f\xff\xff\xff", b"\0\1\0\0"]
                )
            case 4:
                changed = changed[: max(1, at)] if rng.random() < 0.3 else changed + changed[at:]
    return bytes(changed)


@pytest.mark.parametrize("n", [1000, pytest.param(8000, marks=pytest.mark.slow)])
def test_damaged_files_give_an_image_or_an_image_error(n: int) -> None:
    rng = np.random.default_rng(n)
    files, refused, slowest = seeds(), 0, 0.0
    filters = list(warnings.filters)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for i in range(n):
        data = damaged(files[i % len(files)], rng)
        start = time.process_time()
        try:
            image = open_image(data)
            assert image.mode == "RGB"
            assert len(image.tobytes()) == 3 * image.width * image.height
        except ImageError:
            refused += 1
        slowest = max(slowest, time.process_time() - start)
    assert 0 < refused < n
    assert slowest < 10
    assert list(warnings.filters) == filters
    # ru_maxrss counts kilobytes (bytes on macOS); one image at the limit takes about half a gigabyte
    gigabyte = 2**30 if sys.platform == "darwin" else 2**20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < gigabyte


def test_mode_i_made_from_eight_bits_keeps_its_brightness() -> None:
    grey = Image.fromarray(scene()).convert("L")
    assert np.array_equal(np.asarray(open_image(grey.convert("I"))), np.asarray(grey.convert("RGB")))


def test_a_dark_file_of_sixteen_bits_stays_dark() -> None:
    dark = Image.fromarray(np.full((4, 4), 200, np.uint16))
    for kind in ("PNG", "PPM", "TIFF"):
        assert np.asarray(open_image(saved(dark, kind))).max() <= 1


def test_premultiplied_grey_is_shown_on_white() -> None:
    for mode in ("La", "RGBa"):
        half = Image.new("LA", (4, 4), (0, 128)).convert("RGBA" if mode == "RGBa" else "LA").convert(mode)
        assert open_image(half).getpixel((0, 0)) == (127, 127, 127)
