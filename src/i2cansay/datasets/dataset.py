"""A data set: named classes, fixed splits, labels, and images that are read on demand."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Labels: TypeAlias = NDArray[np.int64]
Pixels: TypeAlias = NDArray[np.uint8]
#: What an encoder can open: an encoded file in memory, pixels of shape (height, width, 3), or a path.
Image: TypeAlias = bytes | Pixels | Path
Rows: TypeAlias = Sequence[int] | NDArray[np.integer[Any]]


class Split(Protocol):
    """One fixed part of a data set, for example its test images."""

    @property
    def labels(self) -> Labels:
        """Label of every row, shape (n,), as positions in the class names."""
        ...

    def images(self, rows: Rows) -> Iterator[Image]:
        """Yield the images of these rows, in this order, each read on demand."""
        ...

    def digest(self) -> str:
        """Hash of the images; it does not depend on where the files are.

        It covers their content, unless that would take too long; a split that hashes less, for example only the
        names and sizes of the files, says so.
        """
        ...


@dataclass(frozen=True)
class Dataset:
    """Images with labels in fixed splits.

    Parameters
    ----------
    name : the name under which `get_dataset` found it.
    class_names : name of each class; labels are positions in this tuple.
    parts : the splits by name, "train" first.
    layout : how the files are laid out, in a few words.
    location : where the files were found; None for embedded data.
    counts : how many images each split must have, if known; a copy with another number is refused when its labels
        are read.

    Examples
    --------
    >>> from i2cansay.datasets import get_dataset
    >>> digits = get_dataset("digits")
    >>> digits.splits, digits.n("train"), digits.n("test")
    (('train', 'test'), 1352, 445)
    >>> next(digits.images("train")).shape
    (8, 8, 3)
    """

    name: str
    class_names: tuple[str, ...]
    parts: Mapping[str, Split]
    layout: str
    location: Path | None = None
    counts: Mapping[str, int] | None = None

    @property
    def splits(self) -> tuple[str, ...]:
        """Names of the splits."""
        return tuple(self.parts)

    def labels(self, split: str) -> Labels:
        """Labels of a split, int64, shape (n,)."""
        return self._labels(split)

    def n(self, split: str) -> int:
        """Number of images in a split."""
        return len(self._labels(split))

    def images(self, split: str, rows: Rows | None = None) -> Iterator[Image]:
        """Yield images of a split one by one: all of them, or the given rows in the given order."""
        n = self.n(split)
        if rows is None:
            return self.parts[split].images(np.arange(n))
        wanted = np.asarray(rows, dtype=np.int64)
        if wanted.size and (wanted.min() < 0 or wanted.max() >= n):
            raise ValueError(
                f"{self.name} has {n} images in {split!r}, rows 0 to {n - 1}; "
                f"got rows from {wanted.min()} to {wanted.max()}"
            )
        return self.parts[split].images(wanted)

    @cached_property
    def fingerprint(self) -> str:
        """Hash that changes with the classes, the labels, their order or the images.

        It does not depend on where the files are, nor on the archive format if the pixels are the same. It covers
        the content of the images, with two exceptions: of the official trees of CORe50 and CUB-200 only the names
        and sizes of the files, and of parquet files above a gibibyte only the size and some pieces. There a change
        that keeps the size can go unnoticed.
        """
        description = {
            "classes": self.class_names,
            "splits": {
                split: [
                    self.n(split),
                    hashlib.sha256(self.labels(split).astype("<i8").tobytes()).hexdigest(),
                    self.parts[split].digest(),
                ]
                for split in self.splits
            },
        }
        return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()

    def _labels(self, split: str) -> Labels:
        if split not in self._checked:
            self._checked[split] = self._check(split)
        return self._checked[split]

    @cached_property
    def _checked(self) -> dict[str, Labels]:
        return {}

    def _check(self, split: str) -> Labels:
        if split not in self.parts:
            raise ValueError(f"{self.name} has the splits {', '.join(self.splits)}; got {split!r}")
        labels = self.parts[split].labels
        place = "" if self.location is None else f" in {self.location}"
        expected = (self.counts or {}).get(split, len(labels))
        if len(labels) != expected:
            raise ValueError(
                f"{self.name} {split}: expected {expected} images, found {len(labels)}{place} "
                f"({self.layout}); the copy is incomplete: fetch it again"
            )
        if labels.size and (labels.min() < 0 or labels.max() >= len(self.class_names)):
            raise ValueError(
                f"{self.name} {split}: expected labels from 0 to {len(self.class_names) - 1}, "
                f"found {labels.min()} to {labels.max()}{place} ({self.layout}); the files are damaged"
            )
        return labels
