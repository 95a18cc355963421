"""A folder of the user's own images: one folder per class, with or without train and test above them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from i2cansay.datasets.definition import Definition, Found
from i2cansay.datasets.files import FileSplit, is_image

#: Names of folders that are splits, in any case; the first one found is the test split.
_SPLIT_FOLDERS = {"train": ("train", "training"), "test": ("test", "testing", "val", "valid", "validation")}
_SPLIT_NAMES = frozenset(name for names in _SPLIT_FOLDERS.values() for name in names)
#: Without a test folder, one image in this many of each class is a test image.
TEST_EVERY = 5


def _images_by_class(folder: Path) -> dict[str, list[Path]]:
    """Return the image files of every visible folder that has any, sorted by name."""
    below = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    by_class = {
        path.name: sorted(file for file in path.rglob("*") if is_image(file) and file.is_file())
        for path in below
    }
    return {name: files for name, files in by_class.items() if files}


def files_by_class(folder: Path, split: str) -> tuple[dict[str, list[Path]], str]:
    """Return all images of a folder with a subfolder per class, and a note on what was left out, "" for nothing.

    Where the folder holds train and test folders, these are the images of the wanted one.

    Examples
    --------
    >>> files_by_class(Path("no-such-folder"), "train")
    Traceback (most recent call last):
    FileNotFoundError: there is no folder no-such-folder
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {folder}")
    everything = _images_by_class(folder)
    splits = _split_folders(folder, everything)
    if not splits:
        return everything, ""
    if split not in splits:
        raise ValueError(
            f"{folder} has a {splits['train']} folder and no folder for testing; name the folder with the images "
            "itself"
        )
    others = sorted(everything.keys() - {splits[split]})
    note = f"{folder} has splits: {splits[split]} is used" + (f", {', '.join(others)} not" if others else "")
    return _images_by_class(folder / splits[split]), note


def _split(root: Path, by_class: dict[str, list[Path]], class_names: tuple[str, ...]) -> FileSplit:
    paths = [file.relative_to(root).as_posix() for files in by_class.values() for file in files]
    labels = [class_names.index(name) for name, files in by_class.items() for _ in files]
    return FileSplit(root, tuple(paths), np.array(labels, dtype=np.int64), read_contents=True)


def _find(folder: Path) -> Found | None:
    if not folder.is_dir():
        return None
    everything = _images_by_class(folder)
    if not everything:
        return None
    splits = _split_folders(folder, everything)
    if "test" in splits:
        left_out = sorted(everything.keys() - splits.values())
        layout = f"a folder per class in {splits['train']} and {splits['test']}"
        layout += f", without {', '.join(left_out)}" if left_out else ""
        images = {split: _images_by_class(folder / name) for split, name in splits.items()}
    else:
        layout = f"a folder per class, every {TEST_EVERY}th image for testing"
        if splits:
            everything = _images_by_class(folder / splits["train"])
        images = {
            "train": {
                name: [f for i, f in enumerate(files) if i % TEST_EVERY != 1]
                for name, files in everything.items()
            },
            "test": {name: files[1::TEST_EVERY] for name, files in everything.items()},
        }
    class_names = tuple(sorted({name for by_class in images.values() for name in by_class}))
    if not class_names:
        return None
    return Found(
        layout,
        {split: _split(folder, by_class, class_names) for split, by_class in images.items()},
        class_names,
    )


def _split_folders(root: Path, everything: dict[str, list[Path]]) -> dict[str, str]:
    """Return which folder is the train split and which the test split; nothing if the folders are classes.

    A class may be called "train". Folders are splits if all of them have names of splits and hold folders of images;
    what could be read both ways is refused.
    """
    named = [name for name in everything if name.lower() in _SPLIT_NAMES]
    if not named:
        return {}
    # A folder that holds images directly is a class.
    nested = [name for name in named if all(file.parent != root / name for file in everything[name])]
    others = [name for name in everything if name not in named]
    if others:
        if not nested:
            return {}
        raise ValueError(
            f"{root} can be read in two ways: {' and '.join(nested)} could be splits with a folder per class, or "
            f"classes like {others[0]}. If splits, move {', '.join(others)} elsewhere; if classes, put the "
            f"images of {' and '.join(nested)} directly into {'it' if len(nested) == 1 else 'them'}"
        )
    if nested != named:
        plain = next(name for name in named if name not in nested)
        raise ValueError(
            f"{root / plain} has the name of a split but holds images: expected a folder per class in it, "
            f"as {plain}/<class>/<image>; if {plain} is a class, put another class beside it"
        )
    return _roles(root, named)


def _rank(name: str) -> int:
    return next(names.index(name.lower()) for names in _SPLIT_FOLDERS.values() if name.lower() in names)


def _roles(root: Path, named: list[str]) -> dict[str, str]:
    splits: dict[str, str] = {}
    for split, synonyms in _SPLIT_FOLDERS.items():
        found = sorted((name for name in named if name.lower() in synonyms), key=_rank)
        rivals = found if split == "train" else [name for name in found if _rank(name) == _rank(found[0])]
        if len(rivals) > 1:
            raise ValueError(f"{root} holds both {' and '.join(rivals)}: keep one of them")
        if found:
            splits[split] = found[0]
    if "train" not in splits:
        raise ValueError(
            f"{root} holds {' and '.join(named)} but no train folder: put the images to learn from into "
            f"train/<class>/<image>, or name the folder {root / named[0]} itself to have it split"
        )
    return splits


IMAGE_FOLDER = Definition(
    name="image_folder",
    title="a folder of your own: one folder per class, with or without train/ and test/ above them",
    layouts=(_find,),
    source="your own images",
    files=(
        "Needed: folder/<class>/<image> or folder/train/<class>/<image> and folder/test/<class>/<image>, "
        "as png, jpg, webp, gif, bmp, tif, ppm, pgm or avif."
    ),
    needs_root=True,
)
