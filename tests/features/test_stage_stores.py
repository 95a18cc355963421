"""Stores of stages: they know their blocks, and serve the last layer alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from i2cansay.encoders.stages import Block
from i2cansay.features import FeatureStore, Header, encode_dataset
from tests.features.synthetic import DIM, FakeEncoder, make_dataset

DATASET = make_dataset()
BLOCKS = (Block("last", DIM), Block("early", 3))


class StageEncoder(FakeEncoder):
    """The fake encoder with three more columns."""

    features, blocks, last_fingerprint = "stages", BLOCKS, "fake"

    def __init__(self, *, fingerprint: str = "fake with stages") -> None:
        super().__init__(fingerprint=fingerprint)
        self.name, self.dim = "fake+stages", DIM + 3

    def encode_batches(
        self, images: Iterable[Any], *, batch_size: int | None = None
    ) -> Iterator[NDArray[np.float32]]:
        for batch in super().encode_batches(images, batch_size=batch_size):
            yield np.hstack([batch, np.full((len(batch), 3), 7, np.float32)])


def test_the_blocks_are_there_again(tmp_path: Path) -> None:
    made = encode_dataset(DATASET, StageEncoder(), "train", folder=tmp_path)
    store = FeatureStore.open(made.path)
    assert store.features.shape == (100, DIM + 3)
    assert store.blocks == BLOCKS
    assert (store.header.features, store.header.views) == ("stages", "single")
    assert store.header.last_fingerprint == "fake"
    plain = encode_dataset(DATASET, FakeEncoder(), "test", folder=tmp_path)
    assert plain.blocks == (Block("last", DIM),)
    assert plain.header.features == "last"


def last_layer(folder: Path, encoder: FakeEncoder | None = None, **options: Any) -> FeatureStore:
    return encode_dataset(DATASET, encoder or FakeEncoder(), "train", folder=folder, **options)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("part", [{}, {"limit": 7}, {"fraction": 0.3, "seed": 2}])
def test_the_last_layer_is_served_from_a_store_of_stages(
    tmp_path: Path, dtype: str, part: dict[str, Any]
) -> None:
    alone = last_layer(tmp_path / "alone", dtype=dtype, **part)
    wide = encode_dataset(DATASET, StageEncoder(), "train", folder=tmp_path / "wide", dtype=dtype)
    encoder = FakeEncoder()
    served = last_layer(tmp_path / "wide", encoder, dtype=dtype, **part)
    assert encoder.n_images == 0
    assert served.path == wide.path
    assert served.header == alone.header
    assert np.array_equal(served.features, alone.features)
    assert np.array_equal(served.labels, alone.labels)
    assert np.array_equal(served.rows, alone.rows)


@pytest.mark.parametrize(
    ("encoder", "options"),
    [
        (FakeEncoder(fingerprint="other"), {}),
        (FakeEncoder(), {"dtype": "float32"}),
    ],
    ids=["another encoder", "another type"],
)
def test_what_is_not_in_it_is_encoded(tmp_path: Path, encoder: FakeEncoder, options: dict[str, Any]) -> None:
    wide = encode_dataset(DATASET, StageEncoder(), "train", folder=tmp_path)
    store = last_layer(tmp_path, encoder, **options)
    assert encoder.n_images == 100
    assert store.path != wide.path


def test_neither_a_part_nor_an_unfinished_store_nor_other_views_will_do(tmp_path: Path) -> None:
    class Mirrored(StageEncoder):
        views = "mirror"

    encode_dataset(DATASET, StageEncoder(), "train", folder=tmp_path, limit=99)
    encode_dataset(DATASET, Mirrored(fingerprint="mirrored"), "train", folder=tmp_path)
    whole = encode_dataset(DATASET, StageEncoder(), "train", folder=tmp_path, chunk_rows=8)
    journal = json.loads((whole.path / "journal.json").read_text())
    short = {**journal, "committed": 8, "checksums": journal["checksums"][:1]}
    (whole.path / "journal.json").write_text(json.dumps(short))
    encoder = FakeEncoder()
    last_layer(tmp_path, encoder)
    assert encoder.n_images == 100


def test_a_damaged_store_of_stages_serves_nothing(tmp_path: Path) -> None:
    wide = encode_dataset(DATASET, StageEncoder(), "train", folder=tmp_path)
    with (wide.path / "features.npy").open("r+b") as file:
        file.seek(-2, 2)
        file.write(b"\x01\x02")
    encoder = FakeEncoder()
    last_layer(tmp_path, encoder)
    assert encoder.n_images == 100
    with pytest.raises(ValueError, match=r"rows .* have changed"):
        encode_dataset(DATASET, StageEncoder(), "train", folder=tmp_path)


HEADER = Header("toy", "train", "d", "net+stages", "e", 10, 8, "float16", ("a", "b"), 7)
WIDE = replace(HEADER, features="stages", stage_blocks=BLOCKS, last_fingerprint="f", views="mirror")


def test_a_header_of_stages_comes_back() -> None:
    assert Header.from_json(WIDE.to_json()) == WIDE
    assert WIDE.blocks == BLOCKS


def test_a_header_of_an_early_version_is_one_of_the_last_layer() -> None:
    values = json.loads(HEADER.to_json())
    for later in ("features", "views", "stage_blocks", "last_fingerprint"):
        del values[later]
    early = Header.from_json(json.dumps(values))
    assert early == HEADER
    assert early.store_name == HEADER.store_name
    assert early.blocks == (Block("last", 8),)


@pytest.mark.parametrize(
    "changes",
    [
        {"features": "all"},
        {"features": "last"},
        {"views": "upside-down"},
        {"stage_blocks": []},
        {"stage_blocks": [{"name": "last", "width": 9}]},
        {"stage_blocks": [{"name": "last", "width": -1}, {"name": "x", "width": 9}]},
        {"stage_blocks": [{"name": 3, "width": 8}]},
        {"stage_blocks": [["last", 8]]},
        {"stage_blocks": 8},
        {"last_fingerprint": None},
    ],
)
def test_a_header_whose_blocks_make_no_sense_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="not a header"):
        Header.from_json(json.dumps({**json.loads(WIDE.to_json()), **changes}))
