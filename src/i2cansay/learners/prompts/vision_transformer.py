"""A frozen vision transformer in torch, with places for prompt tokens and for prefixes.

Symbols: n images, t tokens, d the width, h heads. A prompt is a run of tokens before all others. A prefix is put
before the keys and the values of one block, after their projection, so that the number of tokens stays.

What is frozen is prepared once: the scale of the pixels is folded into the weights of the patches. The last block
makes only the tokens that are asked for; nothing comes after it that could read the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from i2cansay.learners.prompts.transformer_weights import TransformerWeights
from i2cansay.learners.torch_extra import import_torch

Tensor = Any  # torch has types of its own, but is not there for most users
Precision = Literal["float32", "bfloat16"]
"""Of the products with frozen weights. Everything else is float32: sums, norms, attention, prompts and the head."""


class Prefix(NamedTuple):
    """What comes before the keys and the values of a block: (n, length, d) each, or (length, d) for all images."""

    keys: Tensor
    values: Tensor


class VisionTransformer:
    """The network of a `TransformerWeights`. Its own tensors ask for no gradient; those of prompts may.

    Parameters
    ----------
    weights : TransformerWeights
    precision : {"float32", "bfloat16"}
        Of the products inside the blocks. bfloat16 has 8 bits of mantissa; it is faster where the processor has
        instructions for it, and much slower where it has none.

    Examples
    --------
    >>> from i2cansay.learners.prompts.transformer_weights import random_transformer
    >>> network = VisionTransformer(random_transformer(side=4))
    >>> network.class_token(network.embed(np.zeros((2, 48), np.float32))).shape
    torch.Size([2, 16])
    """

    def __init__(self, weights: TransformerWeights, precision: Precision = "float32") -> None:
        self._torch = import_torch()
        self.weights = weights
        self._tensors = {
            name: self._torch.from_numpy(np.array(array, dtype=np.float32))
            for name, array in weights.arrays.items()
        }
        positions = self._tensors["pos_embed"][0].clone()
        positions[0] += self._tensors["cls_token"][0, 0]
        self._class_token = positions[:1]
        self._patch_kernel, self._patch_offset = self._patch_weights(positions[1:])
        if precision == "bfloat16":
            for name, tensor in self._tensors.items():
                if ".attn." in name or ".mlp." in name:
                    self._tensors[name] = tensor.bfloat16()

    def _patch_weights(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Return the weights of a patch's pixels, (d, y x 3), and what is added to each of the patches, (t - 1, d).

        They take pixels from 0 to 1 as they lie in an image: mean and deviation of the pixels are in them.
        """
        kernel = self._tensors["patch_embed.proj.weight"].permute(0, 2, 3, 1).double()
        mean, std = (
            self._torch.tensor(each, dtype=kernel.dtype) for each in (self.weights.mean, self.weights.std)
        )
        kernel = kernel / std
        offset = positions - (kernel * mean).sum(dim=(1, 2, 3))
        if "patch_embed.proj.bias" in self._tensors:
            offset = offset + self._tensors["patch_embed.proj.bias"]
        return kernel.flatten(1).float().contiguous(), offset.float()

    def embed(self, pixels: Tensor) -> Tensor:
        """Return the tokens, (n, t, d), of rows of pixels from 0 to 1, (n, 3 side^2) as numpy or torch has them."""
        side, patch = self.weights.side, self.weights.patch
        count = side // patch
        images = self._torch.as_tensor(pixels)
        # (n, rows, y, columns, x 3) to (n, rows columns, y x 3)
        patches = images.reshape(-1, count, patch, count, 3 * patch).transpose(2, 3)
        patches = patches.reshape(len(images), count * count, 3 * patch * patch)
        tokens = self._torch.nn.functional.linear(patches, self._patch_kernel) + self._patch_offset
        first = self._class_token.expand(len(tokens), 1, -1)
        return self._torch.cat([first, tokens], dim=1)

    def class_token(self, tokens: Tensor, prefixes: Mapping[int, Prefix] | None = None) -> Tensor:
        """Return the class token, (n, d), with prefixes by the number of their block, from 0."""
        return self._norm(self._through(tokens, prefixes or {}, kept=1)[:, 0], "norm")

    def mean_of_prompts(self, tokens: Tensor, prompts: Tensor) -> Tensor:
        """Return the mean, (n, d), of what becomes of prompt tokens, (n, length, d), put before the others."""
        length = prompts.shape[1]
        tokens = self._through(self._torch.cat([prompts, tokens], dim=1), {}, kept=length)
        return self._norm(tokens, "norm").mean(dim=1)

    def _through(self, tokens: Tensor, prefixes: Mapping[int, Prefix], kept: int) -> Tensor:
        """Return what becomes of the first `kept` tokens, (n, kept, d)."""
        for block in range(self.weights.depth):
            name = f"blocks.{block}."
            asked = kept if block == self.weights.depth - 1 else tokens.shape[1]
            attended = self._attention(self._norm(tokens, f"{name}norm1"), name, prefixes.get(block), asked)
            tokens = tokens[:, :asked] + self._scaled(attended, f"{name}ls1.gamma")
            hidden = self._linear(self._norm(tokens, f"{name}norm2"), f"{name}mlp.fc1")
            hidden = self._linear(self._torch.nn.functional.gelu(hidden), f"{name}mlp.fc2")
            tokens = tokens + self._scaled(hidden, f"{name}ls2.gamma")
        return tokens

    def _attention(self, x: Tensor, name: str, prefix: Prefix | None, asked: int) -> Tensor:
        """Return what the first `asked` tokens gather from all, (n, asked, d)."""
        n, t, d = x.shape
        layer = f"{name}attn.qkv"
        if asked == t:
            query, keys, values = self._linear(x, layer).float().chunk(3, dim=-1)
        else:
            query = self._linear(x[:, :asked], layer, slice(d)).float()
            keys, values = self._linear(x, layer, slice(d, None)).float().chunk(2, dim=-1)
        if prefix is not None:
            keys = self._torch.cat([prefix.keys.expand(n, -1, -1), keys], dim=1)
            values = self._torch.cat([prefix.values.expand(n, -1, -1), values], dim=1)
        query, keys, values = (self._by_head(each) for each in (query, keys, values))
        # In float32 always: the kernel that goes back through attention is ten times as slow in bfloat16.
        x = self._torch.nn.functional.scaled_dot_product_attention(query, keys, values)
        return self._linear(x.transpose(1, 2).reshape(n, asked, d), f"{name}attn.proj")

    def _by_head(self, x: Tensor) -> Tensor:
        """From (n, t, d) to (n, h, t, d / h)."""
        return x.reshape(len(x), x.shape[1], self.weights.heads, -1).transpose(1, 2)

    def _norm(self, x: Tensor, name: str) -> Tensor:
        weight, bias = self._tensors[f"{name}.weight"], self._tensors[f"{name}.bias"]
        return self._torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, self.weights.epsilon)

    def _linear(self, x: Tensor, name: str, outputs: slice = slice(None)) -> Tensor:
        """Return a layer's outputs, or some of them, in the precision of its weights."""
        weight, bias = self._tensors[f"{name}.weight"][outputs], self._tensors.get(f"{name}.bias")
        bias = None if bias is None else bias[outputs]
        return self._torch.nn.functional.linear(x.to(weight.dtype), weight, bias)

    def _scaled(self, x: Tensor, name: str) -> Tensor:
        """Layer scale, where the network has it."""
        return x * self._tensors[name] if name in self._tensors else x


@lru_cache(maxsize=2)
def vision_transformer(weights: TransformerWeights, precision: Precision = "float32") -> VisionTransformer:
    """Return the network of these weights; learners of one network share its tensors, and hold none."""
    return VisionTransformer(weights, precision)
