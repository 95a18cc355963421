"""No half-written file is ever seen."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from i2cansay.disk.atomic import remove_leftovers, write_atomically, write_bytes_atomically


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text("old")

    def fail(temporary: Path) -> None:
        temporary.write_text("half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, fail)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_writers_at_the_same_time_leave_one_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file.txt"
    texts = [str(i) * 100_000 for i in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda text: write_atomically(path, lambda place: place.write_text(text)), texts))
    assert path.read_text() in texts
    assert list(path.parent.iterdir()) == [path]


def test_bytes_are_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    for content in (b"old", b"new and longer", b""):
        write_bytes_atomically(tmp_path / "file", content)
        assert (tmp_path / "file").read_bytes() == content
        assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_full_disk_keeps_the_old_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_bytes_atomically(tmp_path / "file", b"old")

    def fail(descriptor: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_bytes_atomically(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"old"


def test_leftovers_are_temporary_files_only(tmp_path: Path) -> None:
    for name in ("file", ".hidden", ".file.1-ab.tmp"):
        (tmp_path / name).touch()
    remove_leftovers(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".hidden", "file"]
