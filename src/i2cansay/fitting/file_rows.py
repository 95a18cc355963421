"""Rows of files, by number: of feature stores, of tables, of images that are encoded on demand.

A source is sent to other machines, so it holds paths and names, not features. Paths must lead to the same files on
every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from i2cansay.core.types import Features
from i2cansay.encoders import get_encoder
from i2cansay.encoders.encoder import Encoder
from i2cansay.engines.cores import share_of_cores
from i2cansay.features import FeatureFile, FeatureStore, load_features
from i2cansay.fitting.row_source import Labels, Numbers


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
class ImageFileRows:
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
        encoder = _encoder(self.encoder, self.size, share_of_cores())
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
def _encoder(name: str, size: int | None, threads: int | None) -> Encoder:
    return get_encoder(name, size=size, threads=threads)
