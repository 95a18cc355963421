"""A store that a pool of encoders on a real cluster has filled is that of one machine, byte for byte."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from PIL import Image

from i2cansay.datasets import get_dataset
from i2cansay.encoders import get_encoder
from i2cansay.features import encode_dataset
from i2cansay.features.ray_encoding import EncodingRecipe, RayEncoding
from tests.cli.shell import command, good, write_folder
from tests.cluster.two_nodes import TwoNodes

PARTS = ("features.npy", "labels.npy", "rows.npy", "header.json", "journal.json")


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.name in PARTS
    }


def test_the_command_fills_the_same_store(nodes: TwoNodes, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    words = ("encode", "digits", "--encoder", "pixels", "--split", "test")
    good(*words, "--out", here)
    said = good(*words, "--out", there, "--engine", "ray", "--address", nodes.address)
    assert "digits test: 445 rows" in said
    assert len(contents(here)) == len(PARTS)
    assert contents(there) == contents(here)
    for engine in ((), ("--engine", "ray", "--address", nodes.address)):
        out = tmp_path / f"shard-{len(engine)}"
        good(*words, "--out", out, "--shard", "2/3", *engine)
    assert contents(tmp_path / "shard-4") == contents(tmp_path / "shard-0")


@pytest.mark.slow
def test_a_node_killed_in_the_middle_changes_nothing(nodes: TwoNodes, tmp_path: Path) -> None:
    dataset, name = get_dataset("digits"), "efficientnet-lite0@64"
    encoder = get_encoder(name)
    here = encode_dataset(dataset, encoder, "train", folder=tmp_path / "here", limit=500)
    encoded: list[int] = []
    elsewhere = RayEncoding(EncodingRecipe("digits", name), nodes.address)
    with nodes.second_killed_when(lambda: any(0 < done < 400 for done in encoded)) as killed:
        there = encode_dataset(
            dataset,
            encoder,
            "train",
            folder=tmp_path / "there",
            limit=500,
            progress=lambda done, total: encoded.append(done),
            elsewhere=elsewhere,
        )
    assert killed, "the node was not killed before the work was done"
    assert contents(here.path) == contents(there.path)


def test_an_image_that_cannot_be_read_is_named(nodes: TwoNodes, tmp_path: Path) -> None:
    files = [path for path, _ in write_folder(tmp_path / "images", 30)]
    damaged = files[11]
    os.truncate(damaged, 60)
    with pytest.raises(OSError, match="trunc"), Image.open(damaged) as image:
        image.load()
    done = command(
        "encode", "image_folder", "--data", tmp_path / "images", "--encoder", "pixels", "--out", tmp_path / "out",
        "--split", "train", "--engine", "ray", "--address", nodes.address,
    )  # fmt: skip
    assert done.returncode == 2
    assert str(damaged) in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
