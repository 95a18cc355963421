"""The file of a model: SQLite, set up so that commits survive a power cut and leave no older state behind."""

from __future__ import annotations

import json
import math
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from i2cansay.core.types import State
from i2cansay.disk.atomic import sync_folder
from i2cansay.service.storage.annotation_records import AnnotationRecord
from i2cansay.service.storage.blocks import assemble, changed_blocks, describe, sealed, surplus_blocks
from i2cansay.service.storage.database_file import (
    ANNOTATIONS,
    FORMAT,
    TABLES,
    connect,
    copy_of,
    reader,
    remove,
    tables_of,
    usual_tables,
    without_wal,
)
from i2cansay.service.storage.model_records import ClassRecord, LogEntry, ModelFacts
from i2cansay.service.storage.receipts import Receipt
from i2cansay.service.storage.sealed_tables import COLUMNS, RootDigest, SealedTables

RECEIPT_SECONDS = 7 * 86400.0
"""How long a receipt is kept at least, in seconds for which the model was open."""
PRUNE_SECONDS = 3600.0
SELECT_ANNOTATIONS = "SELECT id, project, task, stamp, label, place FROM annotations"


class Damaged(Exception):
    """The file of a model is damaged or cannot be read."""


@contextmanager
def reading() -> Iterator[None]:
    """Turn any error of SQLite, json, numpy or a learner into Damaged, with a sentence.

    A flipped byte can cause almost any error: a name in the schema that is not UTF-8, a count beyond 64 bits,
    text that is nested too deeply. All code that opens or reads a model's file runs under this.
    """
    try:
        yield
    except Damaged:
        raise
    except Exception as error:
        outside = isinstance(error, sqlite3.OperationalError | OSError | MemoryError)
        trouble = "cannot be read" if outside else "is damaged"
        raise Damaged(f"{trouble}: {str(error) or type(error).__name__}") from error


@dataclass
class Changes:
    """The changes of one commit to the classes, receipts, log and annotations."""

    classes: dict[str, ClassRecord | None] = field(default_factory=dict)
    receipts: dict[bytes, Receipt] = field(default_factory=dict)
    log: list[LogEntry] = field(default_factory=list)
    annotations: dict[int, AnnotationRecord] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.classes or self.receipts or self.log or self.annotations)

    def copy(self) -> Changes:
        """Return an independent copy."""
        return Changes(dict(self.classes), dict(self.receipts), list(self.log), dict(self.annotations))

    def numbered(self) -> Changes:
        """Return the changes with the classes numbered from 1, for a new model."""
        records = [record for record in self.classes.values() if record is not None]
        return replace(
            self, classes={r.label: replace(r, number=number) for number, r in enumerate(records, start=1)}
        )


@dataclass(frozen=True)
class Contents:
    """The contents of a file when it was opened."""

    version: int
    notes: dict[str, Any]
    state: State
    classes: dict[str, ClassRecord]


