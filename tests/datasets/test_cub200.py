from dataclasses import replace
from pathlib import Path

import pytest

from i2cansay.datasets import get_dataset
from i2cansay.datasets.cub200 import CUB200

SMALL = replace(CUB200, counts={"train": 3, "test": 2})


def write_layout(root: Path) -> Path:
    tree = root / "CUB_200_2011"
    paths = ["001.Black_footed_Albatross/A_1.jpg", "001.Black_footed_Albatross/A_2.jpg"]
    paths += [f"002.Laysan_Albatross/B_{number}.jpg" for number in range(3)]
    for path in paths:
        (tree / "images" / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / "images" / path).write_bytes(path.encode())
    lists = {
        "images.txt": paths,
        "image_class_labels.txt": ["1", "1", "2", "2", "2"],
        "train_test_split.txt": ["0", "1", "1", "0", "1"],
        "classes.txt": ["001.Black_footed_Albatross", "002.Laysan_Albatross"],
    }
    for name, values in lists.items():
        (tree / name).write_text("".join(f"{number} {value}\n" for number, value in enumerate(values, 1)))
    return tree


def test_the_split_file_decides(tmp_path: Path) -> None:
    write_layout(tmp_path)
    dataset = SMALL.open(tmp_path)
    assert dataset.class_names == ("Black footed Albatross", "Laysan Albatross")
    assert dataset.labels("train").tolist() == [0, 1, 1]
    assert dataset.labels("test").tolist() == [0, 1]
    assert [Path(str(image)).name for image in dataset.images("train")] == ["A_2.jpg", "B_0.jpg", "B_2.jpg"]
    assert all(Path(str(image)).is_file() for image in dataset.images("test"))


def test_a_short_copy_is_refused(tmp_path: Path) -> None:
    write_layout(tmp_path)
    with pytest.raises(ValueError, match="expected 5994 images, found 3"):
        get_dataset("cub200", root=tmp_path).labels("train")


def test_lists_that_disagree_are_refused(tmp_path: Path) -> None:
    tree = write_layout(tmp_path)
    (tree / "train_test_split.txt").write_text("1 0\n2 1\n")
    with pytest.raises(ValueError, match="5 images, 5 labels, 2 split marks"):
        SMALL.open(tmp_path)


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    tree = write_layout(tmp_path)
    (tree / "image_class_labels.txt").write_text("1 1\nbroken\n")
    with pytest.raises(ValueError, match=r"image_class_labels\.txt, line 2"):
        SMALL.open(tmp_path)


def test_a_missing_image_shows_in_the_fingerprint(tmp_path: Path) -> None:
    tree = write_layout(tmp_path)
    (tree / "images" / "002.Laysan_Albatross" / "B_1.jpg").unlink()
    with pytest.raises(FileNotFoundError, match=r"B_1\.jpg is missing"):
        _ = SMALL.open(tmp_path).fingerprint


@pytest.mark.parametrize("label", ["9", "0", "x"])
def test_an_unknown_class_is_named_with_its_image(tmp_path: Path, label: str) -> None:
    tree = write_layout(tmp_path)
    (tree / "image_class_labels.txt").write_text(f"1 1\n2 1\n3 2\n4 {label}\n5 2\n")
    with pytest.raises(
        ValueError, match=rf"image 4 in .*one of the 2 classes of classes\.txt, got '{label}'"
    ):
        SMALL.open(tmp_path)
