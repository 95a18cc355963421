"""Many records in a few files, to be kept with the code: one JSON-lines file per table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from i2cansay.experiments.report.report_tables import measure_all
from i2cansay.experiments.run.record import Record
from i2cansay.experiments.run.record_folder import pack_records


def pack_tables(records: Sequence[Record], folder: str | Path) -> dict[Path, int]:
    """Write every record to the file of the first declared table that shows it; return the counts by file."""
    taken: set[str] = set()
    files: dict[Path, list[Record]] = {}
    for table in measure_all(records):
        new = [record for record in table.records if record.key not in taken]
        taken.update(record.key for record in new)
        if new:
            files.setdefault(Path(folder) / f"{table.table.name}.jsonl", []).extend(new)
    for file, chosen in files.items():
        pack_records(chosen, file)
    return {file: len(chosen) for file, chosen in files.items()}
