"""Files that are replaced whole or not at all."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file and move it to `path`, so that no reader ever meets half a file.

    Two processes that write the same path both succeed; the later one's file stays.
    """
    path = path.resolve()  # behind a link it is the file that is replaced, not the link
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        temporary.touch()
        permissions = temporary.stat().st_mode
        write(temporary)
        temporary.chmod(permissions)  # whatever the writer made of them
        with temporary.open("rb+") as written:
            sync_file(written)
        temporary.replace(path)
        sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def write_bytes_atomically(path: Path, content: bytes) -> None:
    """Replace the content of the file at `path` whole or not at all."""
    write_atomically(path, lambda temporary: temporary.write_bytes(content))


def remove_leftovers(folder: Path) -> None:
    """Delete temporary files of writers that were killed; for a folder that nobody else writes to now."""
    for leftover in folder.glob(".*.tmp"):
        leftover.unlink(missing_ok=True)


def sync_file(file: IO[bytes]) -> None:
    """Wait until what was written to an open file is on the disk."""
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
