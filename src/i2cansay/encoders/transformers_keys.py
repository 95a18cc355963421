"""From the keys that the library transformers gives a network to those that `build_vit` reads."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from i2cansay.encoders.checkpoint import CheckpointError, Weights

# A number in brackets says which third of a joined tensor it becomes.
DINOV2 = {
    r"embeddings\.(cls_token|mask_token)": r"\1",
    r"embeddings\.position_embeddings": "pos_embed",
    r"embeddings\.patch_embeddings\.projection\.(weight|bias)": r"patch_embed.proj.\1",
    r"encoder\.layer\.(\d+)\.(norm1|norm2|mlp\.fc1|mlp\.fc2)\.(weight|bias)": r"blocks.\1.\2.\3",
    r"encoder\.layer\.(\d+)\.attention\.attention\.query\.(weight|bias)": r"blocks.\1.attn.qkv.\2[0]",
    r"encoder\.layer\.(\d+)\.attention\.attention\.key\.(weight|bias)": r"blocks.\1.attn.qkv.\2[1]",
    r"encoder\.layer\.(\d+)\.attention\.attention\.value\.(weight|bias)": r"blocks.\1.attn.qkv.\2[2]",
    r"encoder\.layer\.(\d+)\.attention\.output\.dense\.(weight|bias)": r"blocks.\1.attn.proj.\2",
    r"encoder\.layer\.(\d+)\.layer_scale([12])\.lambda1": r"blocks.\1.ls\2.gamma",
    r"layernorm\.(weight|bias)": r"norm.\1",
}
CLIP = {
    r"vision_model\.embeddings\.class_embedding": "cls_token",
    r"vision_model\.embeddings\.position_embedding\.weight": "pos_embed",
    r"vision_model\.embeddings\.patch_embedding\.weight": "patch_embed.proj.weight",
    r"vision_model\.pre_layrnorm\.(weight|bias)": r"norm_pre.\1",  # misspelt there
    r"vision_model\.encoder\.layers\.(\d+)\.layer_norm([12])\.(weight|bias)": r"blocks.\1.norm\2.\3",
    r"vision_model\.encoder\.layers\.(\d+)\.self_attn\.q_proj\.(weight|bias)": r"blocks.\1.attn.qkv.\2[0]",
    r"vision_model\.encoder\.layers\.(\d+)\.self_attn\.k_proj\.(weight|bias)": r"blocks.\1.attn.qkv.\2[1]",
    r"vision_model\.encoder\.layers\.(\d+)\.self_attn\.v_proj\.(weight|bias)": r"blocks.\1.attn.qkv.\2[2]",
    r"vision_model\.encoder\.layers\.(\d+)\.self_attn\.out_proj\.(weight|bias)": r"blocks.\1.attn.proj.\2",
    r"vision_model\.encoder\.layers\.(\d+)\.mlp\.fc([12])\.(weight|bias)": r"blocks.\1.mlp.fc\2.\3",
    r"vision_model\.post_layernorm\.(weight|bias)": r"norm.\1",
    r"visual_projection\.weight": "projection.weight",
}
# The tower for texts, the temperature of the training, and a list of numbers from 0 to 49
CLIP_WITHOUT = ("text_model.", "text_projection.", "logit_scale", "vision_model.embeddings.position_ids")


def dinov2_keys(weights: Weights) -> Weights:
    """Rename the weights of a `Dinov2Model`; those under DINOv2's own keys stay as they are.

    Examples
    --------
    >>> list(dinov2_keys({"embeddings.cls_token": np.ones((1, 1, 64)), "layernorm.bias": np.ones(64)}))
    ['cls_token', 'norm.bias']
    """
    return _renamed(weights, DINOV2)


def clip_keys(weights: Weights) -> Weights:
    """Rename the weights of a `CLIPModel`'s image tower and pass over the rest.

    Examples
    --------
    >>> tower = {"vision_model.embeddings.class_embedding": np.ones(64), "text_projection.weight": np.ones((8, 8))}
    >>> {key: array.shape for key, array in clip_keys(tower).items()}
    {'cls_token': (1, 1, 64)}
    """
    images = {key: array for key, array in weights.items() if not key.startswith(CLIP_WITHOUT)}
    renamed = _renamed(images, CLIP)
    for key in ("cls_token", "pos_embed"):
        if key in renamed:  # vectors and matrices there; here both begin with an axis for the images
            renamed[key] = renamed[key].reshape(1, -1, renamed[key].shape[-1])
    return renamed


def _renamed(weights: Weights, names: Mapping[str, str]) -> Weights:
    """Rename what a pattern fits, keep the rest, and join queries, keys and values."""
    renamed: Weights = {}
    thirds: dict[str, Weights] = {}
    for old, array in weights.items():
        new = next(
            (found.expand(name) for each, name in names.items() if (found := re.fullmatch(each, old))), old
        )
        joined, bracket, third = new.removesuffix("]").partition("[")
        if new in renamed or (bracket and joined in weights):
            raise CheckpointError(f"it has {new!r} twice, once as {old!r}")
        if bracket:
            thirds.setdefault(joined, {})[third] = array
        else:
            renamed[new] = array
    for joined, parts in thirds.items():
        if len(parts) < 3:
            raise CheckpointError(f"expected a query, a key and a value for {joined!r}, found {len(parts)}")
        renamed[joined] = np.concatenate([parts[third] for third in "012"])
    return renamed
