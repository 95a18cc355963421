"""Ask an ImageLearner about damaged files, and say how that went.

python -m tests.image_learner.fuzz COUNT [SEED]
"""

from __future__ import annotations

import faulthandler
import json
import resource
import struct
import sys
import time
import warnings
import zlib
from collections import Counter
from typing import Any

import numpy as np
from PIL import Image

from i2cansay import I2CANSAY, ImageLearner
from i2cansay.encoders.images import MAX_PIXELS
from i2cansay.image_learner import SkippedImages, UnreadableImages
from tests.image_learner.images import file_of, small_images

TOGETHER = 20
LARGE = 0.05
# What decoders trip over: the ends of the ranges, and sizes around the largest image that is opened.
NUMBERS = (0, 1, 2**8 - 1, 2**13, 2**15, 2**16 - 1, 2**26, 2**31 - 1, 2**32 - 1)


def whole_files() -> dict[str, list[bytes]]:
    """Valid files by format, small and of a few kilobytes, plain and with everything a format can carry."""
    image = np.asarray(Image.fromarray(small_images(1)[0][0]).resize((64, 48)))
    exif = Image.Exif()
    exif[0x0112] = 6
    clear = np.dstack([image, image[:, :, 0]])
    palette = np.asarray(image[:, :, 0] // 16)
    frames: dict[str, Any] = {"save_all": True, "append_images": [Image.fromarray(image[::-1].copy())]}
    return {
        "PNG": [
            file_of(image, exif=exif),
            file_of(clear),
            file_of(image[:, :, 0].astype(np.uint16) * 257),
            file_of(palette, bits=4, transparency=3),
            file_of(image, **frames),
        ],
        "JPEG": [
            file_of(image, "JPEG", exif=exif),
            file_of(image, "JPEG", progressive=True, quality=95),
            file_of(image[:, :, 0], "JPEG"),
            file_of(Image.fromarray(image).convert("CMYK"), "JPEG"),
        ],
        "WEBP": [
            file_of(image, "WEBP", exif=exif),
            file_of(clear, "WEBP", lossless=True),
            file_of(clear, "WEBP", quality=50),
            file_of(image, "WEBP", **frames),
        ],
        "GIF": [
            file_of(image, "GIF"),
            file_of(palette, "GIF", transparency=3, interlace=1),
            file_of(image, "GIF", **frames),
        ],
    }


def damaged(data: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Change one thing or a few: bits, bytes, numbers, lengths; cut, repeat, or go on as another file."""
    changed = bytearray(data)
    for _ in range(min(int(rng.geometric(0.5)), 6)):
        if not changed:
            break
        reach = len(changed) if rng.random() < 0.5 else min(len(changed), 64)  # headers are short
        at = int(rng.integers(0, reach))
        length = int(rng.integers(1, 40))
        match int(rng.integers(0, 7)):
            case 0:
                changed[at] ^= 1 << int(rng.integers(0, 8))
            case 1:
                changed[at : at + length] = rng.bytes(length)
            case 2:
                width = int(rng.choice([1, 2, 4]))
                number = int(rng.choice(NUMBERS)) % 256**width
                order: Any = "big" if rng.random() < 0.5 else "little"
                changed[at : at + width] = number.to_bytes(width, order)
            case 3:
                del changed[at : at + length]
            case 4:
                changed[at:at] = changed[at : at + 10 * length]
            case 5:
                changed[at:at] = rng.bytes(length)
            case 6:
                del changed[at:]
                changed += other[at:] if rng.random() < 0.7 else b""
    return with_checksums(bytes(changed)) if rng.random() < 0.7 else bytes(changed)


def enlarged(data: bytes, rng: np.random.Generator) -> bytes:
    """Let the header promise a size around the largest that is opened, up to 4 times as many pixels."""
    width = int(2 ** rng.uniform(10, 16))
    height = min(int(MAX_PIXELS * 4 ** rng.uniform(-1, 1) / width), 2**16 - 1)
    changed = bytearray(data)
    if data.startswith(b"\x89PNG"):
        struct.pack_into(">II", changed, 16, width, height)
    elif data.startswith(b"\xff\xd8"):
        start = max(data.find(b"\xff\xc0\0"), data.find(b"\xff\xc2\0"))
        struct.pack_into(">HH", changed, start + 5, height, width)
    elif data.startswith(b"GIF"):
        struct.pack_into("<HH", changed, 6, width, height)
        struct.pack_into("<HH", changed, data.index(b"\x2c\0\0\0\0") + 5, width, height)
    elif data[12:16] == b"VP8X":
        changed[24:30] = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    elif data[12:16] == b"VP8 ":
        struct.pack_into("<HH", changed, 26, width % 2**14, height % 2**14)
    return with_checksums(bytes(changed))


def with_checksums(data: bytes) -> bytes:
    """Mend the checksums of a PNG, without which most damage would be noticed at once."""
    if not data.startswith(b"\x89PNG\r\n\x1a\n"):
        return data
    mended, at = bytearray(data), 8
    while at + 12 <= len(mended):
        (length,) = struct.unpack_from(">I", mended, at)
        end = at + 8 + length
        if end + 4 > len(mended):
            break
        struct.pack_into(">I", mended, end, zlib.crc32(mended[at + 4 : end]))
        at = end + 4
    return bytes(mended)


def fuzz(count: int, seed: int) -> dict[str, Any]:
    """Ask about `count` damaged files, alone or many at once; whatever else is raised comes out."""
    rng = np.random.default_rng(seed)
    files = whole_files()
    model = ImageLearner("pixels", I2CANSAY(random_state=0), size=32)
    model.learn(*small_images(30))
    for kind in files:  # undamaged they are images, but for the last of each, which may be animated
        model.predict(files[kind][:-1])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answered: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    slowest, begun = 0.0, time.perf_counter()
    while sum(asked.values()) < count:
        kinds = rng.choice(sorted(files), size=1 if rng.random() < 0.5 else TOGETHER).tolist()
        sources = [
            enlarged(pick(files[kind], rng), rng)
            if rng.random() < LARGE
            else damaged(pick(files[kind], rng), pick(files[kind], rng), rng)
            for kind in kinds
        ]
        start = time.process_time()
        answers = ask(model, sources)
        slowest = max(slowest, time.process_time() - start)
        asked.update(kinds)
        answered.update(kind for kind, answer in zip(kinds, answers, strict=True) if answer is not None)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    megabyte = 2**20 if sys.platform == "darwin" else 2**10  # ru_maxrss counts bytes there, kilobytes here
    return {
        "asked": dict(sorted(asked.items())),
        "answered": dict(sorted(answered.items())),
        "slowest call, CPU s": round(slowest, 3),
        "seconds": round(time.perf_counter() - begun, 1),
        "memory before, MB": memory // megabyte,
        "peak memory, MB": peak // megabyte,
    }


def pick(files: list[bytes], rng: np.random.Generator) -> bytes:
    return files[int(rng.integers(len(files)))]


def ask(model: ImageLearner, sources: list[bytes]) -> list[Any]:
    """Return a label or None for each; the two ways of asking agree on which cannot be read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkippedImages)
        answers: list[Any] = model.predict(sources, on_error="skip").tolist()
    if len(sources) == 1:
        refused: set[int] = set()
        try:
            model.predict(sources)
        except UnreadableImages as error:
            refused = set(error.reasons)
        assert refused == {index for index, answer in enumerate(answers) if answer is None}
    assert set(answers) <= {*model.classes_, None}
    return answers


if __name__ == "__main__":
    warnings.simplefilter("error")
    faulthandler.enable()
    faulthandler.dump_traceback_later(600, exit=True)
    print(json.dumps(fuzz(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)))
