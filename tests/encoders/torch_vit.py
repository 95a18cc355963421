"""A vision transformer written out in torch: what the graphs are compared with."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.encoders.checkpoint import Weights
from i2cansay.encoders.vit import TIMM, ViTArithmetic


def torch_vit(
    weights: Weights, numbers: NDArray[np.float32], heads: int, arithmetic: ViTArithmetic = TIMM
) -> dict[str, NDArray[Any]]:
    """Return class token and mean patch after every block, for normalised images (n, size, size, 3)."""
    import torch
    from torch.nn import functional as F

    w = {key: torch.from_numpy(np.asarray(value)).float() for key, value in weights.items()}
    kernel = w["patch_embed.proj.weight"]
    dim, patch = kernel.shape[0], kernel.shape[-1]
    x = torch.from_numpy(numbers.transpose(0, 3, 1, 2).copy())
    x = F.conv2d(x, kernel, w["patch_embed.proj.bias"], patch)
    side, old = x.shape[-1], round((w["pos_embed"].shape[1] - 1) ** 0.5)
    grid = w["pos_embed"][:, 1:].reshape(1, old, old, dim).permute(0, 3, 1, 2)
    grid = F.interpolate(grid, size=(side, side), mode="bicubic", align_corners=False)
    positions = torch.cat([w["pos_embed"][:, :1], grid.flatten(2).transpose(1, 2)], dim=1)
    x = torch.cat([w["cls_token"].expand(len(x), -1, -1), x.flatten(2).transpose(1, 2)], dim=1) + positions

    def norm(x: Any, name: str) -> Any:
        return F.layer_norm(x, (dim,), w[f"{name}.weight"], w[f"{name}.bias"], eps=arithmetic.epsilon)

    def linear(x: Any, name: str) -> Any:
        return F.linear(x, w[f"{name}.weight"], w[f"{name}.bias"])

    def gelu(x: Any) -> Any:
        return x * torch.sigmoid(1.702 * x) if arithmetic.quick_gelu else F.gelu(x)

    if arithmetic.first_norm:
        x = norm(x, "norm_pre")
    pooled = {}
    for block in count():
        name = f"blocks.{block}."
        if f"{name}norm1.weight" not in w:
            break
        qkv = linear(norm(x, f"{name}norm1"), f"{name}attn.qkv")
        query, key, value = qkv.reshape(*x.shape[:2], 3, heads, dim // heads).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value).transpose(1, 2).flatten(2)
        x = x + linear(mixed, f"{name}attn.proj")
        x = x + linear(gelu(linear(norm(x, f"{name}norm2"), f"{name}mlp.fc1")), f"{name}mlp.fc2")
        tokens = norm(x, "norm")
        pooled[f"block{block}.class"] = pooled["last"] = tokens[:, 0].numpy()
        pooled[f"block{block}.patches"] = tokens[:, 1:].mean(dim=1).numpy()
    return pooled
