from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from i2cansay.datasets.arrays import ArraySplit
from i2cansay.datasets.definition import Definition, Found


def mark(folder: Path) -> Found | None:
    """A layout that recognises a folder by one file and names it in its title."""
    if not (folder / "mark").is_file():
        return None
    split = ArraySplit(lambda: (np.zeros((2, 2, 2, 3), np.uint8), np.array([0, 1])))
    return Found("marked", {"train": split, "test": split})


TOY = Definition(
    name="toy",
    title="two images",
    layouts=(mark,),
    source="https://example.org/toy",
    files="Needed: a file called mark.",
    class_names=("a", "b"),
    counts={"train": 2, "test": 2},
)


def put(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "mark").touch()
    return folder


def test_own_folder_below_the_search_path_is_found_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "data")
    own = put(tmp_path / "data" / "toy")
    monkeypatch.setenv("I2CANSAY_DATA", str(tmp_path / "data"))
    assert TOY.open().location == own


def test_the_folder_itself_will_do(tmp_path: Path) -> None:
    assert TOY.open(put(tmp_path / "anything")).location == tmp_path / "anything"


def test_missing_files_say_what_where_and_from_which_source(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        TOY.open(tmp_path)
    message = str(caught.value)
    for part in ("a file called mark", str(tmp_path / "toy"), "https://example.org/toy", "I2CANSAY_DATA"):
        assert part in message


def test_a_usual_place_is_searched_last_and_only_without_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("I2CANSAY_DATA", str(tmp_path / "data"))
    system = put(tmp_path / "system")
    toy = replace(TOY, usual_places=(system,))
    assert toy.open().location == system
    with pytest.raises(FileNotFoundError):
        toy.open(tmp_path / "elsewhere")
    own = put(tmp_path / "data" / "toy")
    assert toy.open().location == own


def test_a_missing_split_is_named(tmp_path: Path) -> None:
    put(tmp_path / "toy")
    with pytest.raises(FileNotFoundError, match="no 'validation' split"):
        replace(TOY, counts={"validation": 1}).open(tmp_path)


def test_another_number_of_classes_is_another_data_set(tmp_path: Path) -> None:
    def renamed(folder: Path) -> Found | None:
        found = mark(folder)
        return None if found is None else replace(found, class_names=("a", "b", "c"))

    put(tmp_path / "toy")
    with pytest.raises(ValueError, match=r"has 2 classes, the files in .* name 3"):
        replace(TOY, layouts=(renamed,)).open(tmp_path)


def test_own_folders_must_be_named() -> None:
    with pytest.raises(ValueError, match="--data"):
        replace(TOY, needs_root=True).open()
