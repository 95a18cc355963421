"""A cache folder for these tests alone, and small random checkpoints in the published layouts of keys."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

Weights = dict[str, NDArray[Any]]


@pytest.fixture(scope="session", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("I2CANSAY_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder in which nothing has been built or added."""
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def data_folders() -> list[Path]:
    return [Path(folder) for folder in os.environ.get("I2CANSAY_DATA", "").split(os.pathsep) if folder]


class RandomWeights(dict[str, NDArray[Any]]):
    """Weights that grow by name, scaled so that activations keep their size from layer to layer."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.rng = np.random.default_rng(seed)

    def normal(self, name: str, *shape: int, scale: float = 1.0, shift: float = 0.0) -> None:
        self[name] = (shift + scale * self.rng.normal(size=shape)).astype(np.float32)

    def convolution(self, name: str, norm: str, out: int, into: int, kernel: int) -> None:
        self.normal(f"{name}.weight", out, into, kernel, kernel, scale=(2 / (into * kernel**2)) ** 0.5)
        self.normal(f"{norm}.weight", out, scale=0.2, shift=1.0)
        self.normal(f"{norm}.bias", out, scale=0.2)
        self.normal(f"{norm}.running_mean", out, scale=0.2)
        self[f"{norm}.running_var"] = self.rng.uniform(0.5, 1.5, out).astype(np.float32)
        self[f"{norm}.num_batches_tracked"] = np.array(7)

    def linear(self, name: str, out: int, into: int) -> None:
        self.normal(f"{name}.weight", out, into, scale=into**-0.5)
        self.normal(f"{name}.bias", out, scale=0.2)

    def norm(self, name: str, width: int) -> None:
        self.normal(f"{name}.weight", width, scale=0.2, shift=1.0)
        self.normal(f"{name}.bias", width, scale=0.2)


@pytest.fixture
def random_resnet() -> Callable[..., Weights]:
    """Make a narrow ResNet with torchvision's keys: basic blocks, or bottlenecks."""

    def make(*, bottleneck: bool, depths: Sequence[int] = (2, 2, 2, 2), seed: int = 0) -> Weights:
        weights = RandomWeights(seed)
        weights.convolution("conv1", "bn1", 8, 3, 7)
        width_in, expansion = 8, 4 if bottleneck else 1
        for stage in range(4):
            width = 8 * 2**stage
            for block in range(depths[stage]):
                prefix = f"layer{stage + 1}.{block}."
                shapes = [(width, width_in, 3), (width, width, 3)]
                if bottleneck:
                    shapes = [(width, width_in, 1), (width, width, 3), (4 * width, width, 1)]
                for i, (out, into, kernel) in enumerate(shapes, start=1):
                    weights.convolution(f"{prefix}conv{i}", f"{prefix}bn{i}", out, into, kernel)
                if width_in != width * expansion:
                    weights.convolution(
                        f"{prefix}downsample.0", f"{prefix}downsample.1", width * expansion, width_in, 1
                    )
                width_in = width * expansion
        weights.linear("fc", 10, width_in)
        return dict(weights)

    return make


@pytest.fixture
def random_vit() -> Callable[..., Weights]:
    """Make a small vision transformer with DINO's and timm's keys."""

    def make(*, dim: int = 128, depth: int = 2, patch: int = 8, grid: int = 4, seed: int = 0) -> Weights:
        weights = RandomWeights(seed)
        weights.normal("cls_token", 1, 1, dim)
        weights.normal("pos_embed", 1, 1 + grid * grid, dim)
        weights.normal("patch_embed.proj.weight", dim, 3, patch, patch, scale=1 / (patch * 3**0.5))
        weights.normal("patch_embed.proj.bias", dim)
        for block in range(depth):
            prefix = f"blocks.{block}."
            weights.norm(f"{prefix}norm1", dim)
            weights.linear(f"{prefix}attn.qkv", 3 * dim, dim)
            weights.linear(f"{prefix}attn.proj", dim, dim)
            weights.norm(f"{prefix}norm2", dim)
            weights.linear(f"{prefix}mlp.fc1", 4 * dim, dim)
            weights.linear(f"{prefix}mlp.fc2", dim, 4 * dim)
        weights.norm("norm", dim)
        weights.linear("head", 10, dim)
        return dict(weights)

    return make


@pytest.fixture
def random_efficientnet() -> Callable[..., Weights]:
    """Make a narrow EfficientNet-Lite with the published keys: all seven stages, kernels 3 and 5."""

    def make(*, seed: int = 0) -> Weights:
        weights = RandomWeights(seed)
        weights.convolution("_conv_stem", "_bn0", 8, 3, 3)
        width, block = 8, 0
        for stage, (out, kernel, repeats) in enumerate(
            [(4, 3, 1), (6, 3, 2), (8, 5, 2), (10, 3, 1), (12, 5, 2), (14, 5, 1), (16, 3, 1)]
        ):
            for _ in range(repeats):
                prefix = f"_blocks.{block}."
                inner = width if stage == 0 else 6 * width
                if stage > 0:
                    weights.convolution(f"{prefix}_expand_conv", f"{prefix}_bn0", inner, width, 1)
                weights.convolution(f"{prefix}_depthwise_conv", f"{prefix}_bn1", inner, 1, kernel)
                weights.convolution(f"{prefix}_project_conv", f"{prefix}_bn2", out, inner, 1)
                width, block = out, block + 1
        weights.convolution("_conv_head", "_bn1", 32, width, 1)
        weights.linear("_fc", 10, 32)
        return dict(weights)

    return make
