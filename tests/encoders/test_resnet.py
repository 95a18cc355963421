"""ResNets in torchvision's layout, and their official files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from i2cansay.encoders.checkpoint import CheckpointError, Weights
from i2cansay.encoders.onnx_session import OnnxSession
from i2cansay.encoders.preprocessing import Preprocessing
from i2cansay.encoders.resnet import RESNET, RESNET18, RESNET50, build_resnet, resnet_shape

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


@pytest.mark.torch
@pytest.mark.parametrize("bottleneck", [False, True])
@pytest.mark.parametrize("size", [64, 45])
def test_a_random_network_equals_torch(
    bottleneck: bool, size: int, random_resnet: Callable[..., Weights]
) -> None:
    pytest.importorskip("torch")
    weights = random_resnet(bottleneck=bottleneck)
    looking = Preprocessing(size=size, resize=size)
    pixels = np.random.default_rng(1).integers(0, 256, (2, size, size, 3), dtype=np.uint8)
    features = OnnxSession(build_resnet(weights, looking).SerializeToString()).run(pixels)
    expected = _torch_reference(weights, looking.normalise(pixels))
    assert np.abs(features - expected).max() < 1e-4 * max(1, np.abs(expected).max())


def _torch_reference(weights: Weights, numbers: NDArray[np.float32]) -> NDArray[Any]:
    """A ResNet written out in torch, batch norms unfolded."""
    import torch
    from torch.nn import functional as F

    w = {key: torch.from_numpy(np.asarray(value)).float() for key, value in weights.items()}

    def layer(x: Any, name: str, norm: str, stride: int = 1) -> Any:
        kernel = w[f"{name}.weight"]
        x = F.conv2d(x, kernel, stride=stride, padding=kernel.shape[-1] // 2)
        parts = [w[f"{norm}.{part}"] for part in ("running_mean", "running_var", "weight", "bias")]
        return F.batch_norm(x, *parts, eps=1e-5)

    x = F.relu(layer(torch.from_numpy(numbers.transpose(0, 3, 1, 2).copy()), "conv1", "bn1", 2))
    x = F.max_pool2d(x, 3, 2, 1)
    for stage in (1, 2, 3, 4):
        for block in (0, 1):
            name = f"layer{stage}.{block}."
            stride = 2 if stage > 1 and block == 0 else 1
            if f"{name}conv3.weight" in w:
                y = F.relu(layer(x, f"{name}conv1", f"{name}bn1"))
                y = F.relu(layer(y, f"{name}conv2", f"{name}bn2", stride))
                y = layer(y, f"{name}conv3", f"{name}bn3")
            else:
                y = F.relu(layer(x, f"{name}conv1", f"{name}bn1", stride))
                y = layer(y, f"{name}conv2", f"{name}bn2")
            if f"{name}downsample.0.weight" in w:
                x = layer(x, f"{name}downsample.0", f"{name}downsample.1", stride)
            x = F.relu(x + y)
    return np.asarray(x.mean(dim=(2, 3)).numpy())
