from pathlib import Path

import numpy as np
import pytest

from i2cansay.datasets.files import FileSplit, is_image


def test_contents_count_only_where_they_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"one")
    official = FileSplit(tmp_path, ("a.png",), np.array([0]))
    own = FileSplit(tmp_path, ("a.png",), np.array([0]), read_contents=True)
    before = official.digest(), own.digest()
    (tmp_path / "a.png").write_bytes(b"two")
    assert official.digest() == before[0]
    assert own.digest() != before[1]
    (tmp_path / "a.png").write_bytes(b"three")
    assert official.digest() != before[0]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"a\.png is missing"):
        FileSplit(tmp_path, ("a.png",), np.array([0])).digest()


def test_images_are_paths_below_the_root(tmp_path: Path) -> None:
    split = FileSplit(tmp_path, ("x/a.png", "b.png"), np.array([0, 1]))
    assert list(split.images([1, 0])) == [tmp_path / "b.png", tmp_path / "x" / "a.png"]


@pytest.mark.parametrize(
    ("name", "taken"),
    [("a.PNG", True), ("a.jpeg", True), ("a.avif", True), ("._a.png", False), ("notes.txt", False)],
)
def test_endings_decide_what_is_an_image(name: str, taken: bool) -> None:
    assert is_image(Path(name)) is taken
