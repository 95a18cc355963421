"""The file of one model: SQLite, written so that a commit survives a power cut and leaves no older state behind."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from i2cansay.core.types import State
from i2cansay.disk.atomic import sync_folder
from i2cansay.service.blocks import assemble, changed_blocks, describe, digest_of, sealed, surplus_blocks
from i2cansay.service.database_file import (
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
from i2cansay.service.receipts import Receipt
from i2cansay.service.records import ClassRecord, LogEntry, ModelFacts

RECEIPT_DAYS = 7.0


class Damaged(Exception):
    """A model's file is not what was written."""


@dataclass
class Changes:
    """What one commit adds to the classes, receipts and log."""

    classes: dict[str, ClassRecord | None] = field(default_factory=dict)
    receipts: dict[bytes, Receipt] = field(default_factory=dict)
    log: list[LogEntry] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.classes or self.receipts or self.log)


@dataclass(frozen=True)
class Contents:
    """All that a file held when it was opened."""

    version: int
    notes: dict[str, Any]
    state: State
    classes: dict[str, ClassRecord]


class Database:
    """A model's file, held open by its one writer.

    `commit` writes everything of a group of requests, or nothing of it.
    """

    def __init__(self, path: Path) -> None:
        self._start(path, connect(path))

    def _start(self, path: Path | None, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._written: State = {}
        self._version = 0
        self._pruned = 0.0

    @staticmethod
    def create(
        path: Path, facts: ModelFacts, state: State | None = None, changes: Changes | None = None
    ) -> None:
        """Make a new file; a crash on the way leaves at most a hidden one, which the next start removes."""
        half_made = path.with_name(f".{path.stem}.new")
        remove(half_made)
        connection = connect(half_made)
        try:
            connection.executescript(f"BEGIN; PRAGMA user_version = {FORMAT}; {TABLES}")
            text, manifest = facts.to_json(), _manifest(0, {}, {})
            connection.execute("INSERT INTO facts VALUES (1, ?, ?)", (text, sealed(text)))
            connection.execute("INSERT INTO manifest VALUES (1, ?, ?)", (manifest, sealed(manifest)))
            connection.execute("COMMIT")
        finally:
            connection.close()  # the last to close empties the log and takes it away
        if state:
            filled = Database(half_made)
            try:
                filled.commit(1, state, {}, changes or Changes())
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
        """Return what the model is."""
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if version > FORMAT:
            raise Damaged(
                f"was written by a newer i2cansay (format {version}, this one reads up to {FORMAT})"
            )
        try:
            return ModelFacts.from_json(self._text("facts"))
        except (sqlite3.DatabaseError, TypeError, ValueError) as error:
            raise Damaged(f"does not say what model it holds ({error})") from error

    def read(self) -> Contents:
        """Read and check everything; raise Damaged with what is wrong."""
        try:
            (found,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
            if found != "ok":
                raise Damaged(f"is damaged: {found}")
            if tables_of(self._connection) != usual_tables():
                raise Damaged("is damaged: its tables are not those of a model")
            contents = self._contents()
            for table in ("receipts", "log"):
                self._check_seals(table)
        except (sqlite3.DatabaseError, ValueError, TypeError, KeyError) as error:
            raise Damaged(f"is damaged: {error}") from error
        self._written, self._version = contents.state, contents.version
        return contents

    def _contents(self) -> Contents:
        manifest = json.loads(self._text("manifest"))
        blocks: dict[str, list[bytes]] = {}
        rows = self._connection.execute("SELECT name, number, data, digest FROM blocks ORDER BY name, number")
        for name, number, data, digest in rows:
            if digest_of(f"{name} {number}".encode(), data) != digest:
                raise Damaged(f"is damaged: block {number} of {name} does not match its digest")
            blocks.setdefault(name, []).append(data)
        self._check_seals("classes")
        records = self._connection.execute("SELECT label, count, first, last FROM classes")
        classes = {label: ClassRecord(label, *rest) for label, *rest in records}
        state = assemble(manifest["arrays"], blocks)
        return Contents(manifest["version"], manifest["notes"], state, classes)

    def _text(self, table: str) -> str:
        row = self._connection.execute(f"SELECT text, seal FROM {table} WHERE id = 1").fetchone()
        if row is None or sealed(row[0]) != row[1]:
            raise Damaged(f"is damaged: its {table} does not match its digest")
        text: str = row[0]
        return text

    def _check_seals(self, table: str) -> None:
        for *values, seal in self._connection.execute(f"SELECT * FROM {table}"):
            if sealed(*values) != seal:
                raise Damaged(f"is damaged: a row of its {table} does not match its digest")

    def receipt(self, key: bytes) -> Receipt | None:
        """Return what was written under an idempotency key."""
        row = self._connection.execute("SELECT total, held FROM receipts WHERE key = ?", (key,)).fetchone()
        return None if row is None else Receipt.from_bytes(*row)

    def commit(self, version: int, state: State, notes: dict[str, Any], changes: Changes) -> None:
        """Write a group in one transaction and wait for the disk; raise sqlite3.Error and write nothing."""
        now = time.time()
        run, many = self._connection.execute, self._connection.executemany
        run("BEGIN IMMEDIATE")
        try:
            many(
                "INSERT INTO blocks VALUES (?, ?, ?, ?) ON CONFLICT (name, number) "
                "DO UPDATE SET data = excluded.data, digest = excluded.digest",
                [(b.name, b.number, b.data, b.digest) for b in changed_blocks(state, self._written)],
            )
            many("DELETE FROM blocks WHERE name = ? AND number = ?", surplus_blocks(state, self._written))
            self._write_changes(changes, now)
            manifest = _manifest(version, state, notes)
            run("UPDATE manifest SET text = ?, seal = ? WHERE id = 1", (manifest, sealed(manifest)))
            if now - self._pruned > 3600:
                run("DELETE FROM receipts WHERE at < ?", (now - 86400 * RECEIPT_DAYS,))
                self._pruned = now
            run("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                run("ROLLBACK")
            raise
        self._written, self._version = state, version
        self.sweep()

    def _write_changes(self, changes: Changes, now: float) -> None:
        gone = [(label,) for label, record in changes.classes.items() if record is None]
        self._connection.executemany("DELETE FROM classes WHERE label = ?", gone)
        records = [record for record in changes.classes.values() if record is not None]
        self._insert("OR REPLACE INTO classes", ((r.label, r.count, r.first, r.last) for r in records))
        self._insert(
            "OR REPLACE INTO receipts",
            ((key, r.total, r.to_bytes(), now) for key, r in changes.receipts.items()),
        )
        (last,) = self._connection.execute("SELECT coalesce(max(id), 0) FROM log").fetchone()
        entries = enumerate(changes.log, start=last + 1)
        self._insert(
            "INTO log",
            ((n, e.at, e.action, e.label, e.count, e.scored, e.correct, e.who) for n, e in entries),
        )

    def _insert(self, into: str, rows: Iterable[tuple[Any, ...]]) -> None:
        with_seals = [(*row, sealed(*row)) for row in rows]
        if with_seals:
            places = ", ".join("?" * len(with_seals[0]))
            self._connection.executemany(f"INSERT {into} VALUES ({places})", with_seals)

    def sweep(self) -> bool:
        """Move the committed pages into the file and empty the log; False where a reader or the disk prevents it."""
        try:
            (prevented, _, _) = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.Error:  # the commit itself stands; the next one tries again
            return False
        return not prevented

    def reopen(self) -> bool:
        """After an error: open anew; return whether what was last read or committed is what the file holds."""
        assert self.path is not None
        self._connection.close()
        self._connection = connect(self.path)
        return bool(json.loads(self._text("manifest"))["version"] == self._version)

    def log(self, after: int, limit: int) -> list[tuple[int, LogEntry]]:
        """Return lines of the audit log, the oldest first; from any thread."""
        connection = self._connection if self.path is None else reader(self.path)
        try:
            rows = connection.execute(
                "SELECT id, at, action, label, count, scored, correct, who FROM log "
                "WHERE id > ? ORDER BY id LIMIT ?",
                (after, limit),
            ).fetchall()
        finally:
            if self.path is not None:
                connection.close()
        return [(row[0], LogEntry(*row[1:])) for row in rows]

    def copy(self) -> bytes:
        """Return a consistent copy of everything; from any thread."""
        return self._connection.serialize() if self.path is None else copy_of(self.path)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()


def _manifest(version: int, state: State, notes: dict[str, Any]) -> str:
    return json.dumps({"version": version, "arrays": describe(state), "notes": notes})
