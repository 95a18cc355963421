"""The rows of a model's file: each has a digest, and the root digest binds all of them to one version."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
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
TOGETHER = 100
"""Rows whose former digests are read by one statement."""
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
        self._run, self._run_many = connection.execute, connection.executemany

    def put(self, table: str, rows: Sequence[Row]) -> None:
        """Write rows of different keys; each replaces the row with its key."""
        if not rows:  # there may be no such table yet
            return
        sealed_rows = [(*row, seal_of(table, row)) for row in rows]
        for start in range(0, len(rows), TOGETHER):
            keys = [row[: KEYS[table]] for row in rows[start : start + TOGETHER]]
            for (seal,) in self._run(seals_of(table, len(keys)), tuple(chain.from_iterable(keys))).fetchall():
                self.root.remove(table, seal)
        self._run_many(upsert(table), sealed_rows)
        for row in sealed_rows:
            self.root.add(table, row[-1])

    def drop(self, table: str, keys: Iterable[Row]) -> None:
        """Delete the rows with these keys."""
        condition = " AND ".join(f"{column} = ?" for column in COLUMNS[table][: KEYS[table]])
        for key in keys:
            self.drop_where(table, condition, key)

    def drop_where(self, table: str, condition: str, values: Row) -> None:
        """Delete the rows for which a condition holds."""
        for (seal,) in self._run(f"SELECT seal FROM {table} WHERE {condition}", values).fetchall():
            self.root.remove(table, seal)
        self._run(f"DELETE FROM {table} WHERE {condition}", values)

    def read(self, table: str) -> Iterator[Row]:
        """Yield the rows in the order of their keys and add them to the root; raise ValueError for a broken row."""
        columns = COLUMNS[table]
        order = ", ".join(columns[: KEYS[table]])
        for *row, seal in self._run(f"SELECT {', '.join(columns)}, seal FROM {table} ORDER BY {order}"):
            if seal_of(table, tuple(row)) != seal:
                raise ValueError(f"a row of its {table} does not match its digest")
            self.root.add(table, seal)
            yield tuple(row)


@cache
def upsert(table: str) -> str:
    """Return the statement that writes a row in place of the one with its key."""
    columns, n_keys = (*COLUMNS[table], "seal"), KEYS[table]
    places = ", ".join("?" * len(columns))
    new = ", ".join(f"{column} = excluded.{column}" for column in columns[n_keys:])
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places}) "
        f"ON CONFLICT ({', '.join(columns[:n_keys])}) DO UPDATE SET {new}"
    )


@cache
def seals_of(table: str, n: int) -> str:
    """Return the query for the digests of the rows with `n` keys.

    Examples
    --------
    >>> seals_of("classes", 2)
    'WITH keys (label) AS (VALUES (?), (?)) SELECT seal FROM keys CROSS JOIN classes USING (label)'
    """
    columns = ", ".join(COLUMNS[table][: KEYS[table]])
    one = f"({', '.join('?' * KEYS[table])})"
    # A cross join keeps its order: of each key the row is looked up. For `IN`, SQLite reads the whole table.
    return (
        f"WITH keys ({columns}) AS (VALUES {', '.join([one] * n)}) "
        f"SELECT seal FROM keys CROSS JOIN {table} USING ({columns})"
    )


def seal_of(table: str, row: Row) -> bytes:
    """Return the digest of a row."""
    if table == "blocks":  # name and number are included, so that blocks cannot be swapped
        name, number, data = row
        return digest_of(f"{name} {number}".encode(), data)
    return sealed(*row)
