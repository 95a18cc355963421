"""What a command is given to learn or to answer: images, files of features, feature stores. Found by path alone."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from i2cansay.cli.folders import check_there
from i2cansay.cli.image_list import is_image_list, read_image_list
from i2cansay.cli.text_table import several
from i2cansay.datasets.files import is_image
from i2cansay.datasets.image_folder import files_by_class

Split = Literal["train", "test"]
STORE_FILE = "features.npy"
EXPECTED = (
    "expected a folder with a subfolder per class, images, a CSV or JSONL file of image paths and labels, a feature "
    "store, or features as CSV or NPZ"
)
EXPECTED_UNLABELLED = (
    "expected images, folders of images, a list of them (CSV, JSONL), or features as CSV or NPZ"
)


@dataclass
class Material:
    """Images with their labels (None where they have none), files of features, and feature stores."""

    images: list[tuple[Path, str | None]] = field(default_factory=list)
    tables: list[Path] = field(default_factory=list)
    stores: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    shuffled: bool = False  # images came by folder, class after class: an order that nobody chose

    @property
    def kind(self) -> Literal["images", "features", "store"]:
        """What it consists of."""
        return "images" if self.images else "features" if self.tables else "store"

    @property
    def paths(self) -> list[Path]:
        """The paths of the images."""
        return [path for path, _ in self.images]

    @property
    def labels(self) -> list[str]:
        """The labels of the images, which must all be there."""
        if bare := [path for path, label in self.images if label is None]:
            raise ValueError(
                f"{bare[0]} is an image without a label; add --label NAME, or put it into a folder with a subfolder "
                "per class and give that folder"
            )
        return [label for _, label in self.images if label is not None]


def find_labelled(
    what: Iterable[Path],
    *,
    label: str | None = None,
    label_column: str = "label",
    split: Split = "train",
    skip_bad: bool = False,
) -> Material:
    """Return labelled material; raise ValueError where a path is missing, comes twice or has no label.

    Kinds may not be mixed. With `skip_bad`, images that a list names may be missing.
    """
    found = Material()
    for path in _each_once(expanded(what)):
        if (path / STORE_FILE).is_file():
            found.stores.append(path)
        elif path.is_dir() and label is None:
            _add_folder(found, path, split)
        elif path.is_dir():
            found.images += [(file, label) for file in images_below(path)]
        elif is_image(path):
            found.images.append((path, label))
        elif is_image_list(path):
            if label is not None:
                raise ValueError(f"{path} has labels of its own; leave out --label {label}")
            listed = read_image_list(path, label_column)
            if not skip_bad:
                _check_listed(path, listed)
            found.images += listed
        elif path.suffix.lower() in (".csv", ".npz"):
            found.tables.append(path)
        else:
            raise ValueError(f"{path} is nothing to learn from: {EXPECTED}")
    _check_one_kind(found)
    if found.images:
        _ = found.labels
    elif label is not None:
        raise ValueError(
            f"--label {label} is the label of images, and {(found.tables or found.stores)[0]} has labels of its "
            "own; the column of a CSV file that holds the label is named with --label-column"
        )
    return found


def find_images(what: Iterable[Path]) -> Material:
    """Return images without labels, or files of features; raise ValueError where a path is missing or kinds mix."""
    found = Material()
    for path in expanded(what, EXPECTED_UNLABELLED):
        if (path / STORE_FILE).is_file():
            found.stores.append(path)
        elif path.is_dir():
            found.images += [(file, None) for file in images_below(path)]
        elif not is_image_list(path) and path.suffix.lower() in (".csv", ".npz"):
            found.tables.append(path)
        else:  # a file of any ending may be an image
            found.images += read_image_list(path, None) if is_image_list(path) else [(path, None)]
    _check_one_kind(found)
    return found


def expanded(what: Iterable[Path], expected: str = EXPECTED) -> list[Path]:
    """Return paths that exist; patterns such as `*.jpg`, which some shells leave alone, are expanded."""
    found: list[Path] = []
    for path in what:
        if path.exists():
            found.append(path)
            continue
        matches = sorted(glob.glob(str(path), recursive=True)) if glob.has_magic(str(path)) else []
        if not matches:
            check_there(path, noun="file or folder", hint=f"; {expected}")
        found += map(Path, matches)
    return found


def _each_once(paths: Sequence[Path]) -> Sequence[Path]:
    """Return paths; raise ValueError where two lead to the same place."""
    seen: dict[Path, Path] = {}
    for path in paths:
        first = seen.setdefault(path.resolve(), path)
        if first is not path:
            again = f"{path} is given twice" if first == path else f"{first} and {path} are the same"
            raise ValueError(f"{again}; its samples would count double, so leave one out")
    return paths


def images_below(folder: Path) -> list[Path]:
    """Return the image files of a folder and the folders in it, sorted; raise ValueError where there are none."""
    files = sorted(file for file in folder.rglob("*") if is_image(file) and file.is_file())
    if not files:
        raise ValueError(f"there is no image in {folder}")
    return files


def _add_folder(found: Material, folder: Path, split: Split) -> None:
    by_class, layout = files_by_class(folder, split)
    loose = [file for file in sorted(folder.iterdir()) if is_image(file) and file.is_file()]
    if not by_class and loose:
        raise ValueError(
            f"{folder} has images, but no subfolder per class; put them into {folder}/<class>/, or name their class "
            "with --label NAME"
        )
    if not by_class:
        raise ValueError(f"there is no image in {folder}; {EXPECTED}")
    if layout:
        found.notes.append(layout)
    if loose:
        found.notes.append(
            f"left out, as they are in no subfolder of a class: {several(len(loose), 'image')} in {folder} itself"
        )
    found.images += [(file, name) for name, files in by_class.items() for file in files]
    found.shuffled = True


def _check_listed(path: Path, listed: Sequence[tuple[Path, str | None]]) -> None:
    """Raise where a list names images that are not there: told at once, not after all others are encoded."""
    if missing := [str(image) for image, _ in listed if not image.exists()]:
        raise FileNotFoundError(
            f"{path} names {several(len(missing), 'image')} that cannot be found, such as {missing[0]}; paths are "
            f"relative to {path.parent.absolute()}"
        )


def _check_one_kind(found: Material) -> None:
    kinds: Sequence[tuple[str, Sequence[object]]] = (
        ("images", found.images),
        ("features", found.tables),
        ("feature stores", found.stores),
    )
    given = [name for name, material in kinds if material]
    if len(given) > 1:
        raise ValueError(
            f"expected one kind of material at a time, got {' and '.join(given)}; give them one by one"
        )
    if not given:
        raise ValueError(f"there is nothing to learn from: {EXPECTED}")
