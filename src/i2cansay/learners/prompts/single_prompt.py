"""One prefix for every image, and a head of cosines: the simplest prompt that is learnt online."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from i2cansay.core.types import Float32
from i2cansay.learners.parameters import check_positive, check_whole
from i2cansay.learners.prompts.block_numbers import check_blocks
from i2cansay.learners.prompts.prompt_learner import Batch, Mask, PromptLearner
from i2cansay.learners.prompts.selection import cosines, uniform
from i2cansay.learners.prompts.transformer_weights import TransformerWeights
from i2cansay.learners.prompts.vision_transformer import Precision, Prefix, Tensor, VisionTransformer

# Half the range of a uniform draw. Published is 1; larger ones drown the image at first.
START = 0.02


class SinglePrompt(PromptLearner):
    """One prefix in some blocks, the same for every image, and logits that are cosines over a temperature.

    No prompt is chosen, so that no query is needed: a prediction is one pass through the network.

    Parameters
    ----------
    prompt_length : int
        Keys and values that the prefix adds to a block.
    prefix_blocks : tuple of int
        Blocks, from 0, with a prefix.
    temperature : float
        What cosines are divided by.
    mask : {"seen", "batch"}
        As in `L2P`; published is "batch".
    network, blocks, precision, memory_size, n_replayed, steps, lr, batch_size, random_state
        As in `L2P`.

    Notes
    -----
    Prompt, head and mask are those of the authors' code. Three things depart from it: a prefix starts near zero,
    where theirs starts between -1 and 1 and has the position of the class token added; the rows of the head start
    longer, so that Adam turns them less; a batch is learnt in one step, where theirs takes three, on images that are
    augmented anew.

    References
    ----------
    Is prompt selection necessary for task-free online continual learning?, CVPR Findings 2026; the authors' code is
    efficient-learning-lab/SinglePrompt on GitHub.

    Examples
    --------
    >>> from i2cansay.testing.blobs import blobs
    >>> X, y = blobs(n_classes=3, per_class=40)
    >>> model = SinglePrompt(lr=0.05, prompt_length=2, prefix_blocks=(0, 1), random_state=0)
    >>> for start in range(0, 120, 10):
    ...     model = model.partial_fit(X[start : start + 10], y[start : start + 10])
    >>> model.score(X, y) > 0.6  # about 0.9
    True
    """

    summary = "one prefix for every image, and a head of cosines"
    small_parameters = MappingProxyType({"prompt_length": 2, "prefix_blocks": (0, 1), "lr": 0.1})
    structural: ClassVar[tuple[str, ...]] = (*PromptLearner.structural, "prompt_length", "prefix_blocks")

    def __init__(
        self,
        *,
        prompt_length: int = 20,
        prefix_blocks: tuple[int, ...] = (0, 1, 2, 3, 4),
        temperature: float = 0.1,
        mask: Mask = "batch",
        network: TransformerWeights | None = None,
        blocks: tuple[int, ...] | None = None,
        precision: Precision = "float32",
        memory_size: int = 0,
        n_replayed: int = 50,
        steps: int = 1,
        lr: float = 0.15,
        batch_size: int = 50,
        random_state: Any = None,
    ) -> None:
        self.prompt_length = prompt_length
        self.prefix_blocks = prefix_blocks
        self.temperature = temperature
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
        check_whole(prompt_length=self.prompt_length, at_least=1)
        check_positive(temperature=self.temperature)
        check_blocks(self.network, prefix_blocks=self.prefix_blocks)

    def _drawn_prompts(
        self, weights: TransformerWeights, rng: np.random.Generator | None
    ) -> dict[str, Float32]:
        shape = (len(self.prefix_blocks), 2, self.prompt_length, weights.width)
        return {"prefixes": START * uniform(rng, *shape)}

    def _begin_rows(self) -> None:
        weights = self._head["weights"].values
        new = np.flatnonzero(~weights.any(axis=1))
        weights[new] = uniform(self._rng, len(new), weights.shape[1])  # a cosine with zero has no direction

    def _logits(self, head: Mapping[str, Tensor], features: Tensor) -> Tensor:
        return cosines(features, head["weights"]) / self.temperature

    def _batch(self, X: Float32) -> Batch:
        tokens = self._network.embed(self._rows.split(X)[0])
        return Batch(tokens, tokens[:, 0])

    def _prompted(
        self, prompts: Mapping[str, Tensor], batch: Batch, network: VisionTransformer, *, training: bool
    ) -> tuple[Tensor, Tensor]:
        prefixes = {
            block: Prefix(*prompts["prefixes"][place]) for place, block in enumerate(self.prefix_blocks)
        }
        return network.class_token(batch.tokens, prefixes), batch.query.new_zeros(())
