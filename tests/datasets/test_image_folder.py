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


def class_names(root: Path) -> tuple[str, ...]:
    return get_dataset("image_folder", root=root).class_names


def test_a_class_may_be_called_train_or_test(tmp_path: Path) -> None:
    for name in ("bus", "Test", "train"):
        put(*(tmp_path / name / f"{number}.png" for number in range(6)))
    assert class_names(tmp_path) == ("Test", "bus", "train")
    dataset = get_dataset("image_folder", root=tmp_path)
    assert (dataset.n("train"), dataset.n("test")) == (15, 3)


def test_names_of_splits_count_in_any_case(tmp_path: Path) -> None:
    put(tmp_path / "Train" / "cat" / "1.png", tmp_path / "TEST" / "cat" / "1.png")
    put(tmp_path / "TEST" / "dog" / "1.png", tmp_path / "notes" / "read.me")
    dataset = get_dataset("image_folder", root=tmp_path)
    assert dataset.class_names == ("cat", "dog")
    assert (dataset.n("train"), dataset.n("test")) == (1, 2)


def test_a_train_folder_alone_is_split(tmp_path: Path) -> None:
    put(*(tmp_path / "train" / "cat" / f"{number}.png" for number in range(5)))
    dataset = get_dataset("image_folder", root=tmp_path)
    assert (dataset.class_names, dataset.n("train"), dataset.n("test")) == (("cat",), 4, 1)


def test_validation_is_left_out_where_there_is_a_test_folder_and_that_is_said(tmp_path: Path) -> None:
    put(tmp_path / "train" / "cat" / "1.png", tmp_path / "test" / "cat" / "1.png")
    put(*(tmp_path / "val" / "cat" / f"{number}.png" for number in range(3)))
    dataset = get_dataset("image_folder", root=tmp_path)
    assert dataset.n("test") == 1
    assert dataset.layout == "a folder per class in train and test, without val"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (["train/cat/1.png", "test/cat/1.png", "dog/1.png"], "read in two ways: .*move dog elsewhere"),
        (["train/1.png", "test/1.png"], "expected a folder per class in it"),
        (["train/cat/1.png", "test/1.png"], "test has the name of a split but holds images"),
        (["test/cat/1.png", "val/cat/1.png"], "no train folder"),
        (["train/cat/1.png", "training/cat/1.png"], "both train and training"),
    ],
    ids=["beside a class", "no class folders", "half", "no train", "twice"],
)
def test_what_can_be_read_in_two_ways_is_refused_with_what_to_do(
    tmp_path: Path, files: list[str], message: str
) -> None:
    put(*(tmp_path / file for file in files))
    with pytest.raises(ValueError, match=message):
        class_names(tmp_path)
