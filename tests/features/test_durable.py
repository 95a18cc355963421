import os
from pathlib import Path

import pytest

from i2cansay.features.durable import write_atomically


def test_content_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    for content in (b"old", b"new and longer", b""):
        write_atomically(tmp_path / "file", content)
        assert (tmp_path / "file").read_bytes() == content
        assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_failure_before_the_end_keeps_the_old_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_atomically(tmp_path / "file", b"old")

    def fail(descriptor: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"old"
