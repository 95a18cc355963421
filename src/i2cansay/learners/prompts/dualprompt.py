"""DualPrompt: a general prefix in the first blocks for all images, and one of several expert prefixes further up."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.class_rows import ClassRows
from i2cansay.core.state_parts import check_range
from i2cansay.core.types import Features, Float32, Float64, Rows, State
from i2cansay.learners.parameters import check_choice, check_not_negative, check_whole
from i2cansay.learners.prompts.block_numbers import check_blocks
from i2cansay.learners.prompts.component_growth import OpenedComponents
from i2cansay.learners.prompts.prompt_learner import Batch, Mask, PromptLearner
from i2cansay.learners.prompts.selection import cosines, uniform
from i2cansay.learners.prompts.transformer_weights import TransformerWeights
from i2cansay.learners.prompts.vision_transformer import Precision, Prefix, Tensor, VisionTransformer
from i2cansay.learners.torch_extra import import_torch

Expert = Literal["nearest", "arrivals"]
"""What stands for the task of an image that is taught: the expert with the nearest key, or the one that was opened
last, where every `classes_per_expert` new classes open one."""


class DualPrompt(PromptLearner):
    """One prefix for all images in some blocks, and in others one of a pool, chosen by the nearest key.

    The feature is the class token. The loss is the cross-entropy, less `strength` times the mean cosine of the query
    and the key of the expert that was used.

    Parameters
    ----------
    expert : {"nearest", "arrivals"}
        The published method trains the expert of the task, and a stream has none. "nearest" trains the expert that
        would be used to predict. "arrivals" takes the arrival of classes for the beginning of tasks: each
        `classes_per_expert` new ones open the next expert, but a batch opens one at most. It starts as a copy of the
        one before, and is trained until the next is opened; the last stays when there are no more. A replayed image
        gets the expert that its class was last taught with. To predict, the nearest of those opened so far is used.
    pool_size : int
        Experts.
    classes_per_expert : int
        Used with expert="arrivals".
    prompt_length : int
        Keys and values that a prefix adds to a block.
    general_blocks, expert_blocks : tuple of int
        Blocks, from 0, with the general prefix and with that of an expert.
    strength : float
        Weight of the keys' part of the loss.
    mask, network, blocks, precision, memory_size, n_replayed, steps, lr, batch_size, random_state
        As in `L2P`.

    References
    ----------
    Z. Wang et al., DualPrompt: complementary prompting for rehearsal-free continual learning, ECCV 2022.

    Examples
    --------
    >>> from i2cansay.testing.blobs import blobs
    >>> X, y = blobs(n_classes=3, per_class=40)
    >>> model = DualPrompt(lr=0.05, pool_size=3, general_blocks=(0,), expert_blocks=(1, 2), random_state=0)
    >>> for start in range(0, 120, 10):
    ...     model = model.partial_fit(X[start : start + 10], y[start : start + 10])
    >>> model.score(X, y) > 0.6  # about 0.9
    True
    """

    summary = "a prefix for all images, and one of several experts chosen by key"
    small_parameters = MappingProxyType(
        {"pool_size": 3, "prompt_length": 2, "general_blocks": (0,), "expert_blocks": (1, 2), "lr": 0.05}
    )
    structural: ClassVar[tuple[str, ...]] = (
        *PromptLearner.structural,
        "pool_size",
        "prompt_length",
        "general_blocks",
        "expert_blocks",
        "expert",
    )
    parts: ClassVar[tuple[str, ...]] = (*PromptLearner.parts, "_opened", "_expert_of")
    longest_gradient: ClassVar[float | None] = 1.0

    def __init__(
        self,
        *,
        expert: Expert = "nearest",
        pool_size: int = 10,
        classes_per_expert: int = 10,
        prompt_length: int = 5,
        general_blocks: tuple[int, ...] = (0, 1),
        expert_blocks: tuple[int, ...] = (2, 3, 4),
        strength: float = 1.0,
        mask: Mask = "seen",
        network: TransformerWeights | None = None,
        blocks: tuple[int, ...] | None = None,
        precision: Precision = "float32",
        memory_size: int = 0,
        n_replayed: int = 50,
        steps: int = 1,
        lr: float = 0.015,
        batch_size: int = 50,
        random_state: Any = None,
    ) -> None:
        self.expert = expert
        self.pool_size = pool_size
        self.classes_per_expert = classes_per_expert
        self.prompt_length = prompt_length
        self.general_blocks = general_blocks
        self.expert_blocks = expert_blocks
        self.strength = strength
        self.mask = mask
        self.network = network
        self.blocks = blocks
        self.precision = precision
        self.memory_size = memory_size
        self.n_replayed = n_replayed
        self.steps = steps
        self.lr = lr
        self.batch_size = batch_size
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("expert", self.expert, ("nearest", "arrivals"))
        check_whole(
            pool_size=self.pool_size,
            prompt_length=self.prompt_length,
            classes_per_expert=self.classes_per_expert,
            at_least=1,
        )
        check_not_negative(strength=self.strength)
        check_blocks(self.network, general_blocks=self.general_blocks, expert_blocks=self.expert_blocks)
        if set(self.general_blocks) & set(self.expert_blocks):
            raise ValueError("a block has the general prefix or that of an expert, not both")

    def _drawn_prompts(
        self, weights: TransformerWeights, rng: np.random.Generator | None
    ) -> dict[str, Float32]:
        length, width = self.prompt_length, weights.width
        return {
            "general": uniform(rng, len(self.general_blocks), 2, length, width),
            "experts": uniform(rng, self.pool_size, len(self.expert_blocks), 2, length, width),
            "keys": uniform(rng, self.pool_size, width),
        }

    # -- experts --------------------------------------------------------------------------------------------

    def _start(self, n_features: int) -> None:
        super()._start(n_features)
        self._opened = OpenedComponents(self.pool_size)
        self._expert_of = ClassRows(
            width=None, dtype=np.int64
        )  # the expert that a class was last taught with
        if self.expert == "nearest":
            self._opened.open(self.pool_size)

    def _grow(self, n_classes: int) -> None:
        super()._grow(n_classes)
        if self.expert == "arrivals" and self._opened.opened < self._wanted_experts(n_classes):
            self._open_expert()

    def _wanted_experts(self, n_classes: int) -> int:
        return -(-n_classes // self.classes_per_expert)

    def _open_expert(self) -> None:
        """Open the next expert, if any is left; it starts as the one before, but for its key."""
        new, stop = self._opened.open(1)
        if new < stop:
            experts = self._prompts["experts"].values
            experts[new] = experts[max(new - 1, 0)]

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        self._expert_of.rows[rows] = self._opened.opened - 1
        super()._learn(X, rows, weights)

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        return super()._state_bytes(n_features, n_classes) + 8 * n_classes

    def _restore(self, state: State) -> None:
        check_range("the expert of a class", state["expert_of.rows"], 0, self.pool_size - 1)
        super()._restore(state)

    def _trained_rows(self, name: str) -> NDArray[np.bool_] | None:
        if name == "general" or self.expert == "nearest":
            return None
        return self._opened.trained()

    def _chosen(self, nearness: Tensor, rows: Tensor) -> Tensor:
        """Return the number of each image's expert, (n,), given the cosines with all keys, (n, pool).

        `rows` are the classes of the images, (n,), in training, and None otherwise.
        """
        if rows is not None and self.expert == "arrivals":
            return import_torch().from_numpy(self._expert_of.rows)[rows]
        return nearness[:, : self._opened.opened].detach().argmax(dim=1)

    def _prompted(
        self, prompts: Mapping[str, Tensor], batch: Batch, network: VisionTransformer, *, training: bool
    ) -> tuple[Tensor, Tensor]:
        nearness = cosines(batch.query, prompts["keys"])
        chosen = self._chosen(nearness, batch.rows)
        prefixes = {
            block: Prefix(*prompts["general"][place]) for place, block in enumerate(self.general_blocks)
        }
        # (n, blocks, 2, length, d): a prefix of its own for each image
        own = prompts["experts"][chosen]
        for place, block in enumerate(self.expert_blocks):
            prefixes[block] = Prefix(own[:, place, 0], own[:, place, 1])
        penalty = -self.strength * nearness.gather(1, chosen[:, None]).mean()
        return network.class_token(batch.tokens, prefixes), penalty