class Database:
    """The file of a model, held open by its one writer.

    `commit` writes a group of requests as a whole, or not at all.
    """

    def __init__(self, path: Path) -> None:
        self._start(path, connect(path))

    def _start(self, path: Path | None, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._written: State = {}
        self._version = 0
        self._root = RootDigest()
        self._clock = 0.0
        self._looked = time.monotonic()
        self._pruned = -math.inf
        self._has_annotations = False

    @staticmethod
    def create(
        path: Path, facts: ModelFacts, state: State | None = None, changes: Changes | None = None
    ) -> None:
        """Make a new file. A crash meanwhile leaves at most a hidden file, which the next start removes."""
        half_made = path.with_name(f".{path.stem}.new")
        remove(half_made)
        connection = connect(half_made)
        try:
            connection.executescript(f"BEGIN; PRAGMA user_version = {FORMAT}; {TABLES}")
            tables = SealedTables(connection, RootDigest())
            tables.put("facts", [(1, facts.to_json())])
            manifest = _manifest(0, {}, {}, tables.root, 0.0)
            connection.execute("INSERT INTO manifest VALUES (1, ?, ?)", (manifest, sealed(manifest)))
            connection.execute("COMMIT")
        finally:
            connection.close()  # the last connection to close empties the WAL and removes it
        if state:
            filled = Database(half_made)
            try:
                filled.read()
                filled.commit(1, state, {}, (changes or Changes()).numbered())
            finally:
                filled.close()
        half_made.replace(path)
        sync_folder(path.parent)

    @classmethod
    def in_memory(cls, data: bytes) -> Database:
        """Open a copy, as `copy_of` gives it, without touching a file."""
        database = cls.__new__(cls)
        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        database._start(None, connection)
        database._connection.deserialize(without_wal(data))
        return database

    def facts(self) -> ModelFacts:
        """Return the facts of the model."""
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if version > FORMAT:
            raise Damaged(f"was written by a newer i2cansay (format {version}, this one reads {FORMAT})")
        if 0 < version < FORMAT:
            raise Damaged(
                f"was written by an older i2cansay (format {version}, this one reads {FORMAT}); "
                "export the model with the older one and import it here"
            )
        return ModelFacts.from_json(self._text("facts", "id, text"))

    def read(self) -> Contents:
        """Read and check everything; raise Damaged, or any error of SQLite and json."""
        (found,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
        if found != "ok":
            raise Damaged(f"is damaged: {found}")
        tables_found = tables_of(self._connection)
        self._has_annotations = tables_found == usual_tables(annotations=True)
        if not self._has_annotations and tables_found != usual_tables():
            raise Damaged("is damaged: its tables are not those of a model")
        manifest = json.loads(self._text("manifest", "text"))
        tables = SealedTables(self._connection, RootDigest())
        there = [table for table in COLUMNS if table != "annotations" or self._has_annotations]
        rows = {table: tables.read(table) for table in there}
        blocks: dict[str, list[bytes]] = {}
        for name, _, data in rows.pop("blocks"):
            blocks.setdefault(name, []).append(data)
        classes = {label: ClassRecord(label, *rest) for label, *rest in rows.pop("classes")}
        for others in rows.values():  # read for their digests only
            for _ in others:
                pass
        found = tables.root.to_json()
        if strange := [table for table in COLUMNS if found.get(table) != manifest["root"].get(table)]:
            raise Damaged(f"is damaged: its {strange[0]} and its manifest are not of the same version")
        state = assemble(manifest["arrays"], blocks)
        self._written, self._version, self._root = state, manifest["version"], tables.root
        self._clock, self._looked = float(manifest["clock"]), time.monotonic()
        return Contents(manifest["version"], manifest["notes"], state, classes)

    def _text(self, table: str, columns: str) -> str:
        """Return the text of a table of one row."""
        row = self._connection.execute(f"SELECT {columns}, seal FROM {table} WHERE id = 1").fetchone()
        if row is None or sealed(*row[:-1]) != row[-1]:
            raise Damaged(f"is damaged: its {table} does not match its digest")
        text: str = row[-2]
        return text

    def receipt(self, key: bytes) -> Receipt | None:
        """Return the receipt of an idempotency key, None where there is none."""
        row = self._connection.execute(
            "SELECT content, places FROM receipts WHERE key = ?", (key,)
        ).fetchone()
        return None if row is None else Receipt(*row)

    def annotation(self, number: int) -> AnnotationRecord | None:
        """Return what was taught of an annotation, None where nothing is known of it."""
        if not self._has_annotations:
            return None
        found = self._connection.execute(f"{SELECT_ANNOTATIONS} WHERE id = ?", (number,)).fetchone()
        return None if found is None else AnnotationRecord(*found)

    def annotations(self, column: Literal["id", "project", "task"], number: int) -> list[AnnotationRecord]:
        """Return what was taught of an annotation, or of those of a project or a task; from any thread."""
        if not self._has_annotations:
            return []
        with self._reader() as connection:
            found = connection.execute(f"{SELECT_ANNOTATIONS} WHERE {column} = ? ORDER BY id", (number,))
            return [AnnotationRecord(*row) for row in found]

    def commit(self, version: int, state: State, notes: dict[str, Any], changes: Changes) -> None:
        """Write a group in one transaction and wait for the disk; on sqlite3.Error nothing is written."""
        looked = time.monotonic()
        # Not the time of day, which can be set. The clock stands still while the file is closed.
        clock = self._clock + looked - self._looked
        prune = clock - self._pruned > PRUNE_SECONDS
        run, tables = self._connection.execute, SealedTables(self._connection, self._root.copy())
        run("BEGIN IMMEDIATE")
        try:
            if changes.annotations and not self._has_annotations:
                run(ANNOTATIONS)
            tables.put("blocks", [(b.name, b.number, b.data) for b in changed_blocks(state, self._written)])
            tables.drop("blocks", surplus_blocks(state, self._written))
            self._write_changes(tables, changes, clock)
            if prune:
                tables.drop_where("receipts", "at < ?", (clock - RECEIPT_SECONDS,))
            manifest = _manifest(version, state, notes, tables.root, clock)
            run("UPDATE manifest SET text = ?, seal = ? WHERE id = 1", (manifest, sealed(manifest)))
            run("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                run("ROLLBACK")
            raise
        self._written, self._version, self._root = state, version, tables.root
        self._clock, self._looked = clock, looked
        self._has_annotations = self._has_annotations or bool(changes.annotations)
        if prune:
            self._pruned = clock
        self.sweep()

    def _write_changes(self, tables: SealedTables, changes: Changes, clock: float) -> None:
        tables.drop("classes", [(label,) for label, record in changes.classes.items() if record is None])
        records = [record for record in changes.classes.values() if record is not None]
        tables.put("classes", [(r.label, r.count, r.first, r.last, r.number) for r in records])
        tables.put("receipts", [(key, r.content, r.places, clock) for key, r in changes.receipts.items()])
        (last,) = self._connection.execute("SELECT coalesce(max(id), 0) FROM log").fetchone()
        entries = enumerate(changes.log, start=last + 1)
        tables.put(
            "log", [(n, e.at, e.action, e.label, e.count, e.scored, e.correct, e.who) for n, e in entries]
        )
        tables.put(
            "annotations",
            [(a.id, a.project, a.task, a.stamp, a.label, a.place) for a in changes.annotations.values()],
        )

    def sweep(self) -> bool:
        """Move committed pages into the file and empty the WAL; return False where something prevents it."""
        try:
            (prevented, _, _) = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.Error:  # the commit itself stands; the next one tries again
            return False
        return not prevented

    def reopen(self) -> bool:
        """Open the file again after an error; return whether it holds the version last read or committed."""
        assert self.path is not None
        self._connection.close()
        self._connection = connect(self.path)
        return bool(json.loads(self._text("manifest", "text"))["version"] == self._version)

    def log(self, after: int, limit: int) -> list[tuple[int, LogEntry]]:
        """Return lines of the audit log, the oldest first; from any thread."""
        with self._reader() as connection:
            rows = connection.execute(
                "SELECT id, at, action, label, count, scored, correct, who FROM log "
                "WHERE id > ? ORDER BY id LIMIT ?",
                (after, limit),
            ).fetchall()
        return [(row[0], LogEntry(*row[1:])) for row in rows]

    @contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        """Give a connection to read with, from any thread."""
        connection = self._connection if self.path is None else reader(self.path)
        try:
            yield connection
        finally:
            if self.path is not None:
                connection.close()

    def copy(self) -> bytes:
        """Return a consistent copy of everything; from any thread."""
        return self._connection.serialize() if self.path is None else copy_of(self.path)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def _manifest(version: int, state: State, notes: dict[str, Any], root: RootDigest, clock: float) -> str:
    arrays = describe(state)
    return json.dumps(
        {"version": version, "clock": clock, "arrays": arrays, "notes": notes, "root": root.to_json()}
    )
