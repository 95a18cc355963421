"""The weights of a frozen vision transformer as arrays, in the layout of keys that DINO, DeiT and timm share."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isqrt
from typing import Any

import numpy as np

from i2cansay.core.types import Float32, State

FACTS = "facts"


@dataclass(frozen=True, eq=False)
class TransformerWeights:
    """Everything that a vision transformer computes with, and nothing that changes.

    Two are equal if all their numbers are. A learner takes one as its parameter `network`, and saves it with itself.

    Attributes
    ----------
    arrays : mapping of names to arrays
        As "blocks.0.attn.qkv.weight". `pos_embed` is for the size of the images it is to see.
    heads : int
        Heads of the attention; the arrays do not tell.
    mean, std : tuple of three floats
        The network sees (pixel - mean) / std for red, green and blue, pixels from 0 to 1.
    epsilon : float
        What layer norms add to a variance.

    Examples
    --------
    >>> tiny = random_transformer(side=4, seed=0)
    >>> tiny
    <TransformerWeights: 4 px in patches of 1, 3 blocks of width 16>
    >>> tiny == random_transformer(side=4, seed=0), tiny == random_transformer(side=4, seed=1)
    (True, False)
    """

    arrays: Mapping[str, Float32]
    heads: int
    mean: tuple[float, float, float] = (0.0, 0.0, 0.0)
    std: tuple[float, float, float] = (1.0, 1.0, 1.0)
    epsilon: float = 1e-6

    def __post_init__(self) -> None:
        missing = {"patch_embed.proj.weight", "cls_token", "pos_embed", "norm.weight"} - set(self.arrays)
        if missing:
            raise ValueError(
                f"expected the weights of a vision transformer; missing: {', '.join(sorted(missing))}"
            )
        if self.width % self.heads:
            raise ValueError(f"expected heads that divide the width of {self.width}, got {self.heads}")
        n_patches = self.arrays["pos_embed"].shape[1] - 1
        if isqrt(n_patches) ** 2 != n_patches:
            raise ValueError(
                f"expected positions of a class token and a square of patches, got {n_patches + 1}"
            )

    @property
    def width(self) -> int:
        """Width of a token."""
        return int(self.arrays["patch_embed.proj.weight"].shape[0])

    @property
    def patch(self) -> int:
        """Side of a patch in pixels."""
        return int(self.arrays["patch_embed.proj.weight"].shape[2])

    @property
    def side(self) -> int:
        """Side of the images it sees in pixels."""
        return isqrt(self.arrays["pos_embed"].shape[1] - 1) * self.patch

    @cached_property
    def depth(self) -> int:
        """Number of blocks."""
        return sum(name.endswith(".norm1.weight") for name in self.arrays)

    @cached_property
    def digest(self) -> str:
        """Hash of all numbers."""
        found = hashlib.blake2b(self._facts().encode(), digest_size=16)
        for name in sorted(self.arrays):
            array = np.ascontiguousarray(self.arrays[name], dtype=np.float32)
            found.update(f"{name} {array.shape}".encode())
            found.update(array.data)
        return found.hexdigest()

    def to_arrays(self) -> State:
        """Return arrays from which `from_arrays` makes it again."""
        return {FACTS: np.frombuffer(self._facts().encode(), dtype=np.uint8), **self.arrays}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> TransformerWeights:
        """Return what `to_arrays` was called on; raise ValueError or KeyError where they are not its arrays."""
        facts = json.loads(bytes(arrays[FACTS]).decode())
        return cls(
            arrays={name: array for name, array in arrays.items() if name != FACTS},
            heads=int(facts["heads"]),
            mean=_three(facts["mean"]),
            std=_three(facts["std"]),
            epsilon=float(facts["epsilon"]),
        )

    def _facts(self) -> str:
        facts = {"heads": self.heads, "mean": self.mean, "std": self.std, "epsilon": self.epsilon}
        return json.dumps(facts, sort_keys=True)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TransformerWeights) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __deepcopy__(self, memo: dict[int, Any]) -> TransformerWeights:
        return self  # nothing of it ever changes

    def __repr__(self) -> str:
        shape = f"{self.depth} blocks of width {self.width}"
        return f"<TransformerWeights: {self.side} px in patches of {self.patch}, {shape}>"


def _three(values: Any) -> tuple[float, float, float]:
    red, green, blue = map(float, values)
    return red, green, blue


def random_transformer(
    *, side: int, patch: int = 1, width: int = 16, depth: int = 3, heads: int = 2, seed: int = 0
) -> TransformerWeights:
    """Return a small transformer with random weights, for tests and for learners that are given none.

    Its activations have the size that those of a trained one have, so that prompts and their gradients do too.
    """
    rng = np.random.default_rng(seed)

    def drawn(*shape: int, scale: float | None = None) -> Float32:
        scale = float(np.prod(shape[1:])) ** -0.5 if scale is None else scale
        return rng.normal(scale=scale, size=shape).astype(np.float32)

    arrays: dict[str, Float32] = {
        "patch_embed.proj.weight": drawn(width, 3, patch, patch),
        "patch_embed.proj.bias": drawn(width, scale=0.1),
        "cls_token": drawn(1, 1, width, scale=0.5),
        "pos_embed": drawn(1, 1 + (side // patch) ** 2, width, scale=0.5),
        "norm.weight": np.ones(width, np.float32),
        "norm.bias": np.zeros(width, np.float32),
    }
    for block in range(depth):
        name = f"blocks.{block}."
        for norm in ("norm1", "norm2"):
            arrays[f"{name}{norm}.weight"] = 1 + drawn(width, scale=0.1)
            arrays[f"{name}{norm}.bias"] = drawn(width, scale=0.1)
        for layer, shape in (
            ("attn.qkv", (3 * width, width)),
            ("attn.proj", (width, width)),
            ("mlp.fc1", (2 * width, width)),
            ("mlp.fc2", (width, 2 * width)),
        ):
            arrays[f"{name}{layer}.weight"] = drawn(*shape)
            arrays[f"{name}{layer}.bias"] = drawn(shape[0], scale=0.1)
    return TransformerWeights(arrays, heads=heads)
