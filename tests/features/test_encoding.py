import os
import shutil
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from i2cansay.datasets import Dataset, get_dataset
from i2cansay.encoders import get_encoder
from i2cansay.features import FeatureStore, encode_dataset, store_folder
from i2cansay.streams import low_data
from tests.features.synthetic import DIM, FakeEncoder, make_dataset

DATASET = make_dataset()
PARTS = ("features.npy", "labels.npy", "rows.npy", "header.json", "journal.json")


def contents(path: Path) -> dict[str, bytes]:
    return {name: (path / name).read_bytes() for name in PARTS}


def whole(folder: Path, **options: Any) -> FeatureStore:
    return encode_dataset(DATASET, FakeEncoder(), "train", folder=folder, chunk_rows=8, **options)


def test_rows_are_the_encoders_and_labels_the_data_sets(tmp_path: Path) -> None:
    store = whole(tmp_path, dtype="float32")
    expected = np.concatenate(list(FakeEncoder().encode_batches(DATASET.images("train"))))
    assert np.array_equal(store.features, expected)
    assert np.array_equal(store.labels, DATASET.labels("train"))
    half = whole(tmp_path)
    assert np.array_equal(half.features, expected.astype(np.float16))


def test_what_is_finished_is_not_encoded_again(tmp_path: Path) -> None:
    first, second = FakeEncoder(), FakeEncoder()
    encode_dataset(DATASET, first, "test", folder=tmp_path)
    encode_dataset(DATASET, second, "test", folder=tmp_path)
    assert (first.n_images, second.n_images) == (10, 0)


@pytest.mark.parametrize(
    "other",
    [
        lambda folder: encode_dataset(make_dataset(seed=1), FakeEncoder(), "train", folder=folder),
        lambda folder: encode_dataset(DATASET, FakeEncoder(fingerprint="new"), "train", folder=folder),
        lambda folder: encode_dataset(DATASET, FakeEncoder(), "test", folder=folder),
        lambda folder: encode_dataset(DATASET, FakeEncoder(), "train", folder=folder, dtype="float32"),
    ],
    ids=["data", "encoder", "split", "dtype"],
)
def test_another_data_set_encoder_split_or_type_is_another_store(
    tmp_path: Path, other: Callable[[Path], FeatureStore]
) -> None:
    assert other(tmp_path).path != whole(tmp_path).path


@pytest.mark.parametrize(
    "options", [{"limit": 7}, {"fraction": 0.3, "seed": 2}, {"fraction": 0.5, "limit": 9}]
)
def test_a_part_is_the_same_encoded_alone_or_served_from_the_whole(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    alone = whole(tmp_path / "alone", **options)
    complete = whole(tmp_path / "whole")
    encoder = FakeEncoder()
    served = encode_dataset(DATASET, encoder, "train", folder=tmp_path / "whole", **options)
    assert encoder.n_images == 0
    assert served.path == complete.path
    assert np.array_equal(served.features, alone.features)
    assert np.array_equal(served.labels, alone.labels)
    assert np.array_equal(served.rows, alone.rows)
    assert served.header == alone.header


def test_a_part_never_passes_for_the_whole(tmp_path: Path) -> None:
    part = whole(tmp_path, limit=99)
    complete = whole(tmp_path)
    assert part.path != complete.path
    assert (len(part), len(complete)) == (99, 100)
    assert part.header.subset is not None
    assert complete.header.subset is None


def test_fraction_draws_the_rows_of_the_low_data_streams(tmp_path: Path) -> None:
    store = whole(tmp_path, fraction=0.2, seed=5)
    assert np.array_equal(store.rows, low_data(DATASET.labels("train"), 0.2, 5))


@pytest.mark.parametrize("options", [{"limit": 100}, {"limit": 10**6}, {"fraction": 1.0, "seed": 3}])
def test_a_part_that_is_everything_is_the_whole(tmp_path: Path, options: dict[str, Any]) -> None:
    assert whole(tmp_path, **options).path == whole(tmp_path).path


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"limit": 0}, "limit of at least 1"),
        ({"fraction": 0.0}, "fraction above 0"),
        ({"fraction": 1.5}, "fraction above 0"),
        ({"fraction": float("nan")}, "fraction above 0"),
        ({"dtype": "int8"}, "float16 or float32"),
    ],
)
def test_bad_options_say_what_is_expected(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        whole(tmp_path, **options)
    assert list(tmp_path.iterdir()) == []


def test_progress_begins_with_what_is_there_and_ends_with_all(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    whole(tmp_path, progress=lambda done, total: seen.append((done, total)))
    assert seen[0] == (0, 100)
    assert seen[-1] == (100, 100)
    assert all(earlier < later for earlier, later in pairwise(seen))


def test_default_folder_is_below_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path))
    assert store_folder() == tmp_path / "features"
    assert encode_dataset(DATASET, FakeEncoder(), "test").path.parent == tmp_path / "features"


