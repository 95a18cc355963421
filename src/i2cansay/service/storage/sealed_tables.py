"""The rows of a model's file: each has a digest, and the root digest binds all of them to one version."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any

from i2cansay.service.storage.blocks import digest_of, sealed

COLUMNS = {
    "facts": ("id", "text"),
    "blocks": ("name", "number", "data"),
    "classes": ("label", "count", "first", "last", "number"),
    "receipts": ("key", "content", "places", "at"),
    "log": ("id", "at", "action", "label", "count", "scored", "correct", "who"),
    "annotations": ("id", "project", "task", "stamp", "label", "place"),
}
"""Without `seal`, the digest of the others."""
KEYS = {table: 2 if table == "blocks" else 1 for table in COLUMNS}
"""How many of the first columns are the key."""
Row = tuple[Any, ...]
MODULUS = 1 << 128
"""Digests have 16 bytes."""


class RootDigest:
    """How many rows each table has, and the sum of their digests.

    The digest of a row only says that the row is whole, and rows of an older version are whole too. The root is part
    of the manifest, so a manifest fits one version of every row. A sum does not depend on the order of the rows, so
    a commit updates it from the rows that it touches.

    Examples
    --------
    >>> root = RootDigest()
    >>> root.add("log", bytes(15) + b"a")
    >>> root.add("log", bytes(15) + b"b")
    >>> root.remove("log", bytes(15) + b"a")
    >>> root.to_json()
    {'log': [1, '00000000000000000000000000000062']}
    """

    def __init__(self, tables: dict[str, tuple[int, int]] | None = None) -> None:
        self._tables = dict(tables or {})

    def add(self, table: str, seal: bytes) -> None:
        """Add a row."""
        rows, total = self._tables.get(table, (0, 0))
        self._tables[table] = rows + 1, (total + int.from_bytes(seal)) % MODULUS

    def remove(self, table: str, seal: bytes) -> None:
        """Remove a row."""
        rows, total = self._tables.get(table, (0, 0))
        self._tables[table] = rows - 1, (total - int.from_bytes(seal)) % MODULUS

    def copy(self) -> RootDigest:
        """Return an independent copy."""
        return RootDigest(self._tables)

    def to_json(self) -> dict[str, Any]:
        """Return the counts and sums by table, without empty tables."""
        return {
            table: [rows, f"{total:032x}"] for table, (rows, total) in sorted(self._tables.items()) if rows
        }


class SealedTables:
    """Rows written through one connection, inside the caller's transaction; `root` is kept up to date."""

    def __init__(self, connection: sqlite3.Connection, root: RootDigest) -> None:
        self.root = root
        self._run = connection.execute

    def put(self, table: str, rows: Iterable[Row]) -> None:
        """Write rows; each replaces the row with its key."""
        columns, n_keys = (*COLUMNS[table], "seal"), KEYS[table]
        places = ", ".join("?" * len(columns))
        new = ", ".join(f"{column} = excluded.{column}" for column in columns[n_keys:])
        statement = (
            f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places}) "
            f"ON CONFLICT ({', '.join(columns[:n_keys])}) DO UPDATE SET {new}"
        )
        for row in rows:
            seal = seal_of(table, row)
            self._remove_from_root(table, self._with_key(table), row[:n_keys])
            self._run(statement, (*row, seal))
            self.root.add(table, seal)

    def drop(self, table: str, keys: Iterable[Row]) -> None:
        """Delete the rows with these keys."""
        for key in keys:
            self.drop_where(table, self._with_key(table), key)

    def drop_where(self, table: str, condition: str, values: Row) -> None:
        """Delete the rows for which a condition holds."""
        self._remove_from_root(table, condition, values)
        self._run(f"DELETE FROM {table} WHERE {condition}", values)

    def _with_key(self, table: str) -> str:
        return " AND ".join(f"{column} = ?" for column in COLUMNS[table][: KEYS[table]])

    def _remove_from_root(self, table: str, condition: str, values: Row) -> None:
        for (seal,) in self._run(f"SELECT seal FROM {table} WHERE {condition}", values).fetchall():
            self.root.remove(table, seal)

    def read(self, table: str) -> Iterator[Row]:
        """Yield the rows in the order of their keys and add them to the root; raise ValueError for a broken row."""
        columns = COLUMNS[table]
        order = ", ".join(columns[: KEYS[table]])
        for *row, seal in self._run(f"SELECT {', '.join(columns)}, seal FROM {table} ORDER BY {order}"):
            if seal_of(table, tuple(row)) != seal:
                raise ValueError(f"a row of its {table} does not match its digest")
            self.root.add(table, seal)
            yield tuple(row)


def seal_of(table: str, row: Row) -> bytes:
    """Return the digest of a row."""
    if table == "blocks":  # name and number are included, so that blocks cannot be swapped
        name, number, data = row
        return digest_of(f"{name} {number}".encode(), data)
    return sealed(*row)
