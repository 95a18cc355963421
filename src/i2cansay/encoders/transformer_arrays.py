"""The weights of a vision transformer as arrays, for learners that run it themselves."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from i2cansay.encoders.added import WeightsFile, added_names, added_weights
from i2cansay.encoders.checkpoint import read_checkpoint
from i2cansay.encoders.encoder_spec import EncoderSpec
from i2cansay.encoders.encoder_table import ENCODERS, entry_of
from i2cansay.encoders.position_embedding import resize_positions
from i2cansay.encoders.recipe import Recipe, sha256_of
from i2cansay.encoders.vit import HEADS, TIMM, build_vit

# What a classifier had on top of the class token, and the copy that distillation trained
UNUSED = ("head", "fc_norm", "pre_logits")


class TransformerArrays(NamedTuple):
    """What a vision transformer computes with; `pos_embed` is for the size that was asked for.

    Attributes
    ----------
    arrays : dict of names to arrays
    heads : int
    mean, std : tuple of three floats
        The network sees (pixel - mean) / std, pixels from 0 to 1.
    epsilon : float
    """

    arrays: dict[str, NDArray[np.float32]]
    heads: int
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    epsilon: float


def is_transformer(encoder: str) -> bool:
    """Whether an encoder, named as in `get_encoder`, is a vision transformer whose arrays can be had.

    Examples
    --------
    >>> [is_transformer(name) for name in ("deit_tiny@96", "clip_vitb32", "efficientnet-lite0")]
    [True, False, False]
    """
    recipe: Any = _recipe_of(EncoderSpec.parse(encoder).base)
    return isinstance(recipe, Recipe) and recipe.build is build_vit


def transformer_arrays(encoder: str) -> TransformerArrays:
    """Return the weights of an encoder, named as in `get_encoder`, that is a plain vision transformer.

    Raises
    ------
    ValueError
        If it is another network, or a transformer with another arithmetic than DINO's and DeiT's.
    """
    if not is_transformer(encoder):
        raise ValueError(f"expected a vision transformer such as deit_tiny or dino_vits8, got {encoder!r}")
    spec = EncoderSpec.parse(encoder)
    file = _weights_file(spec.base)
    preprocessing = file.preprocessing.with_size(spec.size)
    weights = file.recipe.adapted(read_checkpoint(file.path))
    arrays = {
        name: np.asarray(array, dtype=np.float32)
        for name, array in weights.items()
        if not name.startswith(UNUSED)
    }
    patches = arrays["patch_embed.proj.weight"]
    width, patch = patches.shape[0], patches.shape[2]
    if preprocessing.size % patch:
        raise ValueError(f"expected a size that is a multiple of {patch} pixels, got {preprocessing.size}")
    arrays["pos_embed"] = resize_positions(arrays["pos_embed"], preprocessing.size // patch)
    heads = HEADS.get(width, width // 64)
    return TransformerArrays(arrays, heads, preprocessing.mean, preprocessing.std, TIMM.epsilon)


def _recipe_of(name: str) -> Any:
    """Return the recipe, or another entry of the table, that `get_encoder` opens; None for an added graph."""
    if name in added_names():
        file = added_weights(name)
        return file.recipe if file is not None else None
    return entry_of(name) if name in ENCODERS else None


def _weights_file(name: str) -> WeightsFile:
    """Return the weights that `get_encoder` opens: those that were added, or else those of the table's recipe."""
    if name in added_names() and (added := added_weights(name)) is not None:
        return added
    recipe: Recipe = entry_of(name)
    path = recipe.find_weights()
    return WeightsFile(recipe, path, recipe.preprocessing_for(path, sha256_of(path)))
