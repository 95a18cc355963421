"""Where the files of a data set may be on this machine."""

from __future__ import annotations

from pathlib import Path

from i2cansay.disk.places import data_folders


def folders_of(name: str, root: Path | None = None) -> tuple[Path, ...]:
    """Return the folders in which the files of data set `name` may be; `root` overrides the search path."""
    bases = data_folders() if root is None else (root,)
    return tuple(folder for base in bases for folder in (base / name, base))
