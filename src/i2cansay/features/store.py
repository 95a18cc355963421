"""Features on disk: encoded once, memory-mapped ever after.

A store is a folder: `header.json` says what it holds, `features.npy` is the matrix (`numpy.load` opens it),
`labels.npy` and `rows.npy` give the label and the data set's row of each feature row, and `journal.json`
counts the rows that are complete, with a checksum for every chunk of them and one for the header.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.encoders.stages import Block
from i2cansay.features.header import Header
from i2cansay.features.journal import Journal

HEADER, FEATURES, LABELS, ROWS, JOURNAL, LOCK = (
    "header.json",
    "features.npy",
    "labels.npy",
    "rows.npy",
    "journal.json",
    "lock",
)


@dataclass(frozen=True)
class FeatureStore:
    """Features of one split under one encoder, with their labels.

    Attributes
    ----------
    path : the store's folder.
    header : what it holds: data set, encoder, fingerprints, `subset` when it is not a whole split.
    features : shape (n, dim), float16 or float32, memory-mapped and read-only.
    labels : int64 of shape (n,), positions in `class_names`.
    rows : int64 of shape (n,), the row of the split that each feature row belongs to.
    """

    path: Path
    header: Header
    features: NDArray[np.floating[Any]]
    labels: NDArray[np.int64]
    rows: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def class_names(self) -> tuple[str, ...]:
        """Names of the classes; labels are positions in this tuple."""
        return self.header.class_names

    @property
    def dim(self) -> int:
        """Width of a feature."""
        return self.header.dim

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The runs of columns that come from one layer of the encoder each; the first is the last layer's."""
        return self.header.blocks

    @property
    def size(self) -> int:
        """Bytes on disk of the feature matrix."""
        return (self.path / FEATURES).stat().st_size

    @classmethod
    def open(cls, path: str | Path, *, verify: bool = True) -> FeatureStore:
        """Open a finished store.

        Parameters
        ----------
        path : the store's folder.
        verify : compare every chunk with its checksum (about a second per gigabyte).

        Raises
        ------
        FileNotFoundError
            When there is no store at `path`.
        ValueError
            When the store is not finished, or does not match its header or its checksums.
        """
        path = Path(path)
        if not (path / HEADER).is_file():
            raise FileNotFoundError(f"there is no feature store in {path}: make one with `i2cansay encode`")
        header = read_header(path)
        journal = Journal.read(path / JOURNAL) if (path / JOURNAL).is_file() else None
        if journal is not None:
            check_header(path, journal)
        done = 0 if journal is None else journal.committed
        if done < header.rows or journal is None:
            raise ValueError(
                f"the feature store {path} holds {done} of {header.rows} rows: "
                f"run the same `i2cansay encode` again to finish it"
            )
        features = map_array(path, FEATURES, (header.rows, header.dim), header.dtype)
        labels = np.array(map_array(path, LABELS, (header.rows,), "int64"))
        rows = np.array(map_array(path, ROWS, (header.rows,), "int64"))
        if zlib.crc32(labels.tobytes() + rows.tobytes()) != header.labels_checksum:
            raise ValueError(refusal(path, "its labels have changed since they were written"))
        if done != header.rows:
            raise ValueError(refusal(path, f"its journal counts {done} rows, its header {header.rows}"))
        if len(labels) and not (
            0 <= labels.min() <= labels.max() < len(header.class_names) and rows.min() >= 0
        ):
            raise ValueError(refusal(path, "it has labels without a name, or rows below 0"))
        if verify:
            verify_chunks(path, features, journal)
        return cls(path, header, features, labels, rows)

    def take(self, positions: NDArray[np.int64], header: Header) -> FeatureStore:
        """Serve a part of this store, in memory, under the header it would have if encoded on its own."""
        return FeatureStore(
            self.path, header, self.features[positions], self.labels[positions], self.rows[positions]
        )

    def first_block(self, header: Header) -> FeatureStore:
        """Serve the features of the last layer alone, under the header they would have if encoded on their own."""
        return FeatureStore(self.path, header, self.features[:, : header.dim], self.labels, self.rows)


def read_header(path: Path) -> Header:
    """Read the header of the store in folder `path`."""
    try:
        return Header.from_json((path / HEADER).read_text())
    except ValueError as error:
        raise ValueError(refusal(path, str(error))) from error


def check_header(path: Path, journal: Journal) -> None:
    """Refuse a header file that is no longer what it was when rows were committed under it."""
    # Early stores have no such checksum; their features and labels are checked all the same.
    if journal.header_checksum is not None and header_checksum(path) != journal.header_checksum:
        raise ValueError(refusal(path, f"{HEADER} has changed since it was written"))


def check_same(path: Path, found: Header, wanted: Header) -> None:
    """Refuse the store in folder `path` if its header is not the one its name stands for."""
    if difference := found.difference(wanted):
        raise ValueError(refusal(path, f"it holds something else than its name says: {difference}"))


def header_checksum(path: Path) -> int:
    """CRC-32 of the header file of the store in folder `path`."""
    return zlib.crc32((path / HEADER).read_bytes())


def refusal(path: Path, reason: str) -> str:
    """Say why the store in folder `path` cannot be used, and what to do."""
    return f"the feature store {path} is refused: {reason}. Delete that folder and encode anew"


def map_array(path: Path, name: str, shape: tuple[int, ...], dtype: str) -> NDArray[Any]:
    """Map one array of the store, of exactly the shape and type the header promises."""
    file = path / name
    try:
        matrix: NDArray[Any] = np.load(file, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # the header of the array is Python text, which can fail in many ways
        raise ValueError(refusal(path, f"{name} cannot be read ({error})")) from error
    if matrix.shape != shape or matrix.dtype != np.dtype(dtype):
        reason = f"its header promises {name} as {shape} {dtype}, found {matrix.shape} {matrix.dtype}"
        raise ValueError(refusal(path, reason))
    expected = matrix.offset + matrix.nbytes if isinstance(matrix, np.memmap) else file.stat().st_size
    if file.stat().st_size != expected:
        raise ValueError(refusal(path, f"{name} has {file.stat().st_size} bytes instead of {expected}"))
    return matrix


def verify_chunks(path: Path, features: NDArray[Any], journal: Journal) -> None:
    """Compare every committed chunk of features, (n, dim), with its checksum."""
    for index, checksum in enumerate(journal.checksums):
        start = index * journal.chunk_rows
        end = min(start + journal.chunk_rows, journal.committed)
        if zlib.crc32(features[start:end].tobytes()) != checksum:
            raise ValueError(refusal(path, f"rows {start} to {end - 1} have changed since they were written"))
        if not np.isfinite(features[start:end]).all():
            raise ValueError(refusal(path, f"rows {start} to {end - 1} have values that are not finite"))
