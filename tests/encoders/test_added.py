"""Encoders that a user adds are there again in the next process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from i2cansay.encoders import get_encoder
from i2cansay.encoders.added import add_encoder, added_folder, added_names, encoder_states, official_recipe
from i2cansay.encoders.checkpoint import CheckpointError, Weights
from i2cansay.encoders.preprocessing import Preprocessing

IMAGE = np.random.default_rng(0).integers(0, 256, (40, 40, 3), dtype=np.uint8)


def saved(weights: Weights, path: Path) -> Path:
    np.savez(path, **weights)  # type: ignore[arg-type]
    return path


def mean_colour(path: Path) -> Path:
    """Write a user's own graph and its description."""
    node = helper.make_node("GlobalAveragePool", ["x"], ["y"])
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 3, None, None]) for name in "xy"]
    graph = helper.make_graph([node], "colour", values[:1], values[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    path.with_suffix(".toml").write_text('size = 16\nmean = [0, 0, 0]\nstd = [1, 1, 1]\npool = "mean"\n')
    return path


@pytest.mark.usefixtures("empty_cache")
def test_weights_for_a_name_of_the_table(random_resnet: Callable[..., Weights], tmp_path: Path) -> None:
    path = saved(random_resnet(bottleneck=True), tmp_path / "weights.npz")
    assert {state.name: state.status for state in encoder_states()}["resnet"] == "needs weights"
    expected = get_encoder("resnet", weights=path)
    added = add_encoder("resnet", path)
    path.unlink()
    again = get_encoder("resnet")
    assert {state.name: state.status for state in encoder_states()}["resnet"] == "added"
    assert added.fingerprint == again.fingerprint == expected.fingerprint
    assert np.array_equal(again.encode([IMAGE]), expected.encode([IMAGE]))


@pytest.mark.usefixtures("empty_cache")
def test_a_new_name_is_recognised_by_its_keys(
    random_vit: Callable[..., Weights],
    random_efficientnet: Callable[..., Weights],
    random_resnet: Callable[..., Weights],
    tmp_path: Path,
) -> None:
    vit = add_encoder("my-vit", saved(random_vit(), tmp_path / "vit.npz"))
    narrow = add_encoder("narrow", saved(random_efficientnet(), tmp_path / "narrow.npz"))
    assert (vit.name, vit.dim) == ("my-vit", 128)
    assert (narrow.name, narrow.dim) == ("narrow", 32)
    for bottleneck, dim in ((False, 64), (True, 256)):
        path = saved(random_resnet(bottleneck=bottleneck), tmp_path / "resnet.npz")
        assert add_encoder("residual", path).dim == dim
    assert added_names() == ["my-vit", "narrow", "residual"]
    assert get_encoder("my-vit", size=64).preprocessing.size == 64
    assert get_encoder("narrow").preprocessing.mean == (127 / 255,) * 3


@pytest.mark.usefixtures("empty_cache")
def test_a_graph_is_kept_with_its_description(tmp_path: Path) -> None:
    path = mean_colour(tmp_path / "colour.onnx")
    added = add_encoder("mean.colour", path)
    path.unlink()
    path.with_suffix(".toml").unlink()
    again = get_encoder("mean.colour")
    assert again.fingerprint == added.fingerprint
    assert again.preprocessing == Preprocessing(size=16, resize=16, mean=(0.0,) * 3, std=(1.0,) * 3)
    assert np.allclose(again.encode([IMAGE]), IMAGE.mean(axis=(0, 1)) / 255, atol=0.02)


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


@pytest.mark.usefixtures("empty_cache")
def test_a_name_that_looks_like_a_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"mine.onnx would be taken for the path of a file"):
        add_encoder("mine.onnx", tmp_path / "mine.onnx")


@pytest.mark.usefixtures("empty_cache")
def test_preprocessing_from_a_file_beside_the_checkpoint_is_kept(
    random_vit: Callable[..., Weights], tmp_path: Path
) -> None:
    path = saved(random_vit(), tmp_path / "vit.npz")
    path.with_suffix(".toml").write_text('size = 32\nresize = 40\ninterpolation = "lanczos"\n')
    add_encoder("mine", path)
    looking = get_encoder("mine").preprocessing
    assert looking == Preprocessing(size=32, resize=40, interpolation="lanczos")


@pytest.mark.usefixtures("empty_cache")
def test_a_copy_that_does_not_work_leaves_the_folder_as_it_was(
    random_vit: Callable[..., Weights], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = add_encoder("mine", saved(random_vit(seed=1), tmp_path / "good.npz"))
    before = sorted(added_folder().iterdir())
    bad = random_vit(seed=2)
    bad["blocks.0.attn.qkv.weight"] = np.ones((190, 128), np.float32)
    for name in ("mine", "other"):
        with pytest.raises(CheckpointError, match="these weights"):
            add_encoder(name, saved(bad, tmp_path / "bad.npz"))
    # Even where only the copy is at fault
    monkeypatch.setattr("i2cansay.encoders.added._safetensors", lambda weights: b"cut off")
    with pytest.raises(CheckpointError, match="damaged"):
        add_encoder("other", saved(random_vit(), tmp_path / "vit.npz"))
    assert sorted(added_folder().iterdir()) == before
    assert get_encoder("mine").fingerprint == kept.fingerprint


@pytest.mark.usefixtures("empty_cache")
def test_a_graph_may_take_the_place_of_weights(random_vit: Callable[..., Weights], tmp_path: Path) -> None:
    weights = saved(random_vit(), tmp_path / "vit.npz")
    first = add_encoder("mine", weights)
    add_encoder("mine", mean_colour(tmp_path / "colour.onnx"))
    assert get_encoder("mine").dim == 3
    assert add_encoder("mine", weights).fingerprint == get_encoder("mine").fingerprint == first.fingerprint


def test_only_names_with_published_files_are_offered() -> None:
    with pytest.raises(
        ValueError, match=r"exist for resnet18, resnet50, dino_vits8, dinov2_vits14, clip_vitb32, deit_tiny$"
    ):
        official_recipe("mine")
