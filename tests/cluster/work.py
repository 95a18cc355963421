"""Work that leaves traces: rows that take a while to be read, and a file for every time that some were."""

from __future__ import annotations

import os
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from i2cansay.core.types import Features
from i2cansay.fitting.row_source import Labels, Numbers, RowSource


@dataclass(frozen=True)
class TracedRows:
    """Rows of another source, each time `seconds` later, with a trace in `folder` that names process and rows."""

    source: RowSource
    folder: Path
    seconds: float = 0.0

    def __len__(self) -> int:
        return len(self.source)

    def take(self, rows: Numbers) -> tuple[Features, Labels]:
        """Return rows of the source."""
        (self.folder / f"{os.getpid()}-{rows[0]}-{uuid.uuid4().hex[:8]}").touch()
        time.sleep(self.seconds)
        return self.source.take(rows)


def traces(folder: Path) -> list[tuple[int, int]]:
    """Return the process and the first row of every time that rows were taken."""
    names = [path.name.split("-") for path in folder.iterdir()]
    return [(int(process), int(row)) for process, row, _ in names]