def test_a_failure_says_from_which_row_it_was_encoding(tmp_path: Path) -> None:
    class Stumbling(FakeEncoder):
        def encode_batches(self, images: Any, *, batch_size: int | None = None) -> Any:
            yield from super().encode_batches([next(images) for _ in range(20)], batch_size=batch_size)
            raise ValueError("no more memory")

    with pytest.raises(ValueError, match="synthetic train, encoding from row 0 on: no more memory"):
        encode_dataset(DATASET, Stumbling(), "train", folder=tmp_path, chunk_rows=8)
    with pytest.raises(ValueError, match="encoding from row 16 on"):
        encode_dataset(DATASET, Stumbling(), "train", folder=tmp_path, chunk_rows=8)


class Killed(BaseException):
    """Stands in for the end of the process."""


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_stopped_at_any_step_it_resumes_to_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """Die at the first, second, third ... call that makes something durable, resume, compare."""
    dataset = make_dataset(36)

    def encode(folder: Path) -> FeatureStore:
        return encode_dataset(dataset, FakeEncoder(), "train", folder=folder, chunk_rows=8)

    expected = contents(encode(tmp_path / "undisturbed").path)
    owner: Any = os if call == "fsync" else Path
    original = getattr(owner, call)
    for deadly in range(10_000):
        calls_left = iter(range(deadly))

        def dying(*arguments: Any, calls_left: Iterator[int] = calls_left) -> Any:
            if next(calls_left, None) is None:
                raise Killed
            return original(*arguments)

        folder = tmp_path / f"{call}{deadly}"
        with monkeypatch.context() as patch:
            patch.setattr(owner, call, dying)
            try:
                encode(folder)
            except Killed:
                pass
            else:
                break
        assert contents(encode(folder).path) == expected
    # Five chunks, each with its journal.
    assert deadly >= 5


def test_resuming_encodes_only_what_was_not_committed(tmp_path: Path) -> None:
    class Dying(FakeEncoder):
        def encode_batches(self, images: Any, *, batch_size: int | None = None) -> Any:
            for number, batch in enumerate(super().encode_batches(images, batch_size=batch_size)):
                if number == 7:
                    raise Killed
                yield batch

    with pytest.raises(Killed):
        encode_dataset(DATASET, Dying(), "train", folder=tmp_path, chunk_rows=8)
    encoder = FakeEncoder(batch_size=5)
    encode_dataset(DATASET, encoder, "train", folder=tmp_path, chunk_rows=8)
    # Seven batches of four make three chunks of eight.
    assert encoder.n_images == 100 - 24


def test_a_resumed_run_cuts_the_batches_of_the_first(tmp_path: Path) -> None:
    asked: list[int | None] = []

    class Noting(FakeEncoder):
        def encode_batches(self, images: Any, *, batch_size: int | None = None) -> Any:
            asked.append(batch_size)
            for number, batch in enumerate(super().encode_batches(images, batch_size=batch_size)):
                if len(asked) == 1 and number == 4:
                    raise Killed
                yield batch

    with pytest.raises(Killed):
        encode_dataset(DATASET, Noting(batch_size=3), "train", folder=tmp_path, chunk_rows=8)
    encode_dataset(DATASET, Noting(batch_size=7), "train", folder=tmp_path, chunk_rows=8)
    assert asked == [None, 3]


