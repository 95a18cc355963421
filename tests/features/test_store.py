import json
from pathlib import Path

import numpy as np
import pytest

from i2cansay.features import FeatureStore, encode_dataset
from tests.features.synthetic import FakeEncoder, make_dataset


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return encode_dataset(make_dataset(), FakeEncoder(), "train", folder=tmp_path, chunk_rows=8).path


def test_opened_store_has_everything_and_is_read_only(path: Path) -> None:
    store = FeatureStore.open(str(path))
    assert isinstance(store.features, np.memmap)
    assert store.features.shape == (len(store), store.dim) == (100, 5)
    assert store.features.dtype == np.float16
    assert store.class_names == ("a", "b", "c", "d")
    assert store.rows.tolist() == list(range(100))
    assert store.size == (path / "features.npy").stat().st_size
    with pytest.raises(ValueError, match="read-only"):
        store.features[0] = 0


def test_no_store_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="i2cansay encode"):
        FeatureStore.open(tmp_path)


@pytest.mark.parametrize("name", ["features.npy", "labels.npy", "rows.npy"])
@pytest.mark.parametrize("position", [0.0, 0.5, 0.999])
def test_one_changed_byte_anywhere_is_refused(path: Path, name: str, position: float) -> None:
    content = bytearray((path / name).read_bytes())
    content[int(position * len(content))] ^= 1
    (path / name).write_bytes(content)
    with pytest.raises(ValueError, match="is refused"):
        FeatureStore.open(path)


@pytest.mark.parametrize("change", [-1, 1])
def test_a_matrix_of_another_length_is_refused(path: Path, change: int) -> None:
    content = (path / "features.npy").read_bytes()
    (path / "features.npy").write_bytes(content[:-1] if change < 0 else content + b"\0")
    with pytest.raises(ValueError, match="is refused"):
        FeatureStore.open(path, verify=False)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("rows", 99), ("dim", 6), ("dtype", "float32"), ("format", 2), ("labels_checksum", 0)),
        *(("dataset", "other"), ("dataset_fingerprint", "other"), ("encoder_fingerprint", "other")),
        *(("class_names", ["b", "a", "c", "d"]), ("split", "test")),
    ],
)
def test_a_header_that_promises_something_else_is_refused(path: Path, field: str, value: object) -> None:
    header = json.loads((path / "header.json").read_text())
    (path / "header.json").write_text(json.dumps({**header, field: value}))
    with pytest.raises(ValueError, match="is refused"):
        FeatureStore.open(path)


@pytest.mark.parametrize("name", ["features.npy", "labels.npy", "rows.npy"])
def test_a_missing_part_is_refused(path: Path, name: str) -> None:
    (path / name).unlink()
    with pytest.raises(ValueError, match=name):
        FeatureStore.open(path)


def test_an_unfinished_store_is_refused_with_its_count(path: Path) -> None:
    journal = json.loads((path / "journal.json").read_text())
    unfinished = {**journal, "committed": 16, "checksums": journal["checksums"][:2]}
    (path / "journal.json").write_text(json.dumps(unfinished))
    with pytest.raises(ValueError, match="holds 16 of 100 rows"):
        FeatureStore.open(path)
    (path / "journal.json").unlink()
    with pytest.raises(ValueError, match="holds 0 of 100 rows"):
        FeatureStore.open(path)


def test_a_store_from_before_headers_had_checksums_opens(path: Path) -> None:
    journal = json.loads((path / "journal.json").read_text())
    assert journal.pop("header_checksum") is not None
    (path / "journal.json").write_text(json.dumps(journal))
    assert len(FeatureStore.open(path)) == 100
