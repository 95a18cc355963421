from dataclasses import replace
from pathlib import Path

import pytest

from i2cansay.datasets import get_dataset
from i2cansay.datasets.core50 import CORE50, CORE50_CLASSES


def write_tree(root: Path) -> None:
    """Two frames of every object in every session, in the official names."""
    for session in range(1, 12):
        for number in range(1, 51):
            folder = root / "core50_128x128" / f"s{session}" / f"o{number}"
            folder.mkdir(parents=True)
            for frame in range(2):
                (folder / f"C_{session:02d}_{number:02d}_{frame:03d}.png").touch()


def test_sessions_3_7_and_10_test_and_objects_are_classes(tmp_path: Path) -> None:
    write_tree(tmp_path)
    dataset = replace(CORE50, counts={"train": 800, "test": 300}).open(tmp_path)
    for split, sessions in (("train", {1, 2, 4, 5, 6, 8, 9, 11}), ("test", {3, 7, 10})):
        names = [Path(str(image)).name.split("_") for image in dataset.images(split)]
        assert {int(name[1]) for name in names} == sessions
        assert [int(name[2]) - 1 for name in names] == dataset.labels(split).tolist()
    with pytest.raises(ValueError, match="expected 119894 images, found 800"):
        get_dataset("core50", root=tmp_path).labels("train")


def test_five_objects_of_each_of_ten_kinds_have_names() -> None:
    assert len(CORE50_CLASSES) == 50
    assert CORE50_CLASSES[0] == "plug_adapter1"
    assert CORE50_CLASSES[23] == "can4"
    assert CORE50_CLASSES[49] == "remote_control5"
