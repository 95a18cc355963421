"""Writes that survive a kill or a power cut: the old content or the new one, never a mixture."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

from i2cansay.disk.atomic import sync_folder


def sync(file: IO[bytes]) -> None:
    """Wait until what was written to the file is on the disk."""
    file.flush()
    os.fsync(file.fileno())


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file's content in one step; the caller holds the lock, so one temporary name is enough."""
    temporary = path.with_name(path.name + ".new")
    with temporary.open("wb") as file:
        file.write(content)
        sync(file)
    temporary.replace(path)
    sync_folder(path.parent)
