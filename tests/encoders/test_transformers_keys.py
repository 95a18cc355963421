"""Networks that the library transformers makes and saves: its key names and its arithmetic, not ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from i2cansay.encoders.added import add_encoder
from i2cansay.encoders.checkpoint import CheckpointError, Weights, read_checkpoint
from i2cansay.encoders.preprocessing import Preprocessing
from i2cansay.encoders.recipe import Recipe
from i2cansay.encoders.stages import Stage
from i2cansay.encoders.transformers_keys import clip_keys, dinov2_keys
from i2cansay.encoders.vit import vit_shape
from i2cansay.encoders.vit_recipes import CLIP_VITB32, DINOV2_VITS14, VIT

STAGES = (Stage("block1.patches"), Stage("block1.class"), Stage("block0.patches"))


def as_dinov2(weights: Weights) -> Weights:
    """Weights under `build_vit`'s keys as transformers writes them."""
    renamed: Weights = {}
    for key, array in weights.items():
        match key.split("."):
            case ["cls_token" | "mask_token"]:
                renamed[f"embeddings.{key}"] = array
            case ["pos_embed"]:
                renamed["embeddings.position_embeddings"] = array
            case ["patch_embed", _, part]:
                renamed[f"embeddings.patch_embeddings.projection.{part}"] = array
            case ["blocks", block, "attn", "qkv", part]:
                for name, third in zip(("query", "key", "value"), np.split(array, 3), strict=True):
                    renamed[f"encoder.layer.{block}.attention.attention.{name}.{part}"] = third
            case ["blocks", block, "attn", "proj", part]:
                renamed[f"encoder.layer.{block}.attention.output.dense.{part}"] = array
            case ["blocks", block, *rest]:
                renamed[f"encoder.layer.{block}.{'.'.join(rest)}"] = array
            case ["norm", part]:
                renamed[f"layernorm.{part}"] = array
    return renamed


def test_published_and_own_keys_are_the_same_encoder(
    random_vit: Callable[..., Weights], tmp_path: Path, empty_cache: Path
) -> None:
    own = random_vit(dim=384, depth=12, patch=14)
    save_file(own, tmp_path / "own.safetensors")
    save_file(as_dinov2(own), tmp_path / "published.safetensors")
    first, second = (
        DINOV2_VITS14.open(weights=tmp_path / f"{name}.safetensors", size=28) for name in ("own", "published")
    )
    assert first.fingerprint == second.fingerprint
    pixels = np.random.default_rng(0).integers(0, 256, (2, 28, 28, 3), dtype=np.uint8)
    assert np.array_equal(first.infer(pixels), second.infer(pixels))
    added = add_encoder("dinov2_vits14", tmp_path / "published.safetensors")
    assert added.fingerprint == DINOV2_VITS14.open(weights=tmp_path / "own.safetensors").fingerprint


def test_renaming_twice_is_renaming_once(random_vit: Callable[..., Weights]) -> None:
    once = dinov2_keys(as_dinov2(random_vit()))
    twice = dinov2_keys(once)
    assert {key: id(array) for key, array in once.items()} == {key: id(array) for key, array in twice.items()}


def test_keys_that_do_not_belong_together_are_named(random_vit: Callable[..., Weights]) -> None:
    published = as_dinov2(random_vit())
    with pytest.raises(CheckpointError, match="it has 'cls_token' twice"):
        dinov2_keys({**published, "cls_token": np.ones((1, 1, 128))})
    with pytest.raises(CheckpointError, match=r"twice, once as 'encoder.layer.0.attention.attention"):
        dinov2_keys({**published, "blocks.0.attn.qkv.weight": np.ones((384, 128))})
    with pytest.raises(CheckpointError, match=r"vit, which has no 'embeddings.register_tokens'"):
        VIT.build_model(
            {**published, "embeddings.register_tokens": np.ones((1, 4, 128))}, Preprocessing(size=32)
        )
    del published["encoder.layer.1.attention.attention.value.bias"]
    with pytest.raises(
        CheckpointError, match=r"query, a key and a value for 'blocks.1.attn.qkv.bias', found 2"
    ):
        dinov2_keys(published)


