"""`i2cansay info`: what a model file holds, in words and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import i2cansay
from tests.cli.shell import good, refused, write_folder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    write_folder(folder / "day", 40)
    good("learn", folder / "m.i2cs", folder / "day", "--encoder", "pixels@4")
    return folder / "m.i2cs"


def test_it_says_what_there_is(model: Path) -> None:
    record = json.loads(good("info", model, "--json"))
    assert (record["taught"], record["samples"], record["learner"]) == ("images", 40, "SharedI2CANSAY")
    assert record["encoder"]["name"] == "pixels"
    assert record["encoder"]["size"] == 4
    assert record["bytes"] == model.stat().st_size
    assert record["parameters"] == {"analogies": False, "lift": 0, "width": 4256}
    assert sum(entry["samples"] for entry in record["classes"]) == 40
    said = good("info", model)
    for words in (
        "pixels at 4 px",
        "SharedI2CANSAY",
        "40 samples, 3 classes",
        "blue",
        "What the file reveals",
    ):
        assert words in said


def test_it_warns_of_a_single_sample_and_of_stored_ones(tmp_path: Path) -> None:
    X, y = np.eye(5), ["a", "a", "a", "a", "b"]
    i2cansay.make_learner("best").partial_fit(X, y).save(tmp_path / "m.i2cs")
    assert "1 class has a single sample" in good("info", tmp_path / "m.i2cs")
    i2cansay.make_learner("er").partial_fit(X, y).save(tmp_path / "er.i2cs")
    assert "features of single samples" in good("info", tmp_path / "er.i2cs")


def test_every_learner_can_be_described(tmp_path: Path) -> None:
    X, y = np.random.default_rng(0).normal(size=(40, 6)), ["a", "b"] * 20
    for name in ("paper", "small", "slda", "ncm", "naive"):
        i2cansay.make_learner(name).partial_fit(X, y).save(tmp_path / f"{name}.i2cs")
        assert "40 samples, 2 classes" in good("info", tmp_path / f"{name}.i2cs")
    i2cansay.make_learner("best").save(tmp_path / "new.i2cs")
    assert "0 samples, 0 classes" in good("info", tmp_path / "new.i2cs")


def test_what_is_no_model_is_told(tmp_path: Path) -> None:
    assert "there is no model file" in refused("info", tmp_path / "none")
    for content in (b"", b"no model", b"\xff" * 64, (20).to_bytes(8, "little") + b'{"a": [1, 2]}       '):
        (tmp_path / "m.i2cs").write_bytes(content)
        assert "is not a model file" in refused("info", tmp_path / "m.i2cs")
