"""Where data sets and caches are on this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path

DATA_VARIABLE = "I2CANSAY_DATA"
CACHE_VARIABLE = "I2CANSAY_CACHE"


def cache_folder() -> Path:
    """Folder for what can be made again: `I2CANSAY_CACHE`, else `i2cansay` in the user's cache folder."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base.absolute() / "i2cansay"


def data_folders() -> tuple[Path, ...]:
    """Folders searched for data, in order: those of `I2CANSAY_DATA` (a search path), then the cache's own.

    Examples
    --------
    >>> import os
    >>> os.environ["I2CANSAY_DATA"] = os.pathsep.join(["first", "second"])
    >>> [folder.name for folder in data_folders()]
    ['first', 'second', 'data']
    >>> del os.environ["I2CANSAY_DATA"]
    """
    listed = os.environ.get(DATA_VARIABLE, "").split(os.pathsep)
    chosen = [Path(folder).expanduser() for folder in listed if folder]
    return (*chosen, cache_folder() / "data")
