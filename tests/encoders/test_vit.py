"""Vision transformers: against an independent one in numpy, against torch, and a real DeiT-Tiny."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import erf, softmax
from sklearn.datasets import load_sample_images

from i2cansay.encoders import get_encoder
from i2cansay.encoders.checkpoint import CheckpointError, Weights, read_checkpoint
from i2cansay.encoders.onnx_session import OnnxSession
from i2cansay.encoders.position_embedding import cubic_weights, resize_positions
from i2cansay.encoders.preprocessing import Preprocessing, SizeError
from i2cansay.encoders.stages import StageError
from i2cansay.encoders.vit import TIMM, ViTArithmetic, build_vit, vit_shape
from i2cansay.encoders.vit_recipes import DEIT_TINY, DINO_VITS8, VIT
from tests.encoders.torch_vit import torch_vit

LOOKING = Preprocessing(size=32, resize=32)
PALACE, DAISY = 698, 985


def random_pixels(n: int, size: int) -> NDArray[np.uint8]:
    return np.random.default_rng(1).integers(0, 256, (n, size, size, 3), dtype=np.uint8)


def by_hand(weights: Weights, numbers: NDArray[np.float32], heads: int) -> NDArray[np.float64]:
    """The CLS token of a vision transformer, image by image and head by head, in float64."""
    w = {key: value.astype(np.float64) for key, value in weights.items()}
    patch = w["patch_embed.proj.weight"].shape[-1]
    dim = w["cls_token"].shape[-1]
    grid = numbers.shape[1] // patch

    def norm(x: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        centred = x - x.mean(axis=-1, keepdims=True)
        centred /= np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-6)
        return np.asarray(centred * w[f"{name}.weight"] + w[f"{name}.bias"])

    def linear(x: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    features = []
    for image in numbers.astype(np.float64):
        tokens = [w["cls_token"][0, 0]]
        for row in range(grid):
            for column in range(grid):
                tile = image[row * patch : (row + 1) * patch, column * patch : (column + 1) * patch]
                kernel = w["patch_embed.proj.weight"].transpose(0, 2, 3, 1)
                tokens.append((kernel * tile).sum(axis=(1, 2, 3)) + w["patch_embed.proj.bias"])
        x = np.stack(tokens) + w["pos_embed"][0]
        for block in range(2):
            name = f"blocks.{block}."
            query, key, value = np.split(linear(norm(x, f"{name}norm1"), f"{name}attn.qkv"), 3, axis=1)
            mixed = []
            for head in range(heads):
                part = slice(head * dim // heads, (head + 1) * dim // heads)
                likeness = query[:, part] @ key[:, part].T / np.sqrt(dim / heads)
                mixed.append(softmax(likeness, axis=1) @ value[:, part])
            x = x + linear(np.concatenate(mixed, axis=1), f"{name}attn.proj")
            y = linear(norm(x, f"{name}norm2"), f"{name}mlp.fc1")
            x = x + linear(y * (1 + erf(y / np.sqrt(2))) / 2, f"{name}mlp.fc2")
        features.append(norm(x, "norm")[0])
    return np.stack(features)


def test_a_random_transformer_equals_one_written_by_hand(random_vit: Callable[..., Weights]) -> None:
    weights = random_vit()
    pixels = random_pixels(2, 32)
    features = OnnxSession(build_vit(weights, LOOKING).SerializeToString()).run(pixels)
    assert np.abs(features - by_hand(weights, LOOKING.normalise(pixels), heads=2)).max() < 1e-4


def test_layer_scale_is_applied(random_vit: Callable[..., Weights]) -> None:
    weights = random_vit(depth=1)
    pixels = random_pixels(2, 32)
    plain = OnnxSession(build_vit(weights, LOOKING).SerializeToString()).run(pixels)
    scaled = dict(weights)
    for layer, scale in (("attn.proj", "ls1"), ("mlp.fc2", "ls2")):
        gamma = np.linspace(0.5, 2, 128, dtype=np.float32)
        scaled[f"blocks.0.{scale}.gamma"] = gamma
        scaled[f"blocks.0.{layer}.weight"] = weights[f"blocks.0.{layer}.weight"] / gamma[:, None]
        scaled[f"blocks.0.{layer}.bias"] = weights[f"blocks.0.{layer}.bias"] / gamma
    assert np.allclose(
        OnnxSession(build_vit(scaled, LOOKING).SerializeToString()).run(pixels), plain, atol=1e-4
    )


def test_positions_of_the_same_grid_stay(random_vit: Callable[..., Weights]) -> None:
    positions = random_vit()["pos_embed"]
    assert np.array_equal(resize_positions(positions, 4), positions)
    assert np.array_equal(resize_positions(positions, 7)[:, 0], positions[:, 0])


def test_interpolation_keeps_constants_and_inner_slopes() -> None:
    for old, new in ((4, 7), (14, 20), (28, 14)):
        weights = cubic_weights(old, new)
        assert np.allclose(weights.sum(axis=1), 1)
        at = (np.arange(new) + 0.5) * old / new - 0.5
        inner = (at >= 1) & (at <= old - 2)
        # A cubic with a = -0.75 bends a slope by at most a twentieth of a step.
        assert np.abs((weights @ np.arange(old))[inner] - at[inner]).max() < 0.05


def test_other_sizes_work(random_vit: Callable[..., Weights]) -> None:
    looking = Preprocessing(size=56, resize=56)
    features = OnnxSession(build_vit(random_vit(), looking).SerializeToString()).run(random_pixels(3, 56))
    assert features.shape == (3, 128)
    assert np.isfinite(features).all()


def test_what_is_not_supported_is_named(random_vit: Callable[..., Weights]) -> None:
    for extra in ("dist_token", "blocks.1.attn.k_norm.weight", "blocks.0.attn.relative_position_bias_table"):
        with pytest.raises(CheckpointError, match=f"not the weights of vit, which has no '{extra}'"):
            VIT.build_model({**random_vit(), extra: np.zeros((1, 1, 128))}, LOOKING)
    assert VIT.build_model({**random_vit(), "mask_token": np.zeros((1, 128))}, LOOKING)
    with pytest.raises(SizeError, match="multiple of the patch of 8"):
        VIT.build_model(random_vit(), Preprocessing(size=33, resize=33))
    with pytest.raises(ValueError, match="multiple of 64"):
        build_vit(random_vit(dim=96), LOOKING)
    with pytest.raises(CheckpointError, match="square of patches"):
        resize_positions(np.zeros((1, 12, 8)), 5)


def test_a_name_stands_for_one_depth_width_and_patch(random_vit: Callable[..., Weights]) -> None:
    tiny, small = {"dim": 192, "patch": 16, "depth": 12}, {"dim": 384, "patch": 8, "depth": 12}
    assert DEIT_TINY.build_model(random_vit(**tiny), LOOKING)
    for other in ({"depth": 2}, {"dim": 128}, {"patch": 8}):
        with pytest.raises(CheckpointError, match="deit_tiny has 12 blocks of width 192 over patches of 16"):
            DEIT_TINY.build_model(random_vit(**(tiny | other)), LOOKING)
    assert vit_shape(random_vit(**small)) == DINO_VITS8.shape
    with pytest.raises(CheckpointError, match="dino_vits8 has 12 blocks of width 384"):
        DINO_VITS8.build_model(random_vit(), LOOKING)


@pytest.mark.parametrize(
    ("key", "shape"), [("pos_embed", (1, 17, 65)), ("blocks.1.attn.qkv.weight", (380, 128))]
)
def test_weights_of_wrong_shapes_are_refused(
    key: str, shape: tuple[int, ...], random_vit: Callable[..., Weights], tmp_path: Path
) -> None:
    np.savez(tmp_path / "bad.npz", **{**random_vit(), key: np.ones(shape)})  # type: ignore[arg-type]
    with pytest.raises(CheckpointError, match=r"of these weights cannot be run|do not make a vit"):
        get_encoder("vit", weights=tmp_path / "bad.npz")


@pytest.fixture
def deit_tiny(data_folders: list[Path]) -> Path:
    for folder in data_folders:
        for file in DEIT_TINY.files:
            if (folder / "weights" / file.name).is_file():
                return folder / "weights" / file.name
    pytest.skip("no DeiT-Tiny in the folders of I2CANSAY_DATA")


@pytest.mark.data
def test_a_real_transformer_knows_the_sample_photographs(deit_tiny: Path) -> None:
    encoder = get_encoder("deit_tiny")
    squares = np.stack([encoder.prepare(image) for image in load_sample_images().images])
    model = build_vit(read_checkpoint(deit_tiny), encoder.preprocessing, logits=True)
    best = OnnxSession(model.SerializeToString(), output="logits").run(squares).argsort(axis=1)[:, ::-1]
    assert best[0, 0] == PALACE
    assert DAISY in best[1, :5]
    assert encoder.encode(load_sample_images().images).shape == (2, 192)


@pytest.mark.data
def test_a_real_transformer_sees_the_same_at_another_size(deit_tiny: Path) -> None:
    """Were the positions scrambled by the interpolation, the features would not resemble each other."""
    photographs = load_sample_images().images
    usual, larger = (
        get_encoder("deit_tiny", size=size, weights=deit_tiny).encode(photographs) for size in (224, 288)
    )
    likeness = np.corrcoef(np.concatenate([usual, larger]))[:2, 2:]
    assert np.diag(likeness).min() > 0.7
    assert np.diag(likeness).min() > max(likeness[0, 1], likeness[1, 0]) + 0.3


def test_stages_stand_beside_the_last_layer(random_vit: Callable[..., Weights]) -> None:
    weights, pixels = random_vit(depth=3), random_pixels(2, 32)
    last = OnnxSession(build_vit(weights, LOOKING).SerializeToString()).run(pixels)
    names = ["block2.patches", "block1.class", "block0.patches"]
    both = OnnxSession(build_vit(weights, LOOKING, stages=names).SerializeToString()).run(pixels)
    assert both.shape == (2, 4 * 128)
    assert np.allclose(both[:, :128], last, atol=1e-5)
    one_block = {key: array for key, array in weights.items() if not key.startswith("blocks.2.")}
    after_two = OnnxSession(build_vit(one_block, LOOKING).SerializeToString()).run(pixels)
    assert np.allclose(both[:, 256:384], after_two, atol=1e-5)


def test_nothing_is_added_for_stages_that_are_not_wanted(random_vit: Callable[..., Weights]) -> None:
    """One norm before each half of a block, one before and one after them all."""
    nodes = build_vit(random_vit(depth=3), LOOKING).graph.node
    assert sum(node.op_type == "LayerNormalization" for node in nodes) == 7


def test_the_class_token_of_the_last_block_is_a_stage_only_before_a_projection(
    random_vit: Callable[..., Weights],
) -> None:
    weights, pixels = random_vit(), random_pixels(2, 32)
    with pytest.raises(
        StageError, match=r"no stage 'block1.class'; it has block0.class, block0.patches, block1"
    ):
        build_vit(weights, LOOKING, stages=["block1.class"])
    weights["projection.weight"] = np.random.default_rng(2).normal(size=(96, 128)).astype(np.float32)
    both = OnnxSession(build_vit(weights, LOOKING, stages=["block1.class"]).SerializeToString()).run(pixels)
    assert np.allclose(both[:, 96:] @ weights["projection.weight"].T, both[:, :96], atol=1e-3)


@pytest.mark.torch
@pytest.mark.parametrize("size", [32, 48, 24])
@pytest.mark.parametrize(
    "arithmetic", [TIMM, ViTArithmetic(1e-5, quick_gelu=True, first_norm=True)], ids=["timm", "openai"]
)
def test_a_random_transformer_equals_torch(
    size: int, arithmetic: ViTArithmetic, random_vit: Callable[..., Weights]
) -> None:
    pytest.importorskip("torch")
    looking, pixels = Preprocessing(size=size, resize=size), random_pixels(2, size)
    weights = random_vit(depth=3)
    if arithmetic.first_norm:
        weights |= {"norm_pre.weight": np.linspace(0.5, 2, 128), "norm_pre.bias": np.linspace(-1, 1, 128)}
    stages = ["block2.patches", "block1.class", "block0.patches"]
    model = build_vit(weights, looking, stages=stages, arithmetic=arithmetic)
    expected = torch_vit(weights, looking.normalise(pixels), heads=2, arithmetic=arithmetic)
    found = OnnxSession(model.SerializeToString()).run(pixels)
    assert np.abs(found - np.concatenate([expected[name] for name in ("last", *stages)], axis=1)).max() < 1e-4


@pytest.mark.torch
@pytest.mark.data
def test_the_real_transformer_equals_torch(deit_tiny: Path) -> None:
    pytest.importorskip("torch")
    encoder = get_encoder("deit_tiny", weights=deit_tiny, features="stages")
    squares = np.stack([encoder.prepare(image) for image in load_sample_images().images])
    pooled = torch_vit(read_checkpoint(deit_tiny), encoder.preprocessing.normalise(squares), heads=3)
    stages = [pooled[stage.name] * stage.scale for stage in DEIT_TINY.stages]
    expected = np.concatenate([pooled["last"], *stages], axis=1)
    assert np.abs(encoder.infer(squares) - expected).max() < 1e-4 * np.abs(expected).max()