def test_a_clip_of_another_size_is_refused() -> None:
    tower = {
        "vision_model.embeddings.patch_embedding.weight": np.ones((1024, 3, 14, 14)),
        "vision_model.encoder.layers.0.layer_norm1.weight": np.ones(1024),
    }
    with pytest.raises(CheckpointError, match="these weights have 1 blocks of width 1024 over patches of 14"):
        CLIP_VITB32.build_model(tower, CLIP_VITB32.preprocessing)


def small(recipe: Recipe, size: int) -> Recipe:
    """The recipe for a small network of its kind."""
    looking = replace(recipe.preprocessing, size=size, resize=size)
    return replace(recipe, shape_of=None, stages=STAGES, preprocessing=looking)


def disturb(model: Any) -> Any:
    """Give every parameter of a torch module random values that matter: fresh biases and scales are 0 and 1."""
    import torch

    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn_like(parameter)
            parameter.add_(noise * (0.3 if parameter.ndim < 2 else 0.5 * parameter.shape[-1] ** -0.5))
    return model.eval()


def tokens_of(model: Any, last_norm: Any, batch: Any, **options: Any) -> list[NDArray[Any]]:
    """The tokens after each block as transformers computes them, under the last norm."""
    import torch

    with torch.no_grad():
        hidden = model(batch, output_hidden_states=True, **options).hidden_states
        return [last_norm(each).numpy() for each in hidden[1:]]


def expected_stages(tokens: list[NDArray[Any]]) -> list[NDArray[Any]]:
    return [tokens[1][:, 1:].mean(axis=1), tokens[1][:, 0], tokens[0][:, 1:].mean(axis=1)]


@pytest.mark.torch
@pytest.mark.parametrize("size", [56, 42, 84])  # the positions are those of 56 pixels
def test_dinov2_equals_transformers(size: int, tmp_path: Path, empty_cache: Path) -> None:
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    config = transformers.Dinov2Config(
        hidden_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        mlp_ratio=3,
        image_size=56,
        patch_size=14,
        layerscale_value=0.5,
    )
    model = disturb(transformers.Dinov2Model(config))
    model.save_pretrained(tmp_path)
    recipe = small(DINOV2_VITS14, size)
    stages = STAGES[:1] + STAGES[2:]  # here the class token of the last block is the feature
    encoder = replace(recipe, stages=stages).open(weights=tmp_path / "model.safetensors", features="stages")
    pixels = np.random.default_rng(0).integers(0, 256, (2, size, size, 3), dtype=np.uint8)
    batch = torch.from_numpy(recipe.preprocessing.normalise(pixels).transpose(0, 3, 1, 2).copy())
    with torch.no_grad():
        last = model(batch).pooler_output.numpy()
    patches, _, earlier = expected_stages(tokens_of(model, model.layernorm, batch))
    expected = np.concatenate([last, patches, earlier], axis=1)
    assert np.abs(encoder.infer(pixels) - expected).max() < 1e-4
    assert np.median(np.std(expected, axis=0)) > 1e-2  # the two images differ


@pytest.mark.torch
@pytest.mark.parametrize("size", [32, 24, 48])
def test_clip_equals_transformers(size: int, tmp_path: Path, empty_cache: Path) -> None:
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    model = disturb(small_clip(transformers))
    model.save_pretrained(tmp_path)
    recipe = small(CLIP_VITB32, size)
    encoder = recipe.open(weights=tmp_path / "model.safetensors", features="stages")
    pixels = np.random.default_rng(0).integers(0, 256, (2, size, size, 3), dtype=np.uint8)
    batch = torch.from_numpy(recipe.preprocessing.normalise(pixels).transpose(0, 3, 1, 2).copy())
    larger = {"interpolate_pos_encoding": size != 32}
    with torch.no_grad():
        last = model.get_image_features(batch, **larger).pooler_output.numpy()
    tower = model.vision_model
    tokens = tokens_of(tower, tower.post_layernorm, batch, **larger)
    expected = np.concatenate([last, *expected_stages(tokens)], axis=1)
    assert encoder.dim == 48 + 3 * 128 == expected.shape[1]
    assert np.abs(encoder.infer(pixels) - expected).max() < 1e-4


