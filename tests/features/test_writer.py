import json
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from i2cansay.features.header import Header
from i2cansay.features.store import FeatureStore
from i2cansay.features.writer import StoreWriter

LABELS = np.arange(10, dtype=np.int64) % 2
ROWS = np.arange(10, dtype=np.int64)
FEATURES = np.random.default_rng(0).normal(size=(10, 3)).astype(np.float32)


def make_header(dtype: str = "float32") -> Header:
    return Header(
        dataset="toy",
        split="train",
        dataset_fingerprint="d",
        encoder="net",
        encoder_fingerprint="e",
        rows=10,
        dim=3,
        dtype=dtype,
        class_names=("a", "b"),
        labels_checksum=zlib.crc32(LABELS.tobytes() + ROWS.tobytes()),
    )


def open_writer(path: Path, header: Header | None = None, chunk_rows: int = 4) -> StoreWriter:
    return StoreWriter(path, header or make_header(), LABELS, ROWS, chunk_rows=chunk_rows)


def write(path: Path, sizes: list[int], chunk_rows: int = 4) -> None:
    start = 0
    with open_writer(path, chunk_rows=chunk_rows) as writer:
        for size in sizes:
            writer.append(FEATURES[start : start + size])
            start += size
        writer.finish()


@pytest.mark.parametrize("sizes", [[10], [1] * 10, [2, 2, 2, 2, 2], [3, 3, 3, 1], [4, 1, 5], [9, 1]])
@pytest.mark.parametrize("chunk_rows", [1, 4, 512])
def test_any_batches_and_chunks_give_the_same_matrix(
    tmp_path: Path, sizes: list[int], chunk_rows: int
) -> None:
    write(tmp_path, sizes, chunk_rows)
    store = FeatureStore.open(tmp_path)
    assert np.array_equal(store.features, FEATURES)
    assert np.array_equal(store.labels, LABELS)
    assert np.array_equal(np.load(tmp_path / "features.npy"), FEATURES)


def test_only_whole_chunks_count_and_what_follows_them_is_cut_off(tmp_path: Path) -> None:
    with open_writer(tmp_path) as writer:
        for start in range(0, 6, 2):
            writer.append(FEATURES[start : start + 2])
        assert writer.committed == 4
    with (tmp_path / "features.npy").open("ab") as file:
        file.write(b"half a row")
    with open_writer(tmp_path) as writer:
        assert (writer.committed, writer.started, writer.batch_rows) == (4, 4, 2)
        writer.append(FEATURES[4:])
        writer.finish()
    assert np.array_equal(FeatureStore.open(tmp_path).features, FEATURES)


def test_a_resumed_store_keeps_the_chunks_it_began_with(tmp_path: Path) -> None:
    with open_writer(tmp_path, chunk_rows=4) as writer:
        writer.append(FEATURES[:2])
        writer.append(FEATURES[2:4])
    with open_writer(tmp_path, chunk_rows=512) as writer:
        writer.append(FEATURES[4:6])
        writer.append(FEATURES[6:8])
        assert writer.committed == 8


def test_too_few_or_too_many_rows_are_refused(tmp_path: Path) -> None:
    with open_writer(tmp_path) as writer:
        writer.append(FEATURES[:9])
        with pytest.raises(ValueError, match="expected 10 rows in all, the encoder gave 9"):
            writer.finish()
        with pytest.raises(ValueError, match="expected 10 rows in all, got 11"):
            writer.append(FEATURES[:2])


def test_another_width_is_refused(tmp_path: Path) -> None:
    with open_writer(tmp_path) as writer, pytest.raises(ValueError, match="width 3, got an array of"):
        writer.append(FEATURES[:, :2])


@pytest.mark.parametrize(
    ("value", "message"), [(1e5, "more than float16 can hold: use float32"), (np.nan, "NaN"), (np.inf, "NaN")]
)
def test_what_cannot_be_stored_is_refused_with_its_row(tmp_path: Path, value: float, message: str) -> None:
    bad: NDArray[np.float32] = FEATURES.copy()
    bad[7, 1] = value
    with open_writer(tmp_path, make_header("float16")) as writer:
        writer.append(bad[:6])
        with pytest.raises(ValueError, match=f"row 7.*{message}|{message}.*row 7"):
            writer.append(bad[6:])


def test_lost_rows_are_noticed(tmp_path: Path) -> None:
    with open_writer(tmp_path) as writer:
        writer.append(FEATURES[:4])
    with (tmp_path / "features.npy").open("r+b") as file:
        file.truncate(140)
    with pytest.raises(ValueError, match="counts 4 rows, but some of them are lost"):
        open_writer(tmp_path)


def test_a_folder_that_holds_another_store_is_refused(tmp_path: Path) -> None:
    write(tmp_path, [10])
    with pytest.raises(ValueError, match="something else than its name says"):
        open_writer(tmp_path, make_header("float16"))


@pytest.mark.parametrize("name", ["features.npy", "labels.npy", "rows.npy"])
def test_a_half_finished_store_that_was_damaged_is_not_continued(tmp_path: Path, name: str) -> None:
    with open_writer(tmp_path) as writer:
        writer.append(FEATURES[:4])
    content = bytearray((tmp_path / name).read_bytes())
    content[140] ^= 1
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=r"changed since (it was|they were) written"):
        open_writer(tmp_path)


def test_a_half_finished_store_whose_header_was_edited_is_not_continued(tmp_path: Path) -> None:
    with open_writer(tmp_path) as writer:
        writer.append(FEATURES[:4])
    edited = replace(make_header(), class_names=("b", "a"))
    (tmp_path / "header.json").write_text(edited.to_json())
    for header in (make_header(), edited):
        with pytest.raises(ValueError, match="is refused"):
            open_writer(tmp_path, header)


def test_an_early_half_finished_store_is_continued_and_gets_its_header_checksum(tmp_path: Path) -> None:
    write(tmp_path / "new", [4, 4, 2])
    with open_writer(tmp_path / "old") as writer:
        writer.append(FEATURES[:4])
    journal = json.loads((tmp_path / "old" / "journal.json").read_text())
    del journal["header_checksum"]
    (tmp_path / "old" / "journal.json").write_text(json.dumps(journal))
    with open_writer(tmp_path / "old") as writer:
        writer.append(FEATURES[4:8])
        writer.append(FEATURES[8:])
        writer.finish()
    old, new = ((tmp_path / name / "journal.json").read_bytes() for name in ("old", "new"))
    assert old == new


def test_what_a_killed_writer_left_behind_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".journal.json.1-abcd.tmp").write_bytes(b"half")
    write(tmp_path, [10])
    assert not list(tmp_path.glob(".*"))
