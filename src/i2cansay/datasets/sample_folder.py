"""A few images of a data set as files: folders by class to learn from and to test with, and some without labels."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from i2cansay.datasets.dataset import Dataset, Image, Rows

#: Smaller images are enlarged to this side: 8 x 8 pixels are hard to see for a person.
LEAST_SIDE = 32


@dataclass(frozen=True)
class Sample:
    """How many images of each class a sample folder has, by what they are for."""

    train: int = 20
    test: int = 10
    new: int = 2

    def __post_init__(self) -> None:
        if min(self.train, self.test, self.new) < 0 or self.train < 1:
            raise ValueError(
                f"expected at least one image per class to learn from and no number below 0, got {self}"
            )


def write_sample(dataset: Dataset, folder: Path, sample: Sample | None = None) -> dict[str, int]:
    """Write images of a data set as PNG files; return how many there are in each part.

    `train/CLASS/` has images of the train split; `test/CLASS/` and `new/` have different ones of the test split. The
    files in `new/` do not tell their class; `new.csv` beside it does.

    Raises
    ------
    FileExistsError
        If the folder has anything in it.
    ValueError
        If a class has too few images.
    """
    sample = sample or Sample()
    _check_empty(folder)
    train = _rows(dataset, "train", sample.train, 0)
    test = _rows(dataset, "test", sample.test, 0)
    # In an order of its own, so that neighbours are not of one class.
    new = np.random.default_rng(0).permutation(_rows(dataset, "test", sample.new, sample.test))
    for split, rows in (("train", train), ("test", test)):
        for label, number, image in _numbered(dataset, split, rows):
            _save(image, folder / split / label / f"{number:03d}.png")
    labels = [dataset.class_names[label] for label in dataset.labels("test")[new]]
    for number, image in enumerate(dataset.images("test", new), start=1):
        _save(image, folder / "new" / f"{number:03d}.png")
    with (folder / "new.csv").open("w", newline="", encoding="utf-8") as file:
        named = [(f"new/{number:03d}.png", label) for number, label in enumerate(labels, start=1)]
        csv.writer(file).writerows([("path", "label"), *named])
    return {"train": len(train), "test": len(test), "new": len(new)}


def _check_empty(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"expected a folder, but {folder} is a file; name another place")
    if folder.is_dir() and any(folder.iterdir()):
        raise FileExistsError(f"expected a new or an empty folder, but {folder} has files; name another")


def _rows(dataset: Dataset, split: str, per_class: int, skipped: int) -> Rows:
    """Return `per_class` rows of every class, by class, without the first `skipped` ones."""
    labels = dataset.labels(split)
    rows = []
    for label, name in enumerate(dataset.class_names):
        members = np.flatnonzero(labels == label)
        if len(members) < skipped + per_class:
            raise ValueError(
                f"expected at least {skipped + per_class} {split} images of {name}, but {dataset.name} has "
                f"{len(members)}; ask for fewer"
            )
        rows.append(members[skipped : skipped + per_class])
    return np.concatenate(rows)


def _numbered(dataset: Dataset, split: str, rows: Rows) -> Iterator[tuple[str, int, Image]]:
    """Yield class name, number within the class and image of each row; rows are by class."""
    labels = dataset.labels(split)[rows]
    first = {label: place for place, label in reversed(list(enumerate(labels.tolist())))}
    for place, image in enumerate(dataset.images(split, rows)):
        label = int(labels[place])
        yield dataset.class_names[label], place - first[label] + 1, image


def _save(image: Image, path: Path) -> None:
    drawn = _opened(image)
    if min(drawn.size) < LEAST_SIDE:
        times = -(-LEAST_SIDE // min(drawn.size))
        drawn = drawn.resize((drawn.width * times, drawn.height * times))
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn.save(path)


def _opened(image: Image) -> Any:
    try:
        from PIL import Image as pillow
    except ModuleNotFoundError as error:
        raise ImportError('images need the package PIL: pip install "i2cansay[images]"') from error
    if isinstance(image, np.ndarray):
        return pillow.fromarray(image)
    with pillow.open(io.BytesIO(image) if isinstance(image, bytes) else image) as file:
        return file.convert("RGB")
