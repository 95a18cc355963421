import json
from dataclasses import replace

import pytest

from i2cansay.features.header import Header, Subset
from i2cansay.features.shard import Shard

HEADER = Header(
    dataset="toy",
    split="train",
    dataset_fingerprint="d",
    encoder="net",
    encoder_fingerprint="e",
    rows=10,
    dim=3,
    dtype="float16",
    class_names=("ä", "b"),
    labels_checksum=7,
)


@pytest.mark.parametrize(
    "subset",
    [
        None,
        Subset(fraction=0.1, seed=3),
        Subset(limit=5),
        Subset(0.5, 0, 9),
        Subset(shard=Shard(2, 3)),
        Subset(limit=5, shard=Shard(1, 2)),
    ],
)
def test_json_and_back(subset: Subset | None) -> None:
    header = replace(HEADER, subset=subset)
    assert Header.from_json(header.to_json()) == header


def test_names_differ_whenever_the_features_would() -> None:
    variants = [
        HEADER,
        replace(HEADER, split="test"),
        replace(HEADER, dataset_fingerprint="D"),
        replace(HEADER, encoder_fingerprint="E"),
        replace(HEADER, dtype="float32"),
        replace(HEADER, subset=Subset(limit=5)),
        replace(HEADER, subset=Subset(limit=6)),
        replace(HEADER, subset=Subset(fraction=0.5)),
        replace(HEADER, subset=Subset(fraction=0.5, seed=1)),
        replace(HEADER, subset=Subset(fraction=0.5, limit=5)),
        replace(HEADER, subset=Subset(fraction=0.50000001)),
        replace(HEADER, subset=Subset(shard=Shard(1, 2))),
        replace(HEADER, subset=Subset(shard=Shard(2, 2))),
        replace(HEADER, subset=Subset(shard=Shard(1, 3))),
        replace(HEADER, subset=Subset(limit=5, shard=Shard(1, 2))),
    ]
    assert len({variant.store_name for variant in variants}) == len(variants)


def test_a_path_as_encoder_name_makes_a_plain_folder_name() -> None:
    name = replace(HEADER, encoder="../my nets/net.onnx").store_name
    assert "/" not in name
    assert " " not in name


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1}', HEADER.to_json()[:-20]])
def test_what_is_not_a_header_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a header"):
        Header.from_json(text)


def test_another_format_is_refused_by_number() -> None:
    values = {**json.loads(HEADER.to_json()), "format": 99}
    with pytest.raises(ValueError, match="format 99, this version reads format 1"):
        Header.from_json(json.dumps(values))


def test_stores_from_before_there_were_shards_keep_their_names_and_headers() -> None:
    header = replace(HEADER, subset=Subset(fraction=0.1, seed=3))
    assert header.store_name == "toy-train-net-float16-fraction0.1-seed3-b887be61da5b"
    assert json.loads(header.to_json())["subset"] == {"fraction": 0.1, "seed": 3, "limit": None}


@pytest.mark.parametrize("shard", ["3/2", 5, ["1/2"]])
def test_a_header_with_an_impossible_shard_is_refused(shard: object) -> None:
    values = json.loads(replace(HEADER, subset=Subset(shard=Shard(1, 2))).to_json())
    values["subset"]["shard"] = shard
    with pytest.raises(ValueError, match=r"as 2/8|not a header"):
        Header.from_json(json.dumps(values))
