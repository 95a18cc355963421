"""Filling a feature store so that a kill at any moment costs time but never a wrong row.

Rows are buffered to a chunk, written behind the committed ones and synced; only then the journal that counts
them is replaced in one step. Whatever lies behind the count when a store is opened again was never finished
and is cut off; what lies before it is compared with its checksums first.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from i2cansay.disk.atomic import remove_leftovers, sync_file, sync_folder, write_bytes_atomically
from i2cansay.features.header import Header
from i2cansay.features.journal import Journal
from i2cansay.features.store import (
    FEATURES,
    HEADER,
    JOURNAL,
    LABELS,
    ROWS,
    check_header,
    check_same,
    header_checksum,
    map_array,
    read_header,
    refusal,
    verify_chunks,
)

CHUNK_ROWS = 512


class StoreWriter:
    """Appends rows to the store in folder `path`; the caller holds the store's lock.

    Parameters
    ----------
    path : the store's folder; made if need be, continued if it holds the same store half finished and
        unharmed.
    header : what the store is to hold.
    labels, rows : int64 of shape (n,), written with the header.
    chunk_rows : rows per commit, rounded down to whole batches of the encoder.
    """

    def __init__(
        self,
        path: Path,
        header: Header,
        labels: NDArray[np.int64],
        rows: NDArray[np.int64],
        *,
        chunk_rows: int = CHUNK_ROWS,
    ) -> None:
        self._path, self._header, self._chunk_rows = path, header, chunk_rows
        self._dtype = np.dtype(header.dtype)
        self._journal: Journal | None = None
        self._pending: list[NDArray[Any]] = []
        self._n_pending = 0
        path.mkdir(parents=True, exist_ok=True)
        self._prepare(labels, rows)
        self._file = self._open()
        #: Rows that were there before this writer.
        self.started = self.committed

    def __enter__(self) -> StoreWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    @property
    def committed(self) -> int:
        """Rows that are on the disk for good."""
        return 0 if self._journal is None else self._journal.committed

    @property
    def batch_rows(self) -> int | None:
        """Rows per batch that a resumed encoding must use; None while there is no choice yet."""
        return None if self._journal is None else self._journal.batch_rows

    def append(self, batch: NDArray[np.floating[Any]]) -> None:
        """Add rows of shape (b, dim); they count once their chunk is full."""
        first = self.committed + self._n_pending
        if batch.ndim != 2 or batch.shape[1] != self._header.dim:
            raise ValueError(f"expected features of width {self._header.dim}, got an array of {batch.shape}")
        if first + len(batch) > self._header.rows:
            raise ValueError(f"expected {self._header.rows} rows in all, got {first + len(batch)}")
        if self._journal is None:
            whole_batches = max(1, self._chunk_rows // len(batch)) * len(batch)
            checksum = header_checksum(self._path)
            self._journal = Journal(len(batch), whole_batches, header_checksum=checksum)
        self._pending.append(_as_stored(batch, self._dtype, first))
        self._n_pending += len(batch)
        while self._n_pending >= self._journal.chunk_rows:
            self._commit(self._journal.chunk_rows)

    def finish(self) -> None:
        """Commit the last, shorter chunk; raises ValueError when rows are missing."""
        given = self.committed + self._n_pending
        if given != self._header.rows:
            raise ValueError(f"expected {self._header.rows} rows in all, the encoder gave {given}")
        if self._n_pending:
            self._commit(self._n_pending)

    def _commit(self, n: int) -> None:
        assert self._journal is not None
        pending = np.concatenate(self._pending)
        content, rest = pending[:n].tobytes(), pending[n:]
        self._file.write(content)
        sync_file(self._file)
        self._journal = self._journal.advanced(n, zlib.crc32(content))
        self._journal.write(self._path / JOURNAL)
        self._pending, self._n_pending = [rest], len(rest)

    def _prepare(self, labels: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
        """Write header and labels, or check that the half-finished store is the same one."""
        remove_leftovers(self._path)
        arrays = {LABELS: labels, ROWS: rows}
        if (self._path / HEADER).is_file():
            self._check(arrays)
            return
        for name, values in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, values, allow_pickle=False)
            write_bytes_atomically(self._path / name, buffer.getvalue())
        # The header comes last: where it is, the labels are complete.
        write_bytes_atomically(self._path / HEADER, self._header.to_json().encode())

    def _check(self, arrays: Mapping[str, NDArray[np.int64]]) -> None:
        check_same(self._path, read_header(self._path), self._header)
        for name, values in arrays.items():
            if not np.array_equal(map_array(self._path, name, values.shape, "int64"), values):
                raise ValueError(refusal(self._path, f"{name} has changed since it was written"))
        if (self._path / JOURNAL).is_file():
            journal = Journal.read(self._path / JOURNAL)
            check_header(self._path, journal)
            # An early journal gets the checksum it lacks.
            self._journal = replace(journal, header_checksum=header_checksum(self._path))

    def _check_chunks(self, start: int) -> None:
        """Compare the committed rows, which begin `start` bytes into the file, with their checksums."""
        if self._journal is not None and self.committed:
            shape = (self.committed, self._header.dim)
            done = np.memmap(self._path / FEATURES, self._dtype, mode="r", offset=start, shape=shape)
            verify_chunks(self._path, done, self._journal)

    def _open(self) -> io.BufferedRandom:
        """Open the matrix behind its last committed row and cut off what follows."""
        preamble = io.BytesIO()
        npy.write_array_header_1_0(
            preamble,
            {
                "descr": npy.dtype_to_descr(self._dtype),
                "fortran_order": False,
                "shape": (self._header.rows, self._header.dim),
            },
        )
        start = preamble.tell()
        end = start + self.committed * self._header.dim * self._dtype.itemsize
        path = self._path / FEATURES
        file = path.open("r+b" if path.is_file() else "w+b")
        try:
            length = file.seek(0, io.SEEK_END)
            if self.committed and length < end:
                reason = f"its journal counts {self.committed} rows, but some of them are lost"
                raise ValueError(refusal(self._path, reason))
            self._check_chunks(start)
            file.seek(0)
            file.write(preamble.getvalue())
            file.truncate(end)
            file.seek(end)
            sync_file(file)
            sync_folder(self._path)
        except BaseException:
            file.close()
            raise
        return file


def _as_stored(batch: NDArray[np.floating[Any]], dtype: np.dtype[Any], first: int) -> NDArray[Any]:
    """Convert to the store's type, refusing what it cannot hold."""
    with np.errstate(over="ignore"):
        stored = batch.astype(dtype)
    bad = np.flatnonzero(~np.isfinite(stored).all(axis=1))
    if bad.size:
        values = batch[bad[0]]
        if np.isfinite(values).all():
            raise ValueError(
                f"the feature of row {first + bad[0]} reaches {np.abs(values).max():g}, "
                f"more than {dtype} can hold: use float32"
            )
        raise ValueError(f"the encoder gave a feature with NaN or infinity for row {first + bad[0]}")
    return stored
