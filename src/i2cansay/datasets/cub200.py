"""CUB-200-2011: 200 species of birds; the official layout with its split file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from i2cansay.datasets.definition import Definition, Download, Found
from i2cansay.datasets.files import FileSplit

_LISTS = ("images.txt", "image_class_labels.txt", "train_test_split.txt", "classes.txt")


def _numbered(path: Path) -> dict[int, str]:
    """Read the lines `number value` of an official list."""
    numbered: dict[int, str] = {}
    for position, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        number, _, value = line.strip().partition(" ")
        if not number.isdigit() or not value:
            raise ValueError(f"{path}, line {position}: expected a number and a value, got {line!r}")
        numbered[int(number)] = value
    return numbered


def _layout(folder: Path) -> Found | None:
    for tree in (folder, folder / "CUB_200_2011"):
        if all((tree / name).is_file() for name in _LISTS):
            return _read(tree)
    return None


def _read(tree: Path) -> Found:
    paths, classes, training, names = (_numbered(tree / name) for name in _LISTS)
    if not paths.keys() == classes.keys() == training.keys():
        raise ValueError(
            f"the lists in {tree} disagree: {len(paths)} images, {len(classes)} labels, "
            f"{len(training)} split marks; unpack the archive again"
        )
    for number, label in classes.items():
        if not (label.isdigit() and int(label) in names):
            raise ValueError(
                f"image {number} in {tree / _LISTS[1]}: expected one of the {len(names)} classes of "
                f"{_LISTS[3]}, got {label!r}; unpack the archive again"
            )
    position = {number: index for index, number in enumerate(sorted(names))}
    parts = {}
    for split, mark in (("train", "1"), ("test", "0")):
        members: Sequence[int] = [number for number in sorted(paths) if training[number] == mark]
        labels = np.array([position[int(classes[number])] for number in members], dtype=np.int64)
        parts[split] = FileSplit(tree, tuple(f"images/{paths[number]}" for number in members), labels)
    # The species comes after its number, as in "001.Black_footed_Albatross".
    species = tuple(names[number].partition(".")[2].replace("_", " ") for number in sorted(names))
    return Found("official layout", parts, species)


CUB200 = Definition(
    name="cub200",
    title="11,788 photographs of 200 species of birds",
    layouts=(_layout,),
    source="https://www.vision.caltech.edu/datasets/cub_200_2011/",
    files="Needed: CUB_200_2011.tgz, unpacked (images.txt, train_test_split.txt and the folder images).",
    counts={"train": 5_994, "test": 5_794},
    downloads=(
        Download(
            url="https://data.caltech.edu/records/65de6-vp158/files/CUB_200_2011.tgz",
            file="CUB_200_2011.tgz",
            size=1_150_585_339,
            md5="97eceeb196236b17998738112f37df78",
            unpack=True,
        ),
    ),
)
