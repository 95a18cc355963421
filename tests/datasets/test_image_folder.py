from pathlib import Path

import pytest

from i2cansay.datasets import get_dataset


def put(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(str(path.name).encode())


def test_train_and_test_folders_are_the_splits(tmp_path: Path) -> None:
    put(tmp_path / "train" / "dog" / "1.png", tmp_path / "train" / "cat" / "1.jpg")
    put(tmp_path / "train" / "cat" / "deep" / "2.jpg", tmp_path / "val" / "owl" / "1.webp")
    put(tmp_path / "train" / "cat" / "notes.txt", tmp_path / "train" / ".hidden" / "1.png")
    dataset = get_dataset("image_folder", root=tmp_path)
    assert dataset.class_names == ("cat", "dog", "owl")
    assert dataset.labels("train").tolist() == [0, 0, 1]
    assert dataset.labels("test").tolist() == [2]


def test_without_test_folder_a_fifth_of_each_class_is_kept_for_testing(tmp_path: Path) -> None:
    put(*(tmp_path / "cat" / f"{number:02d}.png" for number in range(10)))
    put(*(tmp_path / "dog" / f"{number:02d}.png" for number in range(2)))
    dataset = get_dataset("image_folder", root=tmp_path)
    train, test = set(dataset.images("train")), set(dataset.images("test"))
    assert not train & test
    assert len(train | test) == 12
    assert dataset.labels("test").tolist() == [0, 0, 1]
    assert dataset.labels("train").tolist() == [0] * 8 + [1]


def test_fingerprint_notices_an_edit_that_keeps_name_and_size(tmp_path: Path) -> None:
    put(tmp_path / "cat" / "1.png", tmp_path / "dog" / "1.png")
    before = get_dataset("image_folder", root=tmp_path).fingerprint
    assert get_dataset("image_folder", root=tmp_path).fingerprint == before
    (tmp_path / "cat" / "1.png").write_bytes(b"2.png")
    assert get_dataset("image_folder", root=tmp_path).fingerprint != before


def test_fingerprint_is_the_same_in_another_place(tmp_path: Path) -> None:
    for place in ("here", "there"):
        put(tmp_path / place / "cat" / "1.png")
    prints = {get_dataset("image_folder", root=tmp_path / place).fingerprint for place in ("here", "there")}
    assert len(prints) == 1


def test_no_images_says_what_is_needed(tmp_path: Path) -> None:
    put(tmp_path / "cat" / "notes.txt")
    with pytest.raises(FileNotFoundError, match="folder/<class>/<image>"):
        get_dataset("image_folder", root=tmp_path)


def test_the_folder_must_be_named() -> None:
    with pytest.raises(ValueError, match="--data FOLDER"):
        get_dataset("image_folder")
