"""Writes that survive a kill or a power cut: the old content or the new one, never a mixture."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO


def sync(file: IO[bytes]) -> None:
    """Wait until what was written to the file is on the disk."""
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk; Windows has no such call and needs none."""
    if sys.platform != "win32":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file's content in one step; the caller holds the lock, so one temporary name is enough."""
    temporary = path.with_name(path.name + ".new")
    with temporary.open("wb") as file:
        file.write(content)
        sync(file)
    temporary.replace(path)
    sync_folder(path.parent)
