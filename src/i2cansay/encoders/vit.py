"""Vision transformers in the layout of keys that DINO, DeiT and timm share."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.encoders.checkpoint import CheckpointError, Weights
from i2cansay.encoders.graph import Graph
from i2cansay.encoders.preprocessing import Preprocessing, SizeError
from i2cansay.encoders.recipe import OfficialFile, Recipe

EPSILON = 1e-6
# The number of heads is not in the weights: 64 dimensions to a head, except in the largest models.
HEADS = {1280: 16, 1408: 16, 1664: 16}


def build_vit(weights: Weights, preprocessing: Preprocessing, *, logits: bool = False) -> Any:
    """Write a vision transformer as an ONNX model; `features` is the normalised CLS token."""
    patches = weights["patch_embed.proj.weight"]
    dim, patch = patches.shape[0], patches.shape[2]
    heads = HEADS.get(dim, dim // 64)
    if dim % 64:
        raise CheckpointError(f"expected a transformer whose width is a multiple of 64, got {dim}")
    if preprocessing.size % patch:
        raise SizeError(
            f"expected a size that is a multiple of the patch of {patch} pixels, got {preprocessing.size}"
        )
    graph = Graph(preprocessing, fixed_size=True)
    x = graph.convolution(graph.pixels(), patches, weights["patch_embed.proj.bias"], strides=[patch, patch])
    x = graph.add("Reshape", x, graph.constant(np.array([0, dim, -1])))
    x = graph.add("Transpose", x, perm=[0, 2, 1])
    x = _with_class_token(graph, x, weights, preprocessing.size // patch)
    for block in count():
        prefix = f"blocks.{block}."
        if block > 0 and f"{prefix}norm1.weight" not in weights:
            break
        x = graph.add("Add", x, _attention(graph, x, weights, prefix, heads))
        x = graph.add("Add", x, _mlp(graph, x, weights, prefix))
    # Only the CLS token is read, so only it needs the last norm.
    x = graph.add("Gather", x, graph.constant(np.array(0)), axis=1)
    outputs = {"features": _norm(graph, x, weights, "norm")}
    if logits:
        outputs["logits"] = graph.linear(outputs["features"], weights["head.weight"], weights["head.bias"])
    return graph.model(outputs, dim=dim)


def vit_shape(weights: Weights) -> str:
    """Say a vision transformer's depth, width and patch.

    Examples
    --------
    >>> vit_shape({"patch_embed.proj.weight": np.ones((64, 3, 8, 8)), "blocks.0.norm1.weight": np.ones(64)})
    '1 blocks of width 64 over patches of 8 pixels'
    """
    width, _, patch, _ = weights["patch_embed.proj.weight"].shape
    depth = sum(f"blocks.{block}.norm1.weight" in weights for block in range(len(weights)))
    return f"{depth} blocks of width {width} over patches of {patch} pixels"


def _with_class_token(graph: Graph, x: str, weights: Weights, side: int) -> str:
    """Put the CLS token before the patches and add the position embedding.

    The token is a learnt constant, and the batch may have any size: one zero row at the front makes room,
    and the constant is part of what is added.
    """
    positions = resize_positions(weights["pos_embed"], side)
    positions[:, :1] += weights["cls_token"].astype(np.float32)
    room = graph.add("Pad", x, graph.constant(np.array([0, 1, 0, 0, 0, 0])))
    return graph.add("Add", room, graph.constant(positions))


def _attention(graph: Graph, x: str, weights: Weights, prefix: str, heads: int) -> str:
    dim = weights[f"{prefix}norm1.weight"].shape[0]
    x = _linear(graph, _norm(graph, x, weights, f"{prefix}norm1"), weights, f"{prefix}attn.qkv")
    x = graph.add("Reshape", x, graph.constant(np.array([0, 0, 3, heads, dim // heads])))
    x = graph.add("Transpose", x, perm=[2, 0, 3, 1, 4])
    query, key, value = (graph.add("Gather", x, graph.constant(np.array(i)), axis=0) for i in range(3))
    query = graph.add("Mul", query, graph.constant(np.array((dim // heads) ** -0.5)))
    likeness = graph.add("MatMul", query, graph.add("Transpose", key, perm=[0, 1, 3, 2]))
    x = graph.add("MatMul", graph.add("Softmax", likeness, axis=-1), value)
    x = graph.add(
        "Reshape", graph.add("Transpose", x, perm=[0, 2, 1, 3]), graph.constant(np.array([0, 0, dim]))
    )
    return _scaled(graph, _linear(graph, x, weights, f"{prefix}attn.proj"), weights, f"{prefix}ls1.gamma")


def _mlp(graph: Graph, x: str, weights: Weights, prefix: str) -> str:
    x = _linear(graph, _norm(graph, x, weights, f"{prefix}norm2"), weights, f"{prefix}mlp.fc1")
    # The exact GELU, x (1 + erf(x / sqrt 2)) / 2, in the shape that ONNX Runtime fuses into one kernel
    bell = graph.add("Erf", graph.add("Div", x, graph.constant(np.array(2.0**0.5))))
    x = graph.add("Mul", x, graph.add("Add", bell, graph.constant(np.array(1.0))))
    x = graph.add("Mul", x, graph.constant(np.array(0.5)))
    return _scaled(graph, _linear(graph, x, weights, f"{prefix}mlp.fc2"), weights, f"{prefix}ls2.gamma")


def _linear(graph: Graph, x: str, weights: Weights, name: str) -> str:
    return graph.linear(x, weights[f"{name}.weight"], weights.get(f"{name}.bias"))


def _norm(graph: Graph, x: str, weights: Weights, name: str) -> str:
    return graph.layer_norm(x, weights[f"{name}.weight"], weights[f"{name}.bias"], EPSILON)


def _scaled(graph: Graph, x: str, weights: Weights, name: str) -> str:
    """Layer scale, where the model has it."""
    return graph.add("Mul", x, graph.constant(weights[name])) if name in weights else x


def resize_positions(positions: NDArray[Any], side: int) -> NDArray[np.float32]:
    """Interpolate a position embedding for another number of patches.

    Parameters
    ----------
    positions : ndarray of shape (1, 1 + old * old, dim)
        The CLS token's first.
    side : int
        The wanted number of patches along a side.

    Returns
    -------
    ndarray of shape (1, 1 + side * side, dim), float32
        Bicubic, as torch's `interpolate(mode="bicubic")`.

    Examples
    --------
    >>> resize_positions(np.ones((1, 1 + 4 * 4, 2)), 6).shape
    (1, 37, 2)
    """
    n_patches, dim = positions.shape[1] - 1, positions.shape[2]
    old = round(n_patches**0.5)
    if old * old != n_patches:
        raise CheckpointError(
            f"expected positions of a CLS token and a square of patches, got {n_patches + 1}"
        )
    if old == side:
        return np.array(positions, dtype=np.float32)
    grid = positions[0, 1:].astype(np.float64).reshape(old, old, dim)
    weights = cubic_weights(old, side)
    resized = np.einsum("ai,bj,ijd->abd", weights, weights, grid, optimize=True).reshape(1, side * side, dim)
    return np.concatenate([positions[:, :1], resized], axis=1).astype(np.float32)


def cubic_weights(old: int, new: int) -> NDArray[np.float64]:
    """Return the (new, old) matrix of cubic interpolation (a = -0.75, pixel centres, edges repeated)."""
    at = (np.arange(new) + 0.5) * old / new - 0.5
    matrix = np.zeros((new, old))
    for neighbour in range(-1, 3):
        source = np.floor(at).astype(int) + neighbour
        distance = np.abs(at - source)
        near = (1.25 * distance - 2.25) * distance**2 + 1
        far = -0.75 * (((distance - 5) * distance + 8) * distance - 4)
        weight = np.where(distance <= 1, near, far)
        np.add.at(matrix, (np.arange(new), source.clip(0, old - 1)), weight)
    return matrix


DINO_VITS8 = Recipe(
    name="dino_vits8",
    summary="DINO ViT-S/8, ImageNet-1k without labels",
    build=build_vit,
    preprocessing=Preprocessing(),
    files=(
        OfficialFile(
            "dino_deitsmall8_pretrain.pth",
            "https://dl.fbaipublicfiles.com/dino/dino_deitsmall8_pretrain/dino_deitsmall8_pretrain.pth",
        ),
    ),
    fixed_size=True,
    shape_of=vit_shape,
    shape="12 blocks of width 384 over patches of 8 pixels",
)
DEIT_TINY = Recipe(
    name="deit_tiny",
    summary="DeiT-Tiny, patch 16, ImageNet-1k",
    build=build_vit,
    preprocessing=Preprocessing(),
    files=(
        OfficialFile(
            "deit_tiny_patch16_224-a1311bcf.pth",
            "https://dl.fbaipublicfiles.com/deit/deit_tiny_patch16_224-a1311bcf.pth",
            "a1311bcf",
        ),
        # The same network converted to half precision, which nobody publishes under a fixed hash
        OfficialFile("deit_tiny_patch16_224.fp16.safetensors", ""),
    ),
    fixed_size=True,
    shape_of=vit_shape,
    shape="12 blocks of width 192 over patches of 16 pixels",
)
VIT = Recipe(
    name="vit",
    summary="any vision transformer with DINO's or timm's keys",
    build=build_vit,
    preprocessing=Preprocessing(),
    fixed_size=True,
)