def small_clip(transformers: Any) -> Any:
    shared = {"num_hidden_layers": 2, "num_attention_heads": 2}
    text = {
        "hidden_size": 64,
        "intermediate_size": 96,
        "vocab_size": 99,
        "eos_token_id": 2,
        "bos_token_id": 1,
    }
    vision = {"hidden_size": 128, "intermediate_size": 192, "image_size": 32, "patch_size": 8}
    config = transformers.CLIPConfig(
        text_config=text | shared, vision_config=vision | shared, projection_dim=48
    )
    return transformers.CLIPModel(config)


@pytest.mark.torch
def test_the_text_tower_is_passed_over(tmp_path: Path, empty_cache: Path) -> None:
    transformers = pytest.importorskip("transformers")
    model = small_clip(transformers)
    model.save_pretrained(tmp_path)
    both = load_file(tmp_path / "model.safetensors")
    # As the published file is: older versions of the library saved two lists of numbers as well.
    both["vision_model.embeddings.position_ids"] = both["text_model.embeddings.position_ids"] = np.arange(17)
    save_file(both, tmp_path / "published.safetensors")
    images = {key: array for key, array in both.items() if key.startswith("vis") and array.dtype.kind == "f"}
    save_file(images, tmp_path / "images.safetensors")
    recipe = small(CLIP_VITB32, 32)
    encoders = [
        recipe.open(weights=tmp_path / f"{name}.safetensors") for name in ("model", "published", "images")
    ]
    assert len({encoder.fingerprint for encoder in encoders}) == 1
    assert not [key for key in clip_keys(both) if key.startswith(("text", "logit"))]
    assert "vision_model.more" in clip_keys({**both, "vision_model.more": np.ones(2)})


@pytest.mark.torch
@pytest.mark.parametrize("recipe", [DINOV2_VITS14, CLIP_VITB32], ids=lambda recipe: recipe.name)
def test_the_shapes_are_those_of_the_published_configurations(recipe: Recipe) -> None:
    """The library's own names for the tensors of a network as large as the published one, without their memory."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    with torch.device("meta"):
        if recipe is CLIP_VITB32:
            network = transformers.CLIPModel(transformers.CLIPConfig())  # the defaults are ViT-B/32
        else:
            config = transformers.Dinov2Config(
                hidden_size=384, num_attention_heads=6, image_size=518, patch_size=14
            )
            network = transformers.Dinov2Model(config)
    patch = [array.shape for array in network.parameters() if array.ndim == 4]
    width, _, side, _ = patch[0]
    assert recipe.shape == f"12 blocks of width {width} over patches of {side} pixels"
    assert recipe.facts is not None
    projected = network.visual_projection.out_features if recipe is CLIP_VITB32 else width
    assert recipe.facts.width == projected
    assert recipe.facts.stages_width == projected + len(recipe.stages) * width


@pytest.mark.torch
def test_torchs_own_file_is_read_as_well(tmp_path: Path, empty_cache: Path) -> None:
    """CLIP's official file is a `pytorch_model.bin`."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    model = small_clip(transformers)
    torch.save(model.state_dict(), tmp_path / "pytorch_model.bin")
    model.save_pretrained(tmp_path)
    recipe = small(CLIP_VITB32, 32)
    fingerprints = {
        recipe.open(weights=tmp_path / name).fingerprint
        for name in ("pytorch_model.bin", "model.safetensors")
    }
    assert len(fingerprints) == 1
    assert vit_shape(clip_keys(read_checkpoint(tmp_path / "pytorch_model.bin"))).startswith(
        "2 blocks of width 128"
    )
