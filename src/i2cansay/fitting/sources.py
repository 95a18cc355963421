"""Rows of features with labels, by number: of feature stores, of tables, of images that are encoded on demand.

A source is sent to other machines, so it holds paths and names, not features. Paths must lead to the same files on
every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.types import Features
from i2cansay.encoders import get_encoder
from i2cansay.encoders.encoder import Encoder
from i2cansay.features import FeatureFile, FeatureStore, load_features

Numbers: TypeAlias = NDArray[np.int64]
Labels: TypeAlias = NDArray[Any]


class RowSource(Protocol):
    """Labelled rows that can be asked for by number."""

    def __len__(self) -> int: ...

    def take(self, rows: Numbers) -> tuple[Features, Labels]:
        """Return features, (n, d), and labels, (n,), of the rows with these numbers, (n,)."""
        ...


@dataclass(frozen=True)
class StoreRows:
    """The rows of a feature store.

    Parameters
    ----------
    path : of the store.
    names : the label of each class of the store.
    n : rows of the store.
    width : how many of its columns are read, the first ones.
    """

    path: Path
    names: tuple[str | int, ...]
    n: int
    width: int

    def __len__(self) -> int:
        return self.n

    def take(self, rows: Numbers) -> tuple[Features, Labels]:
        """Return rows of the store, in single precision."""
        store = _store(self.path, _stamp(self.path / "journal.json"))
        X: Features = np.asarray(store.features[rows][:, : self.width], dtype=np.float32)
        return X, np.array(self.names)[store.labels[rows]]


@dataclass(frozen=True)
class TableRows:
    """The rows of a CSV or NPZ file, which is read whole by every process that needs a row of it.

    Parameters
    ----------
    path : of the file.
    n : rows of the file.
    label_column : of a CSV file.
    columns : in the order in which the first of several files has them; None for NPZ.
    as_text : whether labels are names: a label 7 is then the name "7".
    """

    path: Path
    n: int
    label_column: str = "label"
    columns: tuple[str, ...] | None = None
    as_text: bool = False

    def __len__(self) -> int:
        return self.n

    def take(self, rows: Numbers) -> tuple[Features, Labels]:
        """Return rows of the file."""
        file = _table(self.path, self.label_column, _stamp(self.path)).ordered_as(self.columns)
        labels = file.labels()[rows]
        return file.X[rows], labels.astype(str) if self.as_text else labels


@dataclass(frozen=True)
class ImageRows:
    """Images, each of which is encoded when its row is asked for.

    Parameters
    ----------
    paths, labels : of the images.
    encoder : its name or path, with `+stages`, `+mirror` and `@SIZE` as wanted.
    fingerprint : of the encoder; another machine may have another one of the same name.
    size : side of the encoder's input in pixels, where the name does not say it.
    """

    paths: tuple[Path, ...]
    labels: tuple[str | int, ...]
    encoder: str
    fingerprint: str
    size: int | None = None

    def __len__(self) -> int:
        return len(self.paths)

    def take(self, rows: Numbers) -> tuple[Features, Labels]:
        """Encode images; raise ValueError naming those that cannot be read."""
        encoder = _encoder(self.encoder, self.size)
        if encoder.fingerprint != self.fingerprint:
            raise ValueError(
                f"the encoder {self.encoder} of this machine has other weights or another preprocessing than that "
                "of the machine that asked; install the same one everywhere"
            )
        paths = [self.paths[row] for row in rows.tolist()]
        encoded = encoder.encode_each(paths)
        if encoded.errors:
            reasons = [f"{paths[error.index or 0]}: {error.reason}" for error in encoded.errors]
            raise ValueError(f"{len(reasons)} of the images cannot be read: {'; '.join(reasons)}")
        return encoded.features, np.array([self.labels[row] for row in rows.tolist()])


@dataclass(frozen=True)
class Rows:
    """Several sources, numbered through.

    Examples
    --------
    >>> first = ArrayRows(np.array([[1.0], [2.0]]), np.array(["a", "b"]))
    >>> rows = Rows([first, ArrayRows(np.array([[3.0]]), np.array(["c"]))])
    >>> len(rows), rows.take(np.array([1, 2]))
    (3, (array([[2.],
           [3.]]), array(['b', 'c'], dtype='<U1')))
    """

    sources: Sequence[RowSource]

    def __len__(self) -> int:
        return sum(map(len, self.sources))

    def take(self, rows: Numbers) -> tuple[Features, Labels]:
        """Return features and labels of rows by number, in ascending order."""
        found, start = [], 0
        for source in self.sources:
            inside = rows[(rows >= start) & (rows < start + len(source))] - start
            if len(inside):
                found.append(source.take(inside))
            start += len(source)
        if not found:
            raise ValueError(f"there are {start} rows; got none of their numbers")
        return np.concatenate([X for X, _ in found]), np.concatenate([y for _, y in found])


@dataclass(frozen=True)
class ArrayRows:
    """Rows in memory: features, (n, d), and labels, (n,)."""

    X: Features
    y: Labels

    def __len__(self) -> int:
        return len(self.X)

    def take(self, rows: Numbers) -> tuple[Features, Labels]:
        """Return rows of the arrays."""
        return self.X[rows], self.y[rows]


# -- opened once in a process, and anew when the file has changed ---------------------------------------------


def _stamp(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


@lru_cache(maxsize=8)
def _store(path: Path, stamp: tuple[int, int, int]) -> FeatureStore:
    return FeatureStore.open(path, verify=False)  # whoever asks has verified it


@lru_cache(maxsize=1)
def _table(path: Path, label_column: str, stamp: tuple[int, int, int]) -> FeatureFile:
    return load_features(path, label=label_column)


@lru_cache(maxsize=1)
def _encoder(name: str, size: int | None) -> Encoder:
    return get_encoder(name, size=size)
