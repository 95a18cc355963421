"""Paths that a user names, checked before anything heavy is imported: a wrong one is told at once."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def check_there(*paths: Path, noun: str = "file", hint: str = "") -> None:
    """Raise FileNotFoundError for the first of `paths` that is neither a file nor a folder.

    Examples
    --------
    >>> check_there(Path("nowhere.csv"), hint="; expected CSV")
    Traceback (most recent call last):
    FileNotFoundError: there is no file nowhere.csv; expected CSV
    """
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"there is no {noun} {path}{_nearest(path) or hint}")


def check_records(places: Iterable[Path]) -> None:
    """Raise FileNotFoundError if one of the files or folders of records is not there."""
    for place in places:
        if not place.exists():
            raise FileNotFoundError(f"there are no records at {place}; make some with `i2cansay reproduce`")


def check_folder(folder: Path | None) -> None:
    """Raise if a folder to read from is named but is not there, or is a file.

    Examples
    --------
    >>> check_folder(None)
    >>> check_folder(Path("nowhere"))
    Traceback (most recent call last):
    FileNotFoundError: there is no folder nowhere
    """
    if folder is None:
        return
    check_there(folder, noun="folder")
    if not folder.is_dir():
        raise NotADirectoryError(f"expected a folder, but {folder} is a file")


def check_folder_of(*files: Path | None) -> None:
    """Raise if a file is to be written to a folder that is not there, before the work that would be lost.

    Examples
    --------
    >>> check_folder_of(None, Path("here.png"), Path("nowhere/there.png"))
    Traceback (most recent call last):
    FileNotFoundError: there is no folder nowhere to write there.png to
    """
    for file in files:
        if file is None:
            continue
        if not file.absolute().parent.is_dir():
            raise FileNotFoundError(f"there is no folder {file.parent} to write {file.name} to")
        if file.is_dir():
            raise IsADirectoryError(f"expected a file to write to, but {file} is a folder")


def _nearest(path: Path) -> str:
    """Return a suggestion: what lies beside the path under a name that is almost the same."""
    from difflib import get_close_matches

    folder = path.absolute().parent
    names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    close = get_close_matches(path.name, names, n=1, cutoff=0.75)
    return f"; did you mean {path.parent / close[0]}?" if close else ""
