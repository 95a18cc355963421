"""The progress of a feature store: the rows committed so far, and checksums of all of them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from i2cansay.disk.atomic import write_bytes_atomically


@dataclass(frozen=True)
class Journal:
    """Rows of a store that are on the disk for good.

    Parameters
    ----------
    batch_rows : rows per batch of the encoder, so that a resumed run cuts the same batches.
    chunk_rows : rows per commit, a multiple of `batch_rows`.
    committed : rows on the disk.
    checksums : CRC-32 of every chunk's bytes.
    header_checksum : CRC-32 of the header file's bytes; None in journals of early versions, which had none.
    """

    batch_rows: int
    chunk_rows: int
    committed: int = 0
    checksums: tuple[int, ...] = ()
    header_checksum: int | None = None

    def advanced(self, rows: int, checksum: int) -> Journal:
        """Return the journal after one more chunk."""
        return replace(self, committed=self.committed + rows, checksums=(*self.checksums, checksum))

    def write(self, path: Path) -> None:
        """Put it in place in one step."""
        write_bytes_atomically(path, json.dumps(asdict(self)).encode())

    @classmethod
    def read(cls, path: Path) -> Journal:
        """Read it back; raises ValueError when it contradicts itself."""
        try:
            values = json.loads(path.read_text())
            header_checksum = values.get("header_checksum")
            journal = cls(
                int(values["batch_rows"]),
                int(values["chunk_rows"]),
                int(values["committed"]),
                tuple(int(checksum) for checksum in values["checksums"]),
                None if header_checksum is None else int(header_checksum),
            )
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise ValueError(
                f"{path} is not a journal of a feature store ({error}): delete its folder and encode anew"
            ) from error
        chunks = -(-journal.committed // journal.chunk_rows) if journal.chunk_rows > 0 else -1
        if chunks != len(journal.checksums):
            raise ValueError(
                f"{path} counts {journal.committed} rows in chunks of {journal.chunk_rows}, "
                f"but has {len(journal.checksums)} checksums: delete its folder and encode anew"
            )
        return journal
