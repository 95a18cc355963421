import gzip
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from i2cansay.datasets.fashion_mnist import FASHION_MNIST, read_idx

SMALL = replace(FASHION_MNIST, counts={"train": 6, "test": 4}, usual_places=())


def idx(array: NDArray[np.uint8]) -> bytes:
    return bytes([0, 0, 8, array.ndim]) + np.array(array.shape, dtype=">i4").tobytes() + array.tobytes()


def write(folder: Path, rng: np.random.Generator, *, packed: bool) -> dict[str, NDArray[Any]]:
    written: dict[str, NDArray[Any]] = {}
    for prefix, n in (("train", 6), ("t10k", 4)):
        arrays = {
            f"{prefix}-images-idx3-ubyte": rng.integers(0, 256, (n, 28, 28), dtype=np.uint8),
            f"{prefix}-labels-idx1-ubyte": rng.integers(0, 10, n, dtype=np.uint8),
        }
        for name, array in arrays.items():
            content = gzip.compress(idx(array)) if packed else idx(array)
            (folder / (f"{name}.gz" if packed else name)).write_bytes(content)
        written.update(arrays)
    return written


@pytest.mark.parametrize("packed", [True, False])
def test_images_and_labels_come_back(tmp_path: Path, rng: np.random.Generator, packed: bool) -> None:
    written = write(tmp_path, rng, packed=packed)
    dataset = SMALL.open(tmp_path)
    images = np.array(list(dataset.images("test")))
    assert images.shape == (4, 28, 28, 3)
    assert np.array_equal(images[:, :, :, 1], written["t10k-images-idx3-ubyte"])
    assert np.array_equal(dataset.labels("train"), written["train-labels-idx1-ubyte"])
    assert dataset.class_names[9] == "Ankle boot"


def test_half_a_copy_says_which_half_is_missing(tmp_path: Path, rng: np.random.Generator) -> None:
    write(tmp_path, rng, packed=True)
    (tmp_path / "t10k-labels-idx1-ubyte.gz").unlink()
    with pytest.raises(FileNotFoundError, match="no 'test' split"):
        SMALL.open(tmp_path)


@pytest.mark.parametrize("content", [b"", b"\0\0\x0d\x01....", idx(np.zeros(5, np.uint8))[:-1]])
def test_what_is_not_idx_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(ValueError, match="file"):
        read_idx(tmp_path / "file")


def test_a_cut_gzip_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file.gz").write_bytes(gzip.compress(idx(np.zeros(5, np.uint8)))[:-4])
    with pytest.raises(ValueError, match="damaged"):
        read_idx(tmp_path / "file.gz")
