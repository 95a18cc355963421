"""Sample images: a folder per class, different images in each part, and nothing overwritten."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from i2cansay.datasets import Dataset, Rows, get_dataset
from i2cansay.datasets.sample_folder import LEAST_SIDE, Sample, write_sample

pillow = pytest.importorskip("PIL.Image")


def pixels(file: Path, side: int | None = None) -> np.ndarray:
    with pillow.open(file) as image:
        drawn = image if side is None else image.resize((side, side), pillow.Resampling.BOX)
        return np.asarray(drawn.convert("RGB"), dtype=float)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("sample")
    assert write_sample(get_dataset("digits"), made, Sample(3, 2, 1)) == {"train": 30, "test": 20, "new": 10}
    return made


def test_its_parts_are_data_sets_of_their_own(folder: Path) -> None:
    for part, n in {"train": 30, "test": 20}.items():
        found = get_dataset("image_folder", root=folder / part)
        assert found.class_names == tuple("0123456789")
        assert found.n("train") + found.n("test") == n


def test_every_image_is_there_once_and_large_enough_to_be_seen(folder: Path) -> None:
    files = list(folder.rglob("*.png"))
    assert len(files) == 60
    assert len({file.read_bytes() for file in files}) == 60
    assert all(min(pixels(file).shape[:2]) >= LEAST_SIDE for file in files)


def test_the_images_without_a_label_are_listed_with_theirs(folder: Path) -> None:
    with (folder / "new.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {folder / row["path"] for row in rows} == set((folder / "new").iterdir())
    labels = [row["label"] for row in rows]
    assert sorted(labels) == list("0123456789")
    assert labels != sorted(labels), "neighbours would tell the class"
    digits = get_dataset("digits")
    third = {label: np.flatnonzero(digits.labels("test") == label)[2] for label in range(10)}
    for row in rows:
        (expected,) = digits.images("test", [third[int(row["label"])]])
        assert np.abs(pixels(folder / row["path"], side=8) - expected).mean() < 25, (
            "the image is the one that the list names"
        )


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    digits = get_dataset("digits")
    for place in (tmp_path, tmp_path / "mine.txt"):
        with pytest.raises(FileExistsError, match="name another"):
            write_sample(digits, place)
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("sample", "message"), [((300, 1, 1), "train images of 0"), ((1, 40, 9), "test images")]
)
def test_too_many_are_refused_before_anything_is_written(
    sample: tuple[int, int, int], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message):
        write_sample(get_dataset("digits"), tmp_path / "new", Sample(*sample))
    assert not (tmp_path / "new").exists()
    with pytest.raises(ValueError, match="at least one image"):
        Sample(0)


def test_encoded_files_and_paths_are_written_too(tmp_path: Path, folder: Path) -> None:
    found = get_dataset("image_folder", root=folder / "train")
    assert isinstance(next(found.images("train")), Path)
    write_sample(found, tmp_path / "copy", Sample(1, 1, 0))
    first = sorted((folder / "train" / "7").iterdir())[0]
    np.testing.assert_array_equal(pixels(tmp_path / "copy" / "train" / "7" / "001.png"), pixels(first))
    encoded = Dataset("encoded", ("a",), {"train": _Encoded(first), "test": _Encoded(first)}, "in memory")
    assert write_sample(encoded, tmp_path / "bytes", Sample(1, 0, 0)) == {"train": 1, "test": 0, "new": 0}


class _Encoded:
    """A split of one image, an encoded file in memory."""

    labels = np.zeros(1, dtype=np.int64)

    def __init__(self, file: Path) -> None:
        self._content = file.read_bytes()

    def images(self, rows: Rows) -> Iterator[bytes]:
        return iter([self._content] * len(rows))

    def digest(self) -> str:
        return ""
