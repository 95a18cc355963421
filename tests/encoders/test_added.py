"""Encoders that a user adds are there again in the next process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from i2cansay.encoders import get_encoder
from i2cansay.encoders.added import add_encoder, added_folder, added_names, encoder_states
from i2cansay.encoders.checkpoint import CheckpointError, Weights
from i2cansay.encoders.preprocessing import Preprocessing

PICTURE = np.random.default_rng(0).integers(0, 256, (40, 40, 3), dtype=np.uint8)


def saved(weights: Weights, path: Path) -> Path:
    np.savez(path, **weights)  # type: ignore[arg-type]
    return path


@pytest.mark.usefixtures("empty_cache")
def test_weights_for_a_name_of_the_table(random_resnet: Callable[..., Weights], tmp_path: Path) -> None:
    path = saved(random_resnet(bottleneck=True), tmp_path / "weights.npz")
    assert {state.name: state.status for state in encoder_states()}["resnet50"] == "needs weights"
    expected = get_encoder("resnet50", weights=path)
    added = add_encoder("resnet50", path)
    path.unlink()
    again = get_encoder("resnet50")
    assert {state.name: state.status for state in encoder_states()}["resnet50"] == "added"
    assert added.fingerprint == again.fingerprint == expected.fingerprint
    assert np.array_equal(again.encode([PICTURE]), expected.encode([PICTURE]))


@pytest.mark.usefixtures("empty_cache")
def test_a_new_name_is_recognised_by_its_keys(
    random_vit: Callable[..., Weights], random_efficientnet: Callable[..., Weights], tmp_path: Path
) -> None:
    vit = add_encoder("my-vit", saved(random_vit(), tmp_path / "vit.npz"))
    narrow = add_encoder("narrow", saved(random_efficientnet(), tmp_path / "narrow.npz"))
    assert (vit.name, vit.dim) == ("my-vit", 128)
    assert (narrow.name, narrow.dim) == ("narrow", 32)
    assert added_names() == ["my-vit", "narrow"]
    assert get_encoder("my-vit", size=64).preprocessing.size == 64
    assert get_encoder("narrow").preprocessing.mean == (127 / 255,) * 3


@pytest.mark.usefixtures("empty_cache")
def test_a_graph_is_kept_with_its_description(tmp_path: Path) -> None:
    node = helper.make_node("GlobalAveragePool", ["x"], ["y"])
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 3, None, None]) for name in "xy"]
    graph = helper.make_graph([node], "colour", values[:1], values[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = tmp_path / "colour.onnx"
    path.write_bytes(model.SerializeToString())
    path.with_suffix(".toml").write_text('size = 16\nmean = [0, 0, 0]\nstd = [1, 1, 1]\npool = "mean"\n')
    added = add_encoder("mean.colour", path)
    path.unlink()
    path.with_suffix(".toml").unlink()
    again = get_encoder("mean.colour")
    assert again.fingerprint == added.fingerprint
    assert again.preprocessing == Preprocessing(size=16, resize=16, mean=(0.0,) * 3, std=(1.0,) * 3)
    assert np.allclose(again.encode([PICTURE]), PICTURE.mean(axis=(0, 1)) / 255, atol=0.02)


@pytest.mark.usefixtures("empty_cache")
def test_adding_again_replaces(random_vit: Callable[..., Weights], tmp_path: Path) -> None:
    first = add_encoder("mine", saved(random_vit(seed=1), tmp_path / "first.npz"))
    second = add_encoder("mine", saved(random_vit(seed=2), tmp_path / "second.npz"))
    assert get_encoder("mine").fingerprint == second.fingerprint != first.fingerprint


@pytest.mark.usefixtures("empty_cache")
@pytest.mark.parametrize("name", ["../outside", "a/b", "", ".hidden", "with space"])
def test_names_cannot_leave_the_folder(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a name has letters"):
        add_encoder(name, tmp_path / "weights.npz")


@pytest.mark.usefixtures("empty_cache")
def test_what_cannot_be_added_leaves_nothing(random_vit: Callable[..., Weights], tmp_path: Path) -> None:
    strange = saved({"alpha": np.ones(3), "beta": np.ones(3)}, tmp_path / "strange.npz")
    with pytest.raises(CheckpointError, match="got alpha, beta"):
        add_encoder("strange", strange)
    with pytest.raises(CheckpointError, match="not the weights of resnet18"):
        add_encoder("resnet18", saved(random_vit(), tmp_path / "vit.npz"))
    for name in ("pixels", "efficientnet-lite0"):
        with pytest.raises(ValueError, match="needs no weights"):
            add_encoder(name, strange)
    with pytest.raises(FileNotFoundError):
        add_encoder("mine", tmp_path / "missing.pth")
    assert added_names() == []


@pytest.mark.usefixtures("empty_cache")
def test_a_damaged_description_is_named(random_vit: Callable[..., Weights], tmp_path: Path) -> None:
    add_encoder("mine", saved(random_vit(), tmp_path / "vit.npz"))
    (added_folder() / "mine.toml").write_text("size = 224")
    with pytest.raises(ValueError, match=r"mine.toml is damaged .*; add mine again"):
        get_encoder("mine")
