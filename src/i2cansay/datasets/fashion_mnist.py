"""Fashion-MNIST: 70,000 grey images of clothes, 28x28, in idx files."""

from __future__ import annotations

import gzip
import zlib
from functools import partial
from pathlib import Path

import numpy as np

from i2cansay.datasets.arrays import ArraySplit
from i2cansay.datasets.dataset import Labels, Pixels
from i2cansay.datasets.definition import Definition, Download, Found

_PREFIXES = {"train": "train", "test": "t10k"}
_DEBIAN = Path("/usr/share/datasets/fashion-mnist")
_ADDRESS = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"
_OFFICIAL_FILES = (
    ("train-images-idx3-ubyte.gz", 26_421_880, "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
    ("train-labels-idx1-ubyte.gz", 29_515, "25c81989df183df01b3e8a0aad5dffbe"),
    ("t10k-images-idx3-ubyte.gz", 4_422_102, "bef4ecab320f06d8554ea6380940ec79"),
    ("t10k-labels-idx1-ubyte.gz", 5_148, "bb300cfdad3c16e7a12a480ee83cd310"),
)


def read_idx(path: Path) -> Pixels:
    """Read an idx file of bytes, packed with gzip or not, into an array of the shape it states."""
    content = path.read_bytes()
    if path.suffix == ".gz":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{path} is damaged ({error}): fetch it again") from error
    # Magic number: two zero bytes, 8 for unsigned bytes, and the number of dimensions.
    if len(content) < 4 or content[:3] != b"\0\0\x08":
        raise ValueError(f"{path} is not an idx file of bytes: expected it to start with 00 00 08")
    n_dimensions = content[3]
    start = 4 + 4 * n_dimensions
    shape = tuple(int(length) for length in np.frombuffer(content[4:start], dtype=">i4"))
    if len(content) - start != np.prod(shape, dtype=np.int64):
        raise ValueError(
            f"{path} states the shape {shape} but holds {len(content) - start} bytes: fetch it again"
        )
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape)


def _load(images: Path, labels: Path) -> tuple[Pixels, Labels]:
    return read_idx(images), read_idx(labels).astype(np.int64)


def _file(folder: Path, name: str) -> Path | None:
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)


def _idx(folder: Path) -> Found | None:
    parts = {}
    for split, prefix in _PREFIXES.items():
        images = _file(folder, f"{prefix}-images-idx3-ubyte")
        labels = _file(folder, f"{prefix}-labels-idx1-ubyte")
        if images is not None and labels is not None:
            parts[split] = ArraySplit(partial(_load, images, labels))
    return Found("idx files", parts) if parts else None


FASHION_MNIST = Definition(
    name="fashion_mnist",
    title="70,000 grey images of clothes, 28x28",
    layouts=(_idx,),
    source="https://github.com/zalandoresearch/fashion-mnist",
    files=(
        "Needed: train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and "
        "t10k-labels-idx1-ubyte, with or without .gz; the Debian package dataset-fashion-mnist puts them "
        f"into {_DEBIAN}."
    ),
    class_names=(
        *("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat"),
        *("Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"),
    ),
    counts={"train": 60_000, "test": 10_000},
    downloads=tuple(Download(_ADDRESS + name, name, size, md5) for name, size, md5 in _OFFICIAL_FILES),
    usual_places=(_DEBIAN,),
)
