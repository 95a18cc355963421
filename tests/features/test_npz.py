from pathlib import Path
from typing import Any

import numpy as np
import pytest

from i2cansay.features import load_npz

X = np.arange(6, dtype=np.float16).reshape(3, 2)


@pytest.mark.parametrize("key", ["F", "X"])
@pytest.mark.parametrize("y", [np.array([1, 2, 1]), np.array(["a", "bb", "a"])])
def test_both_spellings_and_label_types_are_read(tmp_path: Path, key: str, y: np.ndarray[Any, Any]) -> None:
    arrays: dict[str, Any] = {key: X, "y": y}
    np.savez(tmp_path / "file.npz", **arrays)
    features, labels = load_npz(tmp_path / "file.npz")
    assert features.dtype == np.float32
    assert np.array_equal(features, X)
    assert labels is not None
    assert np.array_equal(labels, y)


def test_features_without_labels_are_read(tmp_path: Path) -> None:
    np.savez(tmp_path / "file.npz", X=X)
    features, labels = load_npz(tmp_path / "file.npz")
    assert np.array_equal(features, X)
    assert labels is None


def test_double_precision_is_kept(tmp_path: Path) -> None:
    np.savez(tmp_path / "file.npz", X=X.astype(np.float64), y=[0, 1, 2])
    assert load_npz(tmp_path / "file.npz")[0].dtype == np.float64


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"A": X, "y": [0, 1, 2]}, "expected the keys F, y or X, y; got A, y"),
        ({"y": [0, 1, 2]}, "expected the keys F, y or X, y; got y"),
        ({"X": X[0], "y": [0, 1]}, "expected X as a table of numbers"),
        ({"X": X.astype(str), "y": [0, 1, 2]}, "expected X as a table of numbers"),
        ({"X": X, "y": [0, 1]}, "expected y as 3 integers or strings"),
        ({"F": X, "y": [0.5, 1.5, 2.5]}, "one per row of F"),
        ({"X": X, "y": np.array(["a", 1, None], dtype=object)}, "cannot be used"),
    ],
)
def test_what_does_not_fit_says_what_was_expected(
    tmp_path: Path, content: dict[str, Any], message: str
) -> None:
    np.savez(tmp_path / "file.npz", **content)
    with pytest.raises(ValueError, match=message):
        load_npz(tmp_path / "file.npz")


@pytest.mark.parametrize("content", [b"", b"text", b"PK\x03\x04broken"])
def test_what_is_not_an_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file.npz").write_bytes(content)
    with pytest.raises(ValueError, match="cannot be used"):
        load_npz(tmp_path / "file.npz")


def test_a_single_array_file_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "file.npy", X)
    with pytest.raises(ValueError, match="cannot be used"):
        load_npz(tmp_path / "file.npy")


def test_no_file_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no file"):
        load_npz(tmp_path / "file.npz")
