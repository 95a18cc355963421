import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from i2cansay.datasets import get_dataset
from i2cansay.datasets.cifar import CIFAR10

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def write(file: Path, labels: list[Any], *, image: str = "image", names: list[str] | None = None) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    images = [{"bytes": f"{file.name}:{row}".encode(), "path": "x"} for row in range(len(labels))]
    table = arrow.table({image: images, "label": labels})
    if names is not None:
        features = {"info": {"features": {"label": {"names": names, "_type": "ClassLabel"}}}}
        table = table.replace_schema_metadata({"huggingface": json.dumps(features)})
    parquet.write_table(table, file, row_group_size=3)


def test_shards_are_joined_in_name_order_and_rows_may_be_asked_for_in_any_order(tmp_path: Path) -> None:
    write(tmp_path / "data" / "train-00001-of-00002.parquet", [1, 1, 0])
    write(tmp_path / "data" / "train-00000-of-00002.parquet", [0, 1, 0, 1, 0])
    write(tmp_path / "data" / "test-00000-of-00001.parquet", [1])
    dataset = get_dataset("huggingface", root=tmp_path)
    assert dataset.splits == ("train", "test")
    assert dataset.labels("train").tolist() == [0, 1, 0, 1, 0, 1, 1, 0]
    everything = list(dataset.images("train"))
    assert everything[4:6] == [b"train-00000-of-00002.parquet:4", b"train-00001-of-00002.parquet:0"]
    order = np.random.default_rng(0).permutation(8)
    assert list(dataset.images("train", order)) == [everything[row] for row in order]


def test_names_come_from_the_schema(tmp_path: Path) -> None:
    write(tmp_path / "train.parquet", [0, 1], names=["cat", "dog", "owl"])
    assert get_dataset("huggingface", root=tmp_path).class_names == ("cat", "dog", "owl")


def test_without_names_numbers_serve(tmp_path: Path) -> None:
    write(tmp_path / "train.parquet", [0, 3])
    assert get_dataset("huggingface", root=tmp_path).class_names == ("0", "1", "2", "3")


def test_labels_may_be_strings(tmp_path: Path) -> None:
    write(tmp_path / "train.parquet", ["dog", "cat", "dog"])
    write(tmp_path / "test.parquet", ["owl"])
    dataset = get_dataset("huggingface", root=tmp_path)
    assert dataset.class_names == ("cat", "dog", "owl")
    assert dataset.labels("train").tolist() == [1, 0, 1]
    assert dataset.labels("test").tolist() == [2]


def test_validation_serves_as_test_only_where_there_is_no_test(tmp_path: Path) -> None:
    write(tmp_path / "train.parquet", [0])
    write(tmp_path / "validation.parquet", [0, 0])
    assert get_dataset("huggingface", root=tmp_path).n("test") == 2
    write(tmp_path / "test.parquet", [0, 0, 0])
    assert get_dataset("huggingface", root=tmp_path).n("test") == 3


def test_fingerprint_follows_the_content(tmp_path: Path) -> None:
    write(tmp_path / "a" / "train.parquet", [0, 1])
    write(tmp_path / "b" / "train.parquet", [0, 1])
    write(tmp_path / "c" / "train.parquet", [0, 1], image="img")
    prints = [get_dataset("huggingface", root=tmp_path / name).fingerprint for name in "abc"]
    assert prints[0] == prints[1] != prints[2]


def test_rows_without_an_image_are_named(tmp_path: Path) -> None:
    table = arrow.table({"image": [{"bytes": None, "path": "x.png"}], "label": [0]})
    parquet.write_table(table, tmp_path / "train.parquet")
    with pytest.raises(ValueError, match=r"row 0 of .* expected image bytes"):
        list(get_dataset("huggingface", root=tmp_path).images("train"))


def test_rows_without_a_label_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "train.parquet", [0, None])
    with pytest.raises(ValueError, match="without a label"):
        get_dataset("huggingface", root=tmp_path).labels("train")


def test_files_without_the_columns_name_what_is_needed(tmp_path: Path) -> None:
    parquet.write_table(arrow.table({"text": ["a"]}), tmp_path / "train.parquet")
    with pytest.raises(FileNotFoundError, match="column label"):
        get_dataset("huggingface", root=tmp_path)


def test_a_known_data_set_keeps_its_names_where_the_files_have_none(tmp_path: Path) -> None:
    write(tmp_path / "numbers" / "train.parquet", [0, 9, 3])
    write(tmp_path / "strings" / "train.parquet", ["truck", "airplane", "truck"])
    for place, labels in (("numbers", [0, 9, 3]), ("strings", [9, 0, 9])):
        dataset = replace(CIFAR10, counts=None).open(tmp_path / place)
        assert dataset.class_names == CIFAR10.class_names
        assert dataset.labels("train").tolist() == labels


@pytest.mark.parametrize("config", ["", "default"])
def test_files_may_lie_in_a_folder_per_split(tmp_path: Path, config: str) -> None:
    write(tmp_path / config / "train" / "0001.parquet", [1])
    write(tmp_path / config / "train" / "0000.parquet", [0, 1, 0])
    write(tmp_path / config / "validation" / "0000.parquet", [1, 1])
    dataset = get_dataset("huggingface", root=tmp_path)
    assert dataset.labels("train").tolist() == [0, 1, 0, 1]
    assert dataset.n("test") == 2
