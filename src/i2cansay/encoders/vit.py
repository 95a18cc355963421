"""Vision transformers in the layout of keys that DINO, DINOv2, DeiT and timm share."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import count
from typing import Any

import numpy as np

from i2cansay.encoders.checkpoint import CheckpointError, Weights
from i2cansay.encoders.graph import Graph
from i2cansay.encoders.position_embedding import resize_positions
from i2cansay.encoders.preprocessing import Preprocessing, SizeError
from i2cansay.encoders.stages import Stage

# The number of heads is not in the weights: 64 dimensions to a head, except in the largest models.
HEADS = {1280: 16, 1408: 16, 1664: 16}
LARGEST = np.iinfo(np.int64).max


@dataclass(frozen=True)
class ViTArithmetic:
    """What the weights of a vision transformer do not tell.

    Attributes
    ----------
    epsilon : float
        What layer norms add to a variance.
    quick_gelu : bool
        Whether the activation is x sigmoid(1.702 x) instead of the exact GELU.
    first_norm : bool
        Whether tokens are normalised before the first block (keys `norm_pre`).
    """

    epsilon: float = 1e-6
    quick_gelu: bool = False
    first_norm: bool = False

    def in_words(self) -> str:
        """Say it in a line, which is equal exactly when the arithmetic is."""
        return json.dumps(asdict(self), sort_keys=True)


TIMM = ViTArithmetic()


def build_vit(
    weights: Weights,
    preprocessing: Preprocessing,
    *,
    stages: Sequence[Stage | str] = (),
    logits: bool = False,
    arithmetic: ViTArithmetic = TIMM,
) -> Any:
    """Write a vision transformer as an ONNX model.

    `features` is the normalised class token, multiplied by `projection.weight` where the weights have it. The
    stage "block8.class" is the class token after block 8, counted from 0, "block8.patches" the mean of the other
    tokens there; the network's last norm is applied to both before the mean.
    """
    patches = weights["patch_embed.proj.weight"]
    dim, patch = patches.shape[0], patches.shape[2]
    if dim % 64:
        raise CheckpointError(f"expected a transformer whose width is a multiple of 64, got {dim}")
    if preprocessing.size % patch:
        raise SizeError(
            f"expected a size that is a multiple of the patch of {patch} pixels, got {preprocessing.size}"
        )
    graph = Graph(preprocessing, fixed_size=True, stages=stages)
    network = _Network(graph, weights, arithmetic, heads=HEADS.get(dim, dim // 64))
    x = graph.convolution(
        graph.pixels(), patches, weights.get("patch_embed.proj.bias"), strides=[patch, patch]
    )
    x = graph.add("Reshape", x, graph.constant(np.array([0, dim, -1])))
    x = graph.add("Transpose", x, perm=[0, 2, 1])
    x = network.with_class_token(x, preprocessing.size // patch)
    if arithmetic.first_norm:
        x = network.norm(x, "norm_pre")
    projected = "projection.weight" in weights
    for block in count():
        x = network.block(x, f"blocks.{block}.")
        more = f"blocks.{block + 1}.norm1.weight" in weights
        network.offer(f"block{block}", x, with_class=projected or more)
        if not more:
            break
    features = network.class_token(x)
    if projected:
        features = graph.linear(features, weights["projection.weight"])
        dim = weights["projection.weight"].shape[0]
    outputs = {"features": features}
    if logits:
        outputs["logits"] = graph.linear(features, weights["head.weight"], weights["head.bias"])
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


@dataclass(frozen=True)
class _Network:
    """The layers of one transformer, written into one graph."""

    graph: Graph
    weights: Weights
    arithmetic: ViTArithmetic
    heads: int

    def with_class_token(self, x: str, side: int) -> str:
        """Put the class token before the patches and add the position embedding.

        The token is a learnt constant, and the batch may have any size: one zero row at the front makes room,
        and the constant is part of what is added.
        """
        positions = resize_positions(self.weights["pos_embed"], side)
        positions[:, :1] += self.weights["cls_token"].astype(np.float32)
        room = self.graph.add("Pad", x, self.graph.constant(np.array([0, 1, 0, 0, 0, 0])))
        return self.graph.add("Add", room, self.graph.constant(positions))

    def block(self, x: str, prefix: str) -> str:
        x = self.graph.add("Add", x, self._attention(x, prefix))
        return self.graph.add("Add", x, self._mlp(x, prefix))

    def class_token(self, x: str) -> str:
        """The class token alone, so that no other needs the last norm."""
        return self.norm(self.graph.add("Gather", x, self.graph.constant(np.array(0)), axis=1), "norm")

    def patch_mean(self, x: str) -> str:
        first, end, axis = (self.graph.constant(np.array([each])) for each in (1, LARGEST, 1))
        patches = self.graph.add("Slice", x, first, end, axis)
        return self.graph.add("ReduceMean", self.norm(patches, "norm"), axes=[1], keepdims=0)

    def offer(self, name: str, x: str, *, with_class: bool) -> None:
        if with_class:  # the last block's is the feature itself
            self.graph.stage(f"{name}.class", lambda: self.class_token(x), pool="none")
        self.graph.stage(f"{name}.patches", lambda: self.patch_mean(x), pool="none")

    def norm(self, x: str, name: str) -> str:
        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        return self.graph.layer_norm(x, weight, bias, self.arithmetic.epsilon)

    def _attention(self, x: str, prefix: str) -> str:
        graph, heads = self.graph, self.heads
        dim = self.weights[f"{prefix}norm1.weight"].shape[0]
        x = self._linear(self.norm(x, f"{prefix}norm1"), f"{prefix}attn.qkv")
        x = graph.add("Reshape", x, graph.constant(np.array([0, 0, 3, heads, dim // heads])))
        x = graph.add("Transpose", x, perm=[2, 0, 3, 1, 4])
        query, key, value = (graph.add("Gather", x, graph.constant(np.array(i)), axis=0) for i in range(3))
        query = graph.add("Mul", query, graph.constant(np.array((dim // heads) ** -0.5)))
        likeness = graph.add("MatMul", query, graph.add("Transpose", key, perm=[0, 1, 3, 2]))
        x = graph.add("MatMul", graph.add("Softmax", likeness, axis=-1), value)
        x = graph.add("Transpose", x, perm=[0, 2, 1, 3])
        x = graph.add("Reshape", x, graph.constant(np.array([0, 0, dim])))
        return self._scaled(self._linear(x, f"{prefix}attn.proj"), f"{prefix}ls1.gamma")

    def _mlp(self, x: str, prefix: str) -> str:
        x = self._linear(self.norm(x, f"{prefix}norm2"), f"{prefix}mlp.fc1")
        x = self._linear(self._gelu(x), f"{prefix}mlp.fc2")
        return self._scaled(x, f"{prefix}ls2.gamma")

    def _gelu(self, x: str) -> str:
        graph = self.graph
        if self.arithmetic.quick_gelu:
            gate = graph.add("Sigmoid", graph.add("Mul", x, graph.constant(np.array(1.702))))
            return graph.add("Mul", x, gate)
        # The exact GELU, x (1 + erf(x / sqrt 2)) / 2, in the shape that ONNX Runtime fuses into one kernel
        bell = graph.add("Erf", graph.add("Div", x, graph.constant(np.array(2.0**0.5))))
        x = graph.add("Mul", x, graph.add("Add", bell, graph.constant(np.array(1.0))))
        return graph.add("Mul", x, graph.constant(np.array(0.5)))

    def _linear(self, x: str, name: str) -> str:
        return self.graph.linear(x, self.weights[f"{name}.weight"], self.weights.get(f"{name}.bias"))

    def _scaled(self, x: str, name: str) -> str:
        """Layer scale, where the model has it."""
        if name not in self.weights:
            return x
        return self.graph.add("Mul", x, self.graph.constant(self.weights[name]))
