"""Records on disk: one JSON file per cell while cells are played, one JSON-lines file for many to keep them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from i2cansay.disk.atomic import write_atomically
from i2cansay.experiments.declare.cell import Cell
from i2cansay.experiments.run.record import Record

Report = Callable[[str], None]


@dataclass(frozen=True)
class RecordFolder:
    """A folder of records, safe for several processes at once.

    A record appears under its final name in one step, so that a reader never finds half of one.
    """

    path: Path

    def file_of(self, key: str) -> Path:
        """Return where the record of a cell is or will be."""
        return self.path / f"{key}.json"

    def lock_of(self, key: str) -> Path:
        """Return the file that a process locks while it plays the cell."""
        return self.path / ".locks" / key

    def bookmark_of(self, key: str) -> Path:
        """Return where a cell that takes minutes notes how far it has come."""
        return self.path / ".bookmarks" / key

    def get(self, cell: Cell, features: str, *, report: Report | None = None) -> Record | None:
        """Return the record of a cell on features of this fingerprint.

        None if there is none, or if it cannot be used, which is reported.
        """
        file = self.file_of(cell.key(features))
        try:
            record = Record.from_json(file.read_text(encoding="utf-8"))
            if record.key != cell.key(features):
                raise ValueError("it is the record of another cell")
        except FileNotFoundError:
            return None
        except ValueError as error:
            problem = f"{file} is damaged and will be made again: {error}"
        else:
            if cell.fits(record.parameters):
                return record
            problem = f"{file} was made with other defaults of {cell.learner} and will be made again"
        if report is not None:
            report(problem)
        return None

    def packed(self, *, report: Report | None = None) -> dict[str, Record]:
        """Return the records in files of many lines, by key: those of earlier runs, as they were kept."""
        files = sorted(self.path.rglob("*.jsonl"))
        return {record.key: record for record in load_records(*files, report=report or (lambda _: None))}

    def put(self, record: Record) -> None:
        """Write a record, atomically and durably."""
        write_text(self.file_of(record.key), record.to_json() + "\n")


def load_records(*places: str | Path, report: Report | None = None) -> list[Record]:
    """Read all records in folders and files, each cell once.

    Parameters
    ----------
    places : folders or files
        From a folder, every `.json` (one record) and `.jsonl` (one per line) in it and below it.
    report : callable, optional
        Called with a sentence about every record that cannot be used, and about a file of many lines that holds no
        record at all. Without it, the first such record raises ValueError.
    """
    records: dict[str, Record] = {}
    for place in places:
        for file in _files(Path(place)):
            found, damaged = _read(file)
            for record in found:
                records.setdefault(record.key, record)
            if damaged and report is None:
                origin, error = damaged[0]
                raise ValueError(f"{origin} is damaged: {error}") from error
            if report is not None:
                for sentence in _left_out(file, damaged, all_of_it=not found):
                    report(sentence)
    return list(records.values())


def pack_records(records: Iterable[Record], path: str | Path) -> None:
    """Write records into one JSON-lines file; sorted, so that the same records give the same file."""
    lines = sorted({(_order(record), record.line or record.to_json()) for record in records})
    write_text(Path(path), "".join(line + "\n" for _, line in lines))


def write_text(path: Path, text: str) -> None:
    """Replace a text file in one step; two processes that write the same one both succeed."""
    write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8", newline="\n"))


def _order(record: Record) -> tuple[str, ...]:
    cell = record.cell
    names = (cell["dataset"], cell["encoder"], cell["stream"], cell["learner"])
    return (
        *map(str, names),
        str(sorted(cell["parameters"].items(), key=str)),
        f"{cell['seed']:06d}",
        record.key,
    )


def _left_out(file: Path, damaged: list[tuple[str, ValueError]], *, all_of_it: bool) -> list[str]:
    """Return a sentence for each damaged record, or one for a file of another kind, as the runs of a study are."""
    if all_of_it and len(damaged) > 1:
        return [f"{file} holds no record in {len(damaged)} lines and is left out"]
    return [f"{origin} is damaged and left out: {error}" for origin, error in damaged]


def _read(file: Path) -> tuple[list[Record], list[tuple[str, ValueError]]]:
    """Return the records of a file, and where it is damaged and how."""
    found, damaged = [], []
    for origin, text in _texts(file):
        try:
            found.append(Record.from_json(text))
        except ValueError as error:
            damaged.append((origin, error))
    return found, damaged


def _files(place: Path) -> Iterator[Path]:
    if place.is_dir():
        found = [path for suffix in ("json", "jsonl") for path in place.rglob(f"*.{suffix}")]
        yield from sorted(path for path in found if not path.name.startswith("."))
    elif place.is_file():
        yield place
    else:
        raise FileNotFoundError(f"there are no records at {place}; make some with `i2cansay reproduce`")


def _texts(file: Path) -> Iterator[tuple[str, str]]:
    text = file.read_text(encoding="utf-8", errors="replace")
    if file.suffix == ".jsonl":
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip():
                yield f"{file}, line {number}", line
    else:
        yield str(file), text