def test_float16_keeps_features_to_half_a_thousandth(tmp_path: Path) -> None:
    exact = whole(tmp_path, dtype="float32").features
    rounded = whole(tmp_path).features.astype(np.float32)
    assert exact.shape == (100, DIM)
    assert np.all(np.abs(rounded - exact) <= np.abs(exact) * 2**-11)


@pytest.mark.parametrize("options", [{}, {"fraction": 0.8, "seed": 1}])
@pytest.mark.parametrize("bad", [["dog/13.png"], ["dog/12.png", "dog/13.png"]])
def test_files_that_cannot_be_read_are_named_also_in_a_resumed_run(
    tmp_path: Path, options: dict[str, Any], bad: list[str]
) -> None:
    images = np.random.default_rng(0).integers(0, 256, (40, 4, 4, 3), dtype=np.uint8)
    pillow = pytest.importorskip("PIL.Image")
    for number, image in enumerate(images):
        file = tmp_path / "photos" / "train" / ("cat", "dog")[number % 2] / f"{number // 2:02}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        pillow.fromarray(image).save(file)
    # A test split of its own, so that the rows of train are the files in order.
    (tmp_path / "photos" / "test" / "cat").mkdir(parents=True)
    pillow.fromarray(images[0]).save(tmp_path / "photos" / "test" / "cat" / "00.png")
    files = [tmp_path / "photos" / "train" / name for name in bad]
    dataset = get_dataset("image_folder", root=tmp_path / "photos")
    rows = [list(dataset.images("train")).index(file) for file in files]
    for file in files:
        file.write_bytes(b"no image")
    encoder = get_encoder("pixels", size=4, threads=1)
    for _ in range(2):
        with pytest.raises(ValueError, match="image_folder train: ") as caught:
            encode_dataset(dataset, encoder, "train", folder=tmp_path / "stores", chunk_rows=8, **options)
        drawn = encode_rows(dataset, options)
        for row, file in zip(rows, files, strict=True):
            assert (f"row {row} ({file}): " in str(caught.value)) == (row in drawn)


def encode_rows(dataset: Dataset, options: dict[str, Any]) -> list[int]:
    labels = dataset.labels("train")
    return low_data(labels, **options).tolist() if options else list(range(len(labels)))


def swap(path: Path, other: Path) -> None:
    """Put another finished store under a store's name."""
    shutil.rmtree(path)
    shutil.copytree(other, path)


@pytest.mark.parametrize("options", [{}, {"limit": 7}, {"fraction": 0.5}], ids=["whole", "limit", "fraction"])
@pytest.mark.parametrize(
    ("dataset", "encoder", "part"),
    [
        (DATASET, FakeEncoder(fingerprint="other"), "encoder_fingerprint"),
        (make_dataset(seed=1), FakeEncoder(), "dataset_fingerprint"),
    ],
    ids=["encoder", "data"],
)
def test_a_finished_store_of_another_encoder_or_data_set_is_refused(
    tmp_path: Path, dataset: Dataset, encoder: FakeEncoder, part: str, options: dict[str, Any]
) -> None:
    store = whole(tmp_path)
    swap(store.path, encode_dataset(dataset, encoder, "train", folder=tmp_path).path)
    with pytest.raises(ValueError, match=f"is refused: it holds something else .* its {part} is"):
        whole(tmp_path, **options)


def test_a_damaged_half_finished_store_is_refused_before_anything_is_encoded(tmp_path: Path) -> None:
    class Dying(FakeEncoder):
        def encode_batches(self, images: Any, *, batch_size: int | None = None) -> Any:
            for number, batch in enumerate(super().encode_batches(images, batch_size=batch_size)):
                if number == 7:
                    raise Killed
                yield batch

    with pytest.raises(Killed):
        encode_dataset(DATASET, Dying(), "train", folder=tmp_path, chunk_rows=8)
    (path,) = tmp_path.iterdir()
    content = bytearray((path / "features.npy").read_bytes())
    content[150] ^= 1
    (path / "features.npy").write_bytes(content)
    encoder = FakeEncoder()
    with pytest.raises(ValueError, match="rows 0 to 7 have changed"):
        encode_dataset(DATASET, encoder, "train", folder=tmp_path, chunk_rows=8)
    assert encoder.n_images == 0
