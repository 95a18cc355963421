"""One process at a time: a lock on a file that the system releases when its holder dies.

The package `filelock` does not promise that in all its versions: where `flock` is not implemented it falls back to
a lock by the existence of a file, which stays when its holder is killed, and some versions delete the file when the
lock is released, so that two processes can hold the same lock.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

if sys.platform == "win32":
    import msvcrt
    import time

    def _try(file: IO[bytes]) -> bool:
        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _wait(file: IO[bytes]) -> None:
        while not _try(file):
            time.sleep(0.1)

else:
    import fcntl

    def _try(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _wait(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)


@contextmanager
def exclusive(path: Path, *, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """Hold the lock at `path` for the length of a with-block.

    While another process holds it, `waiting` is called once and then the lock is waited for. The file stays
    when the lock is gone: deleting it would let two processes hold different files of the same name.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        if not _try(file):
            if waiting is not None:
                waiting()
            _wait(file)
        yield  # closing the file releases the lock
