"""CORe50: 50 objects filmed in 11 sessions; the official 128x128 tree."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from i2cansay.datasets.definition import Definition, Download, Found
from i2cansay.datasets.files import FileSplit, is_image

SESSIONS = tuple(range(1, 12))
TEST_SESSIONS = (3, 7, 10)
OBJECTS = tuple(range(1, 51))
_CATEGORIES = (
    *("plug_adapter", "mobile_phone", "scissor", "light_bulb", "can"),
    *("glass", "ball", "marker", "cup", "remote_control"),
)
CORE50_CLASSES = tuple(f"{category}{number}" for category in _CATEGORIES for number in range(1, 6))


def _split(tree: Path, sessions: tuple[int, ...]) -> FileSplit:
    """Return the images of these sessions, ordered by session, object and frame."""
    paths: list[str] = []
    labels: list[int] = []
    for session in sessions:
        for number in OBJECTS:
            folder = tree / f"s{session}" / f"o{number}"
            names = (
                sorted(path.name for path in folder.iterdir() if is_image(path)) if folder.is_dir() else []
            )
            paths.extend(f"s{session}/o{number}/{name}" for name in names)
            labels.extend([number - 1] * len(names))
    return FileSplit(tree, tuple(paths), np.array(labels, dtype=np.int64))


def _tree(folder: Path) -> Found | None:
    for tree in (folder, folder / "core50_128x128"):
        if (tree / "s1" / "o1").is_dir():
            train = tuple(session for session in SESSIONS if session not in TEST_SESSIONS)
            return Found("official tree", {"train": _split(tree, train), "test": _split(tree, TEST_SESSIONS)})
    return None


CORE50 = Definition(
    name="core50",
    title="164,866 frames of 50 objects filmed in 11 sessions, 128x128; sessions 3, 7 and 10 test",
    layouts=(_tree,),
    source="https://vlomonaco.github.io/core50/",
    files="Needed: core50_128x128.zip, unpacked (folders s1 to s11, in each o1 to o50).",
    class_names=CORE50_CLASSES,
    counts={"train": 119_894, "test": 44_972},
    downloads=(
        Download(
            url="http://bias.csr.unibo.it/maltoni/download/core50/core50_128x128.zip",
            file="core50_128x128.zip",
            md5="745f3373fed08d69343f1058ee559e13",
            unpack=True,
        ),
    ),
)
