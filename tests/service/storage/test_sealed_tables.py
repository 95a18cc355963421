"""The root digest is that of the rows, however they were written."""

from __future__ import annotations

import sqlite3

import pytest

from i2cansay.service.storage.database_file import TABLES
from i2cansay.service.storage.sealed_tables import TOGETHER, RootDigest, SealedTables, seals_of


@pytest.fixture
def connection() -> sqlite3.Connection:
    made = sqlite3.connect(":memory:", isolation_level=None)
    made.executescript(TABLES)
    return made


def root_of(connection: sqlite3.Connection) -> object:
    """Return the root digest of what is there."""
    found = SealedTables(connection, RootDigest())
    for table in ("blocks", "classes"):
        for _ in found.read(table):
            pass
    return found.root.to_json()


def test_rows_that_are_replaced_leave_the_root(connection: sqlite3.Connection) -> None:
    tables = SealedTables(connection, RootDigest())
    n = 2 * TOGETHER + 1  # more than one query asks for
    tables.put("blocks", [("mean", number, b"old") for number in range(n)])
    tables.put("blocks", [(name, number, b"new") for number in range(1, n + 5) for name in ("mean", "m2")])
    tables.put("classes", [("a", 1, 0.0, 0.0, 1), ("b", 1, 0.0, 0.0, 2)])
    tables.put("classes", [("b", 2, 0.0, 1.0, 2), ("c", 1, 1.0, 1.0, 3)])
    assert tables.root.to_json() == root_of(connection)
    tables.drop("classes", [("a",), ("z",)])
    tables.drop("blocks", [("m2", number) for number in range(1, n)])
    tables.put("receipts", [])
    assert tables.root.to_json() == root_of(connection)
    (data,) = connection.execute("SELECT data FROM blocks WHERE name = 'mean' AND number = 7").fetchone()
    assert data == b"new"


@pytest.mark.parametrize("table", ["blocks", "classes", "receipts", "log"])
def test_former_digests_are_looked_up_not_searched_for(connection: sqlite3.Connection, table: str) -> None:
    plan = connection.execute(
        f"EXPLAIN QUERY PLAN {seals_of(table, 2)}", (1,) * (4 if table == "blocks" else 2)
    )
    assert any(line[3].startswith(f"SEARCH {table} USING") for line in plan)
