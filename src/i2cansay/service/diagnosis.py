"""Checking and copying a data folder from outside, even while a service uses it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from i2cansay.disk.atomic import write_atomically
from i2cansay.service.access.tokens import FILE, Tokens
from i2cansay.service.model.model_state import ModelState
from i2cansay.service.model.snapshot import Snapshot
from i2cansay.service.storage.database import Damaged, Database, reading
from i2cansay.service.storage.database_file import MODEL_SUFFIX, copy_of


@dataclass(frozen=True)
class Diagnosis:
    """The state of one file: its name, a sentence, and whether the file is in order."""

    name: str
    sentence: str
    well: bool


def examine(folder: Path) -> Iterator[Diagnosis]:
    """Check every file of a data folder; change nothing."""
    places = folder / "models"
    if not places.is_dir():
        raise FileNotFoundError(f"{folder} is not a data folder of `i2cansay serve`: it has no folder models")
    for path in sorted(places.iterdir()):
        if path.name.endswith(MODEL_SUFFIX):
            yield _examine_model(path)
        elif path.name.startswith(".") and path.name.endswith((".new", ".gone")):
            yield Diagnosis(
                path.name, "was left by a crash while a model was made or deleted; serve removes it", False
            )
        elif not path.name.endswith((f"{MODEL_SUFFIX}-wal", f"{MODEL_SUFFIX}-shm")):
            yield Diagnosis(path.name, "does not belong here", False)
    try:
        known = Tokens(folder).all()
        yield Diagnosis(FILE, f"{len(known)} tokens", True)
    except ValueError as error:
        yield Diagnosis(FILE, str(error), False)


def _examine_model(path: Path) -> Diagnosis:
    try:
        with reading():
            # On a copy in memory: the file itself may be in use, or on a disk that cannot be written.
            database = Database.in_memory(copy_of(path))
            try:
                state = ModelState.read(database, path.stem)
                Snapshot.of(state)  # as the service does
            finally:
                database.close()
    except Damaged as error:
        return Diagnosis(path.name, str(error), False)
    samples = sum(record.count for record in state.classes.values())
    return Diagnosis(
        path.name, f"{len(state.classes)} classes, {samples} samples, version {state.version}", True
    )


def back_up(folder: Path, target: Path) -> list[Path]:
    """Copy every undamaged model of a data folder, and check the copies; return their paths."""
    target.mkdir(parents=True, exist_ok=True)
    written = []
    for path in sorted((folder / "models").glob(f"[a-z0-9]*{MODEL_SUFFIX}")):
        if not _examine_model(path).well:
            continue
        data = copy_of(path)
        place = target / path.name
        write_atomically(place, lambda temporary, data=data: temporary.write_bytes(data))  # type: ignore[misc]
        finding = _examine_model(place)
        if not finding.well:
            raise ValueError(f"the copy {place} {finding.sentence}")
        written.append(place)
    return written
