"""New files in a folder, each as soon as it is whole."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from i2cansay.datasets.files import is_image

SETTLE_SECONDS = 1.0


class Version(NamedTuple):
    """What changes whenever a file is written: its size and the time of the last change."""

    size: int
    time_ns: int


class _Seen(NamedTuple):
    name: str
    version: Version
    inode: tuple[int, int]


class Arrivals:
    """Watches a folder by looking again and again, and names image files that are whole.

    A file counts as whole when its size and time have not changed for a second, or when it was renamed into place:
    it was seen with the same size and time under another name, which is gone. Hidden files are those of writers that
    are not done (`.name.tmp`), and never count.

    Parameters
    ----------
    folder : Path
    recursive : bool
        Whether to look into the folders in it.
    leave_out : Path, optional
        A folder in it that is not looked into.
    clock : function
        Seconds that never go back.
    """

    def __init__(
        self,
        folder: Path,
        *,
        recursive: bool = False,
        leave_out: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder, self._recursive, self._clock = folder, recursive, clock
        self._leave_out = None if leave_out is None else leave_out.resolve()
        self._before: dict[tuple[int, int], _Seen] = {}
        self._since: dict[str, tuple[Version, float]] = {}
        self.waiting: bool = False
        """Whether there were files that were not whole when last looked."""

    def look(self, answered: Mapping[str, Version]) -> list[tuple[str, Version]]:
        """Return the files, by path below the folder, that are whole and not answered in this version, sorted."""
        now, seen = self._clock(), list(self._files(self._folder, ""))
        here = {file.name for file in seen}
        since, whole, self.waiting = dict[str, tuple[Version, float]](), list[tuple[str, Version]](), False
        for file in seen:
            if not is_image(Path(file.name)) or answered.get(file.name) == file.version:
                continue
            version, first = self._since.get(file.name, (None, now))
            since[file.name] = file.version, first if version == file.version else now
            if now - since[file.name][1] >= SETTLE_SECONDS or self._renamed(file, here):
                whole.append((file.name, file.version))
            else:
                self.waiting = True
        self._since, self._before = since, {file.inode: file for file in seen}
        return sorted(whole)

    def unchanged(self, name: str, version: Version) -> bool:
        """Whether a file is still there in this version: what was read of it is then one whole file."""
        try:
            found = (self._folder / name).stat()
        except OSError:
            return False
        return Version(found.st_size, found.st_mtime_ns) == version

    def names(self) -> set[str]:
        """The files that were there when last looked."""
        return {file.name for file in self._before.values()}

    def _renamed(self, file: _Seen, here: set[str]) -> bool:
        # The version as well: a number of an inode is given to another file once the first is deleted.
        before = self._before.get(file.inode)
        return (
            before is not None
            and before.name != file.name
            and before.name not in here
            and before.version == file.version
        )

    def _files(self, folder: Path, prefix: str) -> Iterator[_Seen]:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    if entry.is_dir():
                        if self._looks_into(entry):
                            yield from self._files(Path(entry.path), f"{prefix}{entry.name}/")
                    elif entry.is_file():
                        found = entry.stat()
                        version = Version(found.st_size, found.st_mtime_ns)
                        yield _Seen(prefix + entry.name, version, (found.st_dev, found.st_ino))
                except OSError:  # gone since the folder was read, or not ours to read
                    continue

    def _looks_into(self, entry: os.DirEntry[str]) -> bool:
        if not self._recursive or entry.name.startswith(".") or entry.is_symlink():
            return False
        return self._leave_out is None or Path(entry.path).resolve() != self._leave_out
