"""Shards put together are row for row the whole store, whether they are read one by one or copied into one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from i2cansay.encoders import get_encoder
from i2cansay.features import FeatureStore, Shard, encode_dataset
from tests.features.synthetic import FakeEncoder, make_dataset

DATASET = make_dataset()


def encoded(folder: Path, encoder: FakeEncoder | None = None, **options: Any) -> FeatureStore:
    return encode_dataset(DATASET, encoder or FakeEncoder(), "train", folder=folder, chunk_rows=8, **options)


@given(st.integers(1, 2000), st.data())
def test_spans_of_shards_are_all_rows_once_and_in_order(n: int, data: st.DataObject) -> None:
    of = data.draw(st.integers(1, min(n, 40)))
    found = [list(range(n))[Shard(number, of).span(n)] for number in range(1, of + 1)]
    assert [row for rows in found for row in rows] == list(range(n))
    sizes = {len(rows) for rows in found}
    assert min(sizes) >= 1
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("of", [2, 3, 12])
@pytest.mark.parametrize("options", [{}, {"limit": 37}, {"fraction": 0.5, "seed": 4}])
def test_shards_together_are_the_whole_row_for_row(tmp_path: Path, of: int, options: dict[str, Any]) -> None:
    whole = encoded(tmp_path / "whole", **options)
    shards = [encoded(tmp_path / "shards", shard=Shard(number, of), **options) for number in range(1, of + 1)]
    for name in ("features", "labels", "rows"):
        together = np.concatenate([getattr(shard, name) for shard in shards])
        np.testing.assert_array_equal(together, getattr(whole, name))
    # As a shell lists them, so that `fit FOLDER/*` has the rows in order.
    assert sorted(shard.path for shard in shards) == [shard.path for shard in shards]
    assert len({shard.path for shard in [*shards, whole]}) == of + 1


@pytest.mark.parametrize("name", ["efficientnet-lite0@64", "pixels"])
def test_shards_of_a_real_encoder_are_the_whole_bit_for_bit(tmp_path: Path, name: str) -> None:
    from i2cansay.datasets import get_dataset

    digits, encoder = get_dataset("digits"), get_encoder(name)

    def store(**options: Any) -> FeatureStore:
        return encode_dataset(
            digits, encoder, "test", folder=tmp_path / str(options), dtype="float32", limit=21, **options
        )

    shards = [store(shard=Shard(number, 4)) for number in (1, 2, 3, 4)]
    np.testing.assert_array_equal(np.concatenate([shard.features for shard in shards]), store().features)


@pytest.mark.parametrize("options", [{}, {"limit": 37}])
def test_the_whole_is_copied_from_finished_shards(tmp_path: Path, options: dict[str, Any]) -> None:
    expected, copying = encoded(tmp_path / "alone", **options), FakeEncoder()
    folder = tmp_path / "shards"
    for number in (2, 3):
        encoded(folder, shard=Shard(number, 3), **options)
    encoded(folder, shard=Shard(1, 2), **options)  # of another division
    first = FakeEncoder()
    encoded(folder, first, shard=Shard(1, 3), **options)
    seen: list[tuple[int, int]] = []
    whole = encoded(folder, copying, progress=lambda done, total: seen.append((done, total)), **options)
    assert copying.n_images == 0 < first.n_images
    assert seen == [(len(whole), len(whole))]
    for name in ("features.npy", "labels.npy", "rows.npy", "header.json", "journal.json"):
        assert (whole.path / name).read_bytes() == (expected.path / name).read_bytes()


def test_with_a_shard_missing_or_half_finished_the_whole_is_encoded(tmp_path: Path) -> None:
    encoded(tmp_path, shard=Shard(1, 2))
    last = encoded(tmp_path, shard=Shard(2, 2))
    (last.path / "journal.json").unlink()
    encoder = FakeEncoder()
    encoded(tmp_path, encoder)
    assert encoder.n_images == 100


def test_a_damaged_shard_is_not_copied(tmp_path: Path) -> None:
    encoded(tmp_path, shard=Shard(1, 2))
    path = encoded(tmp_path, shard=Shard(2, 2)).path / "features.npy"
    content = bytearray(path.read_bytes())
    content[200] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="have changed since they were written"):
        encoded(tmp_path)


def test_a_shard_is_resumed_and_then_not_encoded_again(tmp_path: Path) -> None:
    class Dying(FakeEncoder):
        def encode_batches(self, images: Any, *, batch_size: int | None = None) -> Any:
            for number, batch in enumerate(super().encode_batches(images, batch_size=batch_size)):
                if number == 7:
                    raise KeyboardInterrupt
                yield batch

    with pytest.raises(KeyboardInterrupt):
        encoded(tmp_path, Dying(), shard=Shard(2, 2))
    resumed, again = FakeEncoder(), FakeEncoder()
    encoded(tmp_path, resumed, shard=Shard(2, 2))
    encoded(tmp_path, again, shard=Shard(2, 2))
    assert (resumed.n_images, again.n_images) == (50 - 24, 0)


def test_a_shard_is_served_from_the_whole(tmp_path: Path) -> None:
    whole, encoder = encoded(tmp_path), FakeEncoder()
    served = encoded(tmp_path, encoder, shard=Shard(2, 3))
    assert encoder.n_images == 0
    np.testing.assert_array_equal(served.features, whole.features[33:66])


def test_a_shard_that_is_everything_is_the_whole(tmp_path: Path) -> None:
    assert encoded(tmp_path, shard=Shard(1, 1)).path == encoded(tmp_path).path


@pytest.mark.parametrize(
    "text", ["", "1", "0/4", "5/4", "1/0", "-1/4", "1/-4", "1.5/4", "a/b", "1/4/2", " 1/4", "\u0661/\u0664"]
)
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a shard as I/N, from 1/N to N/N, as 2/8; got"):
        Shard.parse(text)


def test_more_shards_than_images_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="100 images cannot be divided into 101 shards; ask for at most 100"):
        encoded(tmp_path, shard=Shard(1, 101))
    assert list(tmp_path.iterdir()) == []
