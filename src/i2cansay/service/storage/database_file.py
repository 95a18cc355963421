"""SQLite files of models: their tables, and how they are opened, copied and removed without a trace."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from functools import cache
from pathlib import Path

FORMAT = 2
MODEL_SUFFIX = ".sqlite"
# The digest of a block stands before its data, so that SQLite reads it without them.
TABLES = """
CREATE TABLE facts (id INTEGER PRIMARY KEY CHECK (id = 1), text TEXT, seal BLOB);
CREATE TABLE manifest (id INTEGER PRIMARY KEY CHECK (id = 1), text TEXT, seal BLOB);
CREATE TABLE blocks (name TEXT, number INTEGER, seal BLOB, data BLOB, PRIMARY KEY (name, number));
CREATE TABLE classes (
    label TEXT PRIMARY KEY, count INTEGER, first REAL, last REAL, number INTEGER, seal BLOB
);
CREATE TABLE receipts (key BLOB PRIMARY KEY, content BLOB, places BLOB, at REAL, seal BLOB);
CREATE TABLE log (
    id INTEGER PRIMARY KEY, at REAL, action TEXT, label TEXT, count INTEGER, scored INTEGER, correct INTEGER,
    who TEXT, seal BLOB
);
"""
# Made with the first annotation: a model that Label Studio has not taught is as it was, for older versions too.
ANNOTATIONS = (
    "CREATE TABLE annotations (id INTEGER PRIMARY KEY, project INTEGER, task INTEGER, stamp REAL, label TEXT, "
    "place INTEGER, seal BLOB)"
)
# Commits are forced to the disk, and deleted or replaced content is overwritten with zeros. `Database.sweep` empties
# the WAL after every commit, because it holds pages of the states before and after.
SETTINGS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA secure_delete = ON",
    "PRAGMA wal_autocheckpoint = 0",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA busy_timeout = 2000",
)


def copy_of(path: Path) -> bytes:
    """Return a consistent copy of a model's file as bytes, even while it is written."""
    try:
        return _copied(path)
    except sqlite3.OperationalError:
        if not path.exists():
            raise
    # Where nothing can be written beside it, SQLite does not read a file that has a WAL: copy both first.
    with tempfile.TemporaryDirectory() as folder:
        for part in (path, path.with_name(f"{path.name}-wal")):
            if part.exists():
                shutil.copyfile(part, Path(folder) / part.name)
        connect(Path(folder) / path.name).close()  # merges the WAL
        return _copied(Path(folder) / path.name)


def _copied(path: Path) -> bytes:
    source = reader(path)
    target = sqlite3.connect(":memory:")
    try:
        source.backup(target)
        return target.serialize()
    finally:
        source.close()
        target.close()


def remove(path: Path) -> None:
    """Overwrite a model's file and what SQLite keeps beside it with zeros, and delete them."""
    for part in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        if part.exists():
            with part.open("r+b") as file:
                file.write(bytes(part.stat().st_size))
                file.flush()
                os.fsync(file.fileno())  # or the file system may forget the zeros with the name
            part.unlink()


def tables_of(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return the definitions of all tables and indices."""
    return connection.execute("SELECT name, sql FROM sqlite_schema ORDER BY name").fetchall()


@cache
def usual_tables(*, annotations: bool = False) -> list[tuple[str, str]]:
    """Return what `tables_of` gives for an undamaged file, with or without a table of annotations."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(TABLES)
        if annotations:
            connection.execute(ANNOTATIONS)
        return tables_of(connection)
    finally:
        connection.close()


def reader(path: Path) -> sqlite3.Connection:
    """Open a file to be read beside its writer."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)


def connect(path: Path) -> sqlite3.Connection:
    """Open a file to be written, with our settings."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        for setting in SETTINGS:
            connection.execute(setting)
    except BaseException:
        connection.close()
        raise
    return connection


def without_wal(data: bytes) -> bytes:
    """Return the bytes of a database as one that can live in memory."""
    # Bytes 18 and 19 of an SQLite file say that it is used with a WAL, which a database in memory cannot have.
    return data[:18] + b"\x01\x01" + data[20:]
