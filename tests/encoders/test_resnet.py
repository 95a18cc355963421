"""ResNets in torchvision's layout, and their official files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from i2cansay.encoders.checkpoint import CheckpointError, Weights
from i2cansay.encoders.onnx_session import OnnxSession
from i2cansay.encoders.preprocessing import Preprocessing
from i2cansay.encoders.recipe import Recipe
from i2cansay.encoders.resnet import (
    RESNET,
    RESNET18,
    RESNET50,
    TORCHVISION,
    ResNetArithmetic,
    build_resnet,
    resnet_shape,
)
from i2cansay.encoders.resnet_keras import KERAS, RESNET50_KERAS
from i2cansay.encoders.stages import StageError, blocks_from_text
from tests.encoders.torch_resnet import torch_resnet

HASHES = {
    "resnet18": ["5c106cde", "f37072fd"],
    "resnet50": ["0676ba61", "11ad3fa6", "19c8e357"],
}


@pytest.mark.parametrize("bottleneck", [False, True])
def test_any_size_gives_features_of_the_networks_width(
    bottleneck: bool, random_resnet: Callable[..., Weights]
) -> None:
    session = OnnxSession(
        build_resnet(random_resnet(bottleneck=bottleneck), Preprocessing()).SerializeToString()
    )
    rng = np.random.default_rng(0)
    for size in (32, 49, 64):
        features = session.run(rng.integers(0, 256, (3, size, size, 3), dtype=np.uint8))
        assert features.shape == (3, 256 if bottleneck else 64)
        assert features.min() >= 0
        assert np.ptp(features, axis=0).max() > 0


@pytest.mark.parametrize("recipe", [RESNET18, RESNET50], ids=lambda recipe: recipe.name)
def test_official_files_are_known_by_their_hash(recipe: Any) -> None:
    assert sorted(file.sha256 for file in recipe.files) == HASHES[recipe.name]
    for file in recipe.files:
        assert file.url.endswith(file.name)
        assert file.sha256 in file.name
        looking = recipe.preprocessing_for(Path("renamed.pth"), file.sha256 + "0" * 56)
        assert looking.interpolation == "bilinear"
        assert (looking.size, looking.resize) == (224, 232 if file.sha256 == "11ad3fa6" else 256)


def test_an_official_name_with_another_hash_is_a_damaged_download() -> None:
    with pytest.raises(CheckpointError, match="expected f37072fd"):
        RESNET18.preprocessing_for(Path("resnet18-f37072fd.pth"), "0" * 64)


def test_other_weights_are_refused(random_vit: Callable[..., Weights]) -> None:
    with pytest.raises(CheckpointError, match=r"not the weights of resnet18: missing 'conv1.weight'"):
        RESNET18.build_model(random_vit(), RESNET18.preprocessing)


@pytest.mark.parametrize("bottleneck", [False, True])
def test_a_name_stands_for_one_depth_and_width(
    bottleneck: bool, random_resnet: Callable[..., Weights]
) -> None:
    weights = random_resnet(bottleneck=bottleneck)
    kind = "bottlenecks" if bottleneck else "basic blocks"
    for recipe in (RESNET18, RESNET50):
        with pytest.raises(CheckpointError, match=f"{recipe.name} has .*, these weights have {kind} 2-2-2-2"):
            recipe.build_model(weights, recipe.preprocessing)
    assert RESNET.build_model(weights, RESNET.preprocessing)


def test_the_shape_of_the_published_networks() -> None:
    def skeleton(depths: tuple[int, ...], kernels: int) -> Weights:
        keys = [
            f"layer{stage}.{block}.conv{i}.weight"
            for stage, depth in enumerate(depths, start=1)
            for block in range(depth)
            for i in range(1, kernels + 1)
        ]
        return {key: np.empty((64, 64, 1, 1)) for key in ("conv1.weight", *keys)}

    assert resnet_shape(skeleton((2, 2, 2, 2), 2)) == RESNET18.shape
    assert resnet_shape(skeleton((3, 4, 6, 3), 3)) == RESNET50.shape
    assert resnet_shape(skeleton((3, 4, 6, 3), 2)) not in (RESNET18.shape, RESNET50.shape)
    assert resnet_shape(skeleton((3, 4, 23, 3), 3)) != RESNET50.shape


@pytest.mark.parametrize("bottleneck", [False, True])
def test_stages_stand_beside_the_last_layer(bottleneck: bool, random_resnet: Callable[..., Weights]) -> None:
    weights = random_resnet(bottleneck=bottleneck)
    pixels = np.random.default_rng(0).integers(0, 256, (3, 48, 48, 3), dtype=np.uint8)
    last = OnnxSession(build_resnet(weights, Preprocessing()).SerializeToString()).run(pixels)
    names = ["layer4.1.conv1", "layer4.0", "layer3.1", "layer1.0"]
    both = OnnxSession(build_resnet(weights, Preprocessing(), stages=names).SerializeToString()).run(pixels)
    widths = [256, 64, 256, 128, 32] if bottleneck else [64, 64, 64, 32, 8]
    assert both.shape == (3, sum(widths))
    assert np.array_equal(both[:, : widths[0]], last)
    for block in np.split(both, np.cumsum(widths)[:-1], axis=1):
        assert block.min() >= 0
        assert np.ptp(block, axis=0).max() > 0


def test_a_stage_that_is_not_there_is_named(random_resnet: Callable[..., Weights]) -> None:
    for name in ("layer4.1", "layer5.0", "layer4.1.conv2"):
        with pytest.raises(StageError, match=f"no stage '{name}'; it has .*layer1.0, .*layer4.1.conv1"):
            build_resnet(random_resnet(bottleneck=False), Preprocessing(), stages=[name])


@pytest.mark.parametrize("recipe", [RESNET18, RESNET50, RESNET50_KERAS], ids=lambda recipe: recipe.name)
def test_the_stages_of_the_recipes_are_there_and_as_wide_as_they_say(
    recipe: Recipe, random_resnet: Callable[..., Weights]
) -> None:
    depths, expansion = ((2, 2, 2, 2), 1) if recipe is RESNET18 else ((3, 4, 6, 3), 4)
    narrow = random_resnet(bottleneck=recipe is not RESNET18, depths=depths)
    model = build_resnet(narrow, Preprocessing(), stages=recipe.stages)
    blocks = blocks_from_text({entry.key: entry.value for entry in model.metadata_props}["blocks"])
    assert recipe.facts is not None
    assert recipe.facts.width == 512 * expansion
    assert recipe.facts.stages_width == 8 * sum(
        block.width for block in blocks
    )  # 8 times as wide as this one


def test_weights_trained_on_another_range_of_pixels_are_refused(
    random_resnet: Callable[..., Weights],
) -> None:
    weights = random_resnet(bottleneck=True)
    with pytest.raises(
        CheckpointError, match=r"trained on pixels of about .*resnet50_keras takes the weights"
    ):
        build_resnet(weights, RESNET50_KERAS.preprocessing)
    weights["bn1.running_var"] *= 64**2
    with pytest.raises(CheckpointError, match="trained on pixels of about"):
        build_resnet(weights, RESNET50.preprocessing)
    assert build_resnet(weights, RESNET50_KERAS.preprocessing)


@pytest.mark.torch
@pytest.mark.parametrize("arithmetic", [TORCHVISION, KERAS], ids=["torchvision", "keras"])
@pytest.mark.parametrize("bottleneck", [False, True])
@pytest.mark.parametrize("size", [64, 45])
def test_a_random_network_equals_torch(
    arithmetic: ResNetArithmetic, bottleneck: bool, size: int, random_resnet: Callable[..., Weights]
) -> None:
    pytest.importorskip("torch")
    weights = random_resnet(bottleneck=bottleneck)
    looking = Preprocessing(size=size, resize=size)
    pixels = np.random.default_rng(1).integers(0, 256, (2, size, size, 3), dtype=np.uint8)
    stages = ["layer4.0", "layer3.1", "layer4.1.conv1", "layer2.0.conv1"]
    model = build_resnet(weights, looking, stages=stages, logits=True, arithmetic=arithmetic)
    expected = torch_resnet(weights, looking.normalise(pixels), arithmetic)
    for output, names in {"features": ["last", *stages], "logits": ["logits"]}.items():
        found = OnnxSession(model.SerializeToString(), output=output).run(pixels)
        torchs = np.concatenate([expected[name] for name in names], axis=1)
        assert np.abs(found - torchs).max() < 1e-4 * max(1, np.abs(torchs).max())
