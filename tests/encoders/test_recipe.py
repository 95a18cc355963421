"""From a checkpoint to a cached graph, and the fingerprint on the way."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save_file

from i2cansay.encoders import get_encoder
from i2cansay.encoders.checkpoint import CheckpointError, Weights
from i2cansay.encoders.onnx_session import OnnxSession
from i2cansay.encoders.preprocessing import Preprocessing
from i2cansay.encoders.recipe import digest_of
from i2cansay.encoders.resnet import RESNET, RESNET18

SQUARE = np.random.default_rng(1).integers(0, 256, (1, 64, 64, 3), dtype=np.uint8)
IMAGE = np.random.default_rng(0).integers(0, 256, (40, 40, 3), dtype=np.uint8)


@pytest.fixture
def weights(random_resnet: Callable[..., Weights]) -> Weights:
    return random_resnet(bottleneck=False)


@pytest.fixture
def checkpoint(weights: Weights, tmp_path: Path) -> Path:
    np.savez(tmp_path / "narrow.npz", **weights)  # type: ignore[arg-type]
    return tmp_path / "narrow.npz"


def graphs(cache: Path) -> list[Path]:
    return sorted((cache / "graphs").iterdir())


def test_a_graph_is_built_once(checkpoint: Path, empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = get_encoder("resnet", weights=checkpoint, size=64)
    built = graphs(empty_cache)
    assert len(built) == 1
    monkeypatch.setattr("i2cansay.encoders.recipe.read_checkpoint", lambda path: pytest.fail("built again"))
    second = get_encoder("resnet", weights=checkpoint, size=64)
    other_size = get_encoder("resnet", weights=checkpoint, size=96)
    assert graphs(empty_cache) == built
    assert second.fingerprint == first.fingerprint != other_size.fingerprint
    assert np.array_equal(first.encode([IMAGE]), second.encode([IMAGE]))


def test_a_damaged_graph_in_the_cache_is_built_again(checkpoint: Path, empty_cache: Path) -> None:
    expected = get_encoder("resnet", weights=checkpoint).encode([IMAGE])
    (graph,) = graphs(empty_cache)
    graph.write_bytes(graph.read_bytes()[:1000])
    assert np.array_equal(get_encoder("resnet", weights=checkpoint).encode([IMAGE]), expected)
    assert graph.stat().st_size > 1000


def test_a_graph_with_other_numbers_in_it_is_built_again(checkpoint: Path, empty_cache: Path) -> None:
    """It opens and runs: only its hash tells."""
    expected = get_encoder("resnet", weights=checkpoint).encode([IMAGE])
    (graph,) = graphs(empty_cache)
    contents = bytearray(graph.read_bytes())
    middle = len(contents) // 2
    contents[middle : middle + 20_000] = bytes(20_000)
    graph.write_bytes(contents)
    damaged = OnnxSession(bytes(contents)).run(SQUARE)
    assert np.isfinite(damaged).all()
    assert not np.array_equal(damaged, RESNET.open(weights=checkpoint).infer(SQUARE))
    assert np.array_equal(get_encoder("resnet", weights=checkpoint).encode([IMAGE]), expected)
    assert graphs(empty_cache) == [graph]
    assert graph.read_bytes() != contents


def test_without_a_writable_cache_it_still_works(
    checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path / "file"))
    assert get_encoder("resnet", weights=checkpoint).encode([IMAGE]).shape == (1, 64)


def fingerprint_in_child(checkpoint: Path, answers: multiprocessing.Queue[str]) -> None:
    answers.put(get_encoder("resnet", weights=checkpoint).fingerprint)


def test_two_processes_may_build_at_the_same_time(checkpoint: Path, empty_cache: Path) -> None:
    context = multiprocessing.get_context("spawn")
    answers: multiprocessing.Queue[str] = context.Queue()
    children = [context.Process(target=fingerprint_in_child, args=(checkpoint, answers)) for _ in range(2)]
    for child in children:
        child.start()
    found = {answers.get(timeout=300) for _ in children}
    for child in children:
        child.join()
    assert len(found) == 1
    assert len(graphs(empty_cache)) == 1


def test_the_fingerprint_depends_on_values_not_on_the_file(
    weights: Weights, checkpoint: Path, tmp_path: Path
) -> None:
    reference = get_encoder("resnet", weights=checkpoint).fingerprint
    kept = {key: array for key, array in weights.items() if not key.startswith("fc.") and array.ndim}
    save_file(dict(reversed(kept.items())), tmp_path / "headless.safetensors")
    assert get_encoder("resnet", weights=tmp_path / "headless.safetensors").fingerprint == reference
    kept["conv1.weight"] = kept["conv1.weight"] + np.float32(1e-3)
    save_file(kept, tmp_path / "changed.safetensors")
    assert get_encoder("resnet", weights=tmp_path / "changed.safetensors").fingerprint != reference


def test_the_digest_sees_names_and_shapes() -> None:
    x = np.arange(6, dtype=np.float32)
    digests = {digest_of(each) for each in ({"a": x}, {"b": x}, {"a": x.reshape(2, 3)}, {"a": x, "b": x})}
    assert len(digests) == 4
    assert digest_of({"a": x}) == digest_of({"a": x.astype(np.float64), "steps": np.array(3)})


def test_missing_weights_say_what_to_get(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("I2CANSAY_DATA", raising=False)
    with pytest.raises(
        FileNotFoundError, match=r"resnet50-0676ba61.pth \(sha256 0676ba61.*encoder add resnet50"
    ):
        get_encoder("resnet50")
    with pytest.raises(FileNotFoundError, match="vit needs a checkpoint"):
        get_encoder("vit")
    with pytest.raises(FileNotFoundError, match="no file of weights at"):
        get_encoder("resnet18", weights="missing.pth")


def test_weights_are_found_in_the_data_folders(
    weights: Weights, tmp_path: Path, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("I2CANSAY_DATA", os.pathsep.join(["/nowhere", str(tmp_path)]))
    assert not RESNET18.has_weights()
    (tmp_path / "weights").mkdir()
    np.savez(tmp_path / "weights" / "any.npz", **weights)  # type: ignore[arg-type]
    (tmp_path / "weights" / "any.npz").rename(tmp_path / "weights" / "resnet18-f37072fd.pth")
    assert RESNET18.has_weights()
    with pytest.raises(CheckpointError, match="download it again"):
        get_encoder("resnet18")


def test_weights_of_another_network_are_refused(checkpoint: Path, empty_cache: Path) -> None:
    with pytest.raises(CheckpointError, match="not the weights of vit"):
        get_encoder("vit", weights=checkpoint)
    assert not (empty_cache / "graphs").exists()


def test_another_preprocessing_can_be_given(checkpoint: Path) -> None:
    looking = Preprocessing(size=48, resize=48, mean=(0.0,) * 3, std=(1.0,) * 3)
    encoder = RESNET.open(weights=checkpoint, preprocessing=looking)
    assert encoder.preprocessing == looking
    usual = get_encoder("resnet", weights=checkpoint, size=48)
    assert not np.allclose(encoder.encode([IMAGE]), usual.encode([IMAGE]))


@pytest.mark.parametrize(
    ("key", "change", "sentence"),
    [
        ("layer2.0.bn2.weight", lambda old: old[:7], "do not make a resnet"),
        ("conv1.weight", lambda old: old.sum(), "do not make a resnet|first convolution"),
        ("conv1.weight", lambda old: old[:, :1], "first convolution of 7 x 7 over 3 channels"),
        ("conv1.weight", lambda old: old[:, :, 2:5, 2:5], "first convolution of 7 x 7 over 3 channels"),
        ("layer2.0.conv2.weight", lambda old: old[:, :8], "in groups"),
        ("layer1.0.conv1.weight", lambda old: old[:, :5], "cannot be run at 224 px"),
        ("layer1.0.conv1.weight", lambda old: old * np.float32("nan"), "infinite or NaN"),
        ("layer1.0.bn1.running_var", lambda old: -old, "negative"),
        ("bn1.bias", lambda old: old + np.float32(3e38), "features that are infinite or NaN"),
    ],
)
def test_weights_that_do_not_work_are_refused_and_not_cached(
    key: str,
    change: Callable[[NDArray[np.float32]], NDArray[np.float32]],
    sentence: str,
    *,
    weights: Weights,
    tmp_path: Path,
    empty_cache: Path,
) -> None:
    np.savez(tmp_path / "bad.npz", **{**weights, key: change(weights[key])})  # type: ignore[arg-type]
    for _ in range(2):
        with pytest.raises(CheckpointError, match=sentence):
            get_encoder("resnet", weights=tmp_path / "bad.npz")
    assert not list(empty_cache.rglob("*.onnx"))


@pytest.mark.parametrize("key", ["layer1.0.se.fc1.weight", "layer1.0.conv1.bias", "layer5.0.conv1.weight"])
def test_weights_that_the_network_has_no_place_for_are_refused(
    key: str, weights: Weights, tmp_path: Path
) -> None:
    np.savez(tmp_path / "more.npz", **{**weights, key: np.ones(8)})  # type: ignore[arg-type]
    with pytest.raises(CheckpointError, match=f"not the weights of resnet, which has no '{key}'"):
        get_encoder("resnet", weights=tmp_path / "more.npz")


def test_a_file_beside_the_checkpoint_says_how_images_are_prepared(checkpoint: Path) -> None:
    usual = get_encoder("resnet", weights=checkpoint)
    checkpoint.with_suffix(".toml").write_text("size = 64\nresize = 64\nmean = [0.5, 0.5, 0.5]\n")
    told = get_encoder("resnet", weights=checkpoint)
    assert told.fingerprint != usual.fingerprint
    assert (told.preprocessing.size, told.preprocessing.resize) == (64, 64)
    assert told.preprocessing.mean == (0.5,) * 3
    assert told.preprocessing.std == usual.preprocessing.std
