"""How far a feature store is known to be right: the rows committed so far and a checksum for every chunk."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from i2cansay.features.durable import write_atomically


@dataclass(frozen=True)
class Journal:
    """Rows of a store that are on the disk for good.

    Parameters
    ----------
    batch_rows : rows per batch of the encoder, so that a resumed run cuts the same batches.
    chunk_rows : rows per commit, a multiple of `batch_rows`.
    committed : rows on the disk.
    checksums : CRC-32 of every chunk's bytes.
    """

    batch_rows: int
    chunk_rows: int
    committed: int = 0
    checksums: tuple[int, ...] = ()

    def advanced(self, rows: int, checksum: int) -> Journal:
        """Return the journal after one more chunk."""
        return Journal(self.batch_rows, self.chunk_rows, self.committed + rows, (*self.checksums, checksum))

    def write(self, path: Path) -> None:
        """Put it in place in one step."""
        write_atomically(path, json.dumps(asdict(self)).encode())

    @classmethod
    def read(cls, path: Path) -> Journal:
        """Read it back; raises ValueError when it contradicts itself."""
        try:
            values = json.loads(path.read_text())
            journal = cls(
                int(values["batch_rows"]),
                int(values["chunk_rows"]),
                int(values["committed"]),
                tuple(int(checksum) for checksum in values["checksums"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} is not a journal of a feature store ({error})") from error
        chunks = -(-journal.committed // journal.chunk_rows) if journal.chunk_rows > 0 else -1
        if chunks != len(journal.checksums):
            raise ValueError(
                f"{path} counts {journal.committed} rows in chunks of {journal.chunk_rows}, "
                f"but has {len(journal.checksums)} checksums"
            )
        return journal
