"""Handwritten digits, 8x8: real data that come with scikit-learn, so that there is nothing to fetch."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from i2cansay.datasets.arrays import ArraySplit
from i2cansay.datasets.dataset import Labels, Pixels
from i2cansay.datasets.definition import Definition, Found


def _load(*, test: bool) -> tuple[Pixels, Labels]:
    from sklearn.datasets import load_digits

    bunch = load_digits()
    labels = bunch.target.astype(np.int64)
    # Grey levels 0 to 16 become 0 to 255.
    pixels = np.rint(bunch.images * (255 / 16)).astype(np.uint8)
    # Every fourth image of each class is a test image: balanced, and the same everywhere without a seed.
    rank = np.empty(len(labels), dtype=np.int64)
    for label in np.unique(labels):
        members = labels == label
        rank[members] = np.arange(members.sum())
    chosen = (rank % 4 == 3) == test
    return pixels[chosen], labels[chosen]


def _embedded(folder: Path) -> Found:
    return Found(
        "embedded",
        {"train": ArraySplit(partial(_load, test=False)), "test": ArraySplit(partial(_load, test=True))},
    )


DIGITS = Definition(
    name="digits",
    title="1,797 handwritten digits, 8x8, from scikit-learn; nothing to fetch",
    layouts=(_embedded,),
    source="https://archive.ics.uci.edu/dataset/80",
    files="Nothing is needed.",
    class_names=tuple("0123456789"),
    counts={"train": 1352, "test": 445},
    embedded=True,
)
