"""What binds every row of a model's file to one version."""

from __future__ import annotations

from typing import Any

MODULUS = 1 << 128
"""Digests have 16 bytes."""


class RootDigest:
    """How many rows each table has, and the sum of their digests.

    A row's own digest only says that the row is whole; rows of an older version are whole as well. The root is part
    of the manifest, so that a manifest fits one version of every row. A sum does not depend on the order of the
    rows: a commit brings it up to date from the rows that it touches, however many others there are.

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
        """Count a row in."""
        rows, total = self._tables.get(table, (0, 0))
        self._tables[table] = rows + 1, (total + int.from_bytes(seal)) % MODULUS

    def remove(self, table: str, seal: bytes) -> None:
        """Count a row out."""
        rows, total = self._tables.get(table, (0, 0))
        self._tables[table] = rows - 1, (total - int.from_bytes(seal)) % MODULUS

    def copy(self) -> RootDigest:
        """Return a root of its own."""
        return RootDigest(self._tables)

    def to_json(self) -> dict[str, Any]:
        """Return the rows and sums by table; a table without rows is left out."""
        return {
            table: [rows, f"{total:032x}"] for table, (rows, total) in sorted(self._tables.items()) if rows
        }
