"""The definition of a data set, before its files are found: layouts, counts, classes, and where to get it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from i2cansay.datasets.dataset import Dataset, Split
from i2cansay.datasets.search_path import folders_of
from i2cansay.disk.places import DATA_VARIABLE


@dataclass(frozen=True)
class Found:
    """The splits that a layout found in a folder, and class names if the files contain them."""

    layout: str
    parts: Mapping[str, Split]
    class_names: tuple[str, ...] | None = None


#: Looks into a folder; returns None if its files are not there, raises ValueError if they are damaged.
Layout: TypeAlias = Callable[[Path], Found | None]


@dataclass(frozen=True)
class Download:
    """One official file: its address, its file name, and its size and MD5 if they are known."""

    url: str
    file: str
    size: int | None = None
    md5: str | None = None
    unpack: bool = False


@dataclass(frozen=True)
class Definition:
    """A data set by name: the layouts it may come in, and what a complete copy holds.

    Parameters
    ----------
    name, title : the name in the table, and a description in one line.
    layouts : tried in this order in every folder that is searched.
    source : the official page, named in the error if files are missing.
    files : which files are needed and where to put them, in words.
    class_names : names in the order of the labels; None if the files contain them.
    counts : images per split of a complete copy; None for any number.
    downloads : official files that `i2cansay data get` fetches.
    embedded : whether the data need no files.
    usual_places : folders where system packages put the files; searched last.
    needs_root : whether the folder must be named, and the search path is not used.
    """

    name: str
    title: str
    layouts: tuple[Layout, ...]
    source: str
    files: str
    class_names: tuple[str, ...] | None = None
    counts: Mapping[str, int] | None = None
    downloads: tuple[Download, ...] = ()
    embedded: bool = False
    usual_places: tuple[Path, ...] = ()
    needs_root: bool = False

    def open(self, root: Path | None = None) -> Dataset:
        """Find the files and return the data set; `root` overrides the search path."""
        if self.needs_root and root is None:
            raise ValueError(f"{self.name} is a folder of your own: name it with root=... or --data FOLDER")
        folders = self._folders(root)
        for folder in folders:
            for layout in self.layouts:
                found = layout(folder)
                if found is not None:
                    return self._dataset(found, folder)
        raise FileNotFoundError(self._missing(folders))

    def _folders(self, root: Path | None) -> tuple[Path, ...]:
        if self.embedded:
            return (Path(),)
        if self.needs_root and root is not None:
            return (root,)
        return folders_of(self.name, root) + (self.usual_places if root is None else ())

    def _dataset(self, found: Found, folder: Path) -> Dataset:
        names = found.class_names or self.class_names
        if names is None:
            raise ValueError(f"{self.name}: the files in {folder} do not name their classes")
        if self.class_names is not None and len(names) != len(self.class_names):
            raise ValueError(
                f"{self.name} has {len(self.class_names)} classes, the files in {folder} name {len(names)}: "
                f"is it another data set?"
            )
        for split in self.counts or {}:
            if split not in found.parts:
                raise FileNotFoundError(
                    f"{self.name}: no {split!r} split in {folder} ({found.layout}). "
                    f"{self.files} Official source: {self.source}"
                )
        location = None if self.embedded else folder
        return Dataset(self.name, names, found.parts, found.layout, location, self.counts)

    def _missing(self, folders: tuple[Path, ...]) -> str:
        looked = ", ".join(str(folder) for folder in folders)
        return (
            f"{self.name} was not found; looked in {looked}. {self.files} Official source: {self.source}. "
            f"Put the files into a folder {self.name!r} below a folder of {DATA_VARIABLE}, "
            f"or name their folder with --data."
        )
