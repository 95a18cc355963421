"""A folder of one's own images: one folder per class, with or without train and test above them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from i2cansay.datasets.definition import Definition, Found
from i2cansay.datasets.files import FileSplit, is_image

_SPLIT_FOLDERS = {"train": ("train", "training"), "test": ("test", "testing", "val", "valid", "validation")}
#: Without a test folder, one image in so many of each class is for testing.
TEST_EVERY = 5


def _class_folders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))


def _images_by_class(folder: Path) -> dict[str, list[Path]]:
    """Image files, in name order, of every class folder that has any."""
    by_class = {
        path.name: sorted(file for file in path.rglob("*") if is_image(file) and file.is_file())
        for path in _class_folders(folder)
    }
    return {name: files for name, files in by_class.items() if files}


def _split(root: Path, by_class: dict[str, list[Path]], class_names: tuple[str, ...]) -> FileSplit:
    paths = [file.relative_to(root).as_posix() for files in by_class.values() for file in files]
    labels = [class_names.index(name) for name, files in by_class.items() for _ in files]
    return FileSplit(root, tuple(paths), np.array(labels, dtype=np.int64), read_contents=True)


def _find(folder: Path) -> Found | None:
    if not folder.is_dir():
        return None
    given = {
        split: next((folder / name for name in names if (folder / name).is_dir()), None)
        for split, names in _SPLIT_FOLDERS.items()
    }
    if given["train"] is not None and given["test"] is not None:
        layout = "a folder per class in train and test"
        images = {split: _images_by_class(path) for split, path in given.items() if path is not None}
    else:
        layout = f"a folder per class, every {TEST_EVERY}th image for testing"
        everything = _images_by_class(folder if given["train"] is None else given["train"])
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


IMAGE_FOLDER = Definition(
    name="image_folder",
    title="a folder of your own: one folder per class, with or without train/ and test/ above them",
    layouts=(_find,),
    source="your own pictures",
    files=(
        "Needed: folder/<class>/<image> or folder/train/<class>/<image> and folder/test/<class>/<image>, "
        "as png, jpg, webp, gif, bmp, tif, ppm or pgm."
    ),
    needs_root=True,
)
