"""A frozen vision transformer in torch, with places for prompt tokens and for prefixes.

Symbols: n images, t tokens, d the width, h heads. A prompt is a run of tokens before all others. A prefix is put
before the keys and the values of one block, after their projection, so that the number of tokens stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from i2cansay.learners.prompts.transformer_weights import TransformerWeights
from i2cansay.learners.torch_extra import import_torch

Tensor = Any  # torch has types of its own, but is not there for most users


class Prefix(NamedTuple):
    """What comes before the keys and the values of a block: (n, length, d) each, or (length, d) for all images."""

    keys: Tensor
    values: Tensor


class VisionTransformer:
    """The network of a `TransformerWeights`. Its own tensors ask for no gradient; those of prompts may.

    Examples
    --------
    >>> from i2cansay.learners.prompts.transformer_weights import random_transformer
    >>> network = VisionTransformer(random_transformer(side=4))
    >>> network.class_token(network.embed(np.zeros((2, 48), np.float32))).shape
    torch.Size([2, 16])
    """

    def __init__(self, weights: TransformerWeights) -> None:
        self._torch = import_torch()
        self.weights = weights
        self._tensors = {
            name: self._torch.from_numpy(np.array(array, dtype=np.float32))
            for name, array in weights.arrays.items()
        }
        positions = self._tensors["pos_embed"][0].clone()
        positions[0] += self._tensors["cls_token"][0, 0]
        self._positions = positions
        self._mean, self._std = (self._torch.tensor(values) for values in (weights.mean, weights.std))

    def embed(self, pixels: Tensor) -> Tensor:
        """Return the tokens, (n, t, d), of rows of pixels from 0 to 1, (n, 3 side^2) as numpy or torch has them."""
        side, patch = self.weights.side, self.weights.patch
        count = side // patch
        images = self._torch.as_tensor(pixels).reshape(-1, side, side, 3)
        images = (images - self._mean) / self._std
        # (n, rows, y, columns, x, 3) to (n, rows columns, 3 y x): the order of a convolution's weights
        patches = images.reshape(-1, count, patch, count, patch, 3).permute(0, 1, 3, 5, 2, 4)
        patches = patches.reshape(len(images), count * count, 3 * patch * patch)
        kernel = self._tensors["patch_embed.proj.weight"].reshape(self.weights.width, -1)
        tokens = self._torch.nn.functional.linear(patches, kernel, self._tensors.get("patch_embed.proj.bias"))
        room = tokens.new_zeros(len(tokens), 1, self.weights.width)
        return self._torch.cat([room, tokens], dim=1) + self._positions

    def class_token(self, tokens: Tensor, prefixes: Mapping[int, Prefix] | None = None) -> Tensor:
        """Return the class token, (n, d), with prefixes by the number of their block, from 0."""
        return self._norm(self._through(tokens, prefixes or {})[:, 0], "norm")

    def mean_of_prompts(self, tokens: Tensor, prompts: Tensor) -> Tensor:
        """Return the mean, (n, d), of what becomes of prompt tokens, (n, length, d), put before the others."""
        length = prompts.shape[1]
        tokens = self._through(self._torch.cat([prompts, tokens], dim=1), {})
        return self._norm(tokens[:, :length], "norm").mean(dim=1)

    def _through(self, tokens: Tensor, prefixes: Mapping[int, Prefix]) -> Tensor:
        for block in range(self.weights.depth):
            name = f"blocks.{block}."
            attended = self._attention(self._norm(tokens, f"{name}norm1"), name, prefixes.get(block))
            tokens = tokens + self._scaled(attended, f"{name}ls1.gamma")
            hidden = self._linear(self._norm(tokens, f"{name}norm2"), f"{name}mlp.fc1")
            hidden = self._linear(self._torch.nn.functional.gelu(hidden), f"{name}mlp.fc2")
            tokens = tokens + self._scaled(hidden, f"{name}ls2.gamma")
        return tokens

    def _attention(self, x: Tensor, name: str, prefix: Prefix | None) -> Tensor:
        n, t, d = x.shape
        query, keys, values = self._linear(x, f"{name}attn.qkv").chunk(3, dim=-1)
        if prefix is not None:
            keys = self._torch.cat([prefix.keys.expand(n, -1, -1), keys], dim=1)
            values = self._torch.cat([prefix.values.expand(n, -1, -1), values], dim=1)
        query, keys, values = (self._by_head(each) for each in (query, keys, values))
        x = self._torch.nn.functional.scaled_dot_product_attention(query, keys, values)
        return self._linear(x.transpose(1, 2).reshape(n, t, d), f"{name}attn.proj")

    def _by_head(self, x: Tensor) -> Tensor:
        """From (n, t, d) to (n, h, t, d / h)."""
        return x.reshape(len(x), x.shape[1], self.weights.heads, -1).transpose(1, 2)

    def _norm(self, x: Tensor, name: str) -> Tensor:
        weight, bias = self._tensors[f"{name}.weight"], self._tensors[f"{name}.bias"]
        return self._torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, self.weights.epsilon)

    def _linear(self, x: Tensor, name: str) -> Tensor:
        weight, bias = self._tensors[f"{name}.weight"], self._tensors.get(f"{name}.bias")
        return self._torch.nn.functional.linear(x, weight, bias)

    def _scaled(self, x: Tensor, name: str) -> Tensor:
        """Layer scale, where the network has it."""
        return x * self._tensors[name] if name in self._tensors else x


@lru_cache(maxsize=2)
def vision_transformer(weights: TransformerWeights) -> VisionTransformer:
    """Return the network of these weights; learners of one network share its tensors, and hold none."""
    return VisionTransformer(weights)
