"""Learning to prompt: a pool of prompts, of which each image gets those whose keys are nearest to its query."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from i2cansay.core.types import Float32
from i2cansay.learners.parameters import check_not_negative, check_whole
from i2cansay.learners.prompts.prompt_learner import Batch, Mask, PromptLearner
from i2cansay.learners.prompts.selection import cosines, uniform
from i2cansay.learners.prompts.transformer_weights import TransformerWeights
from i2cansay.learners.prompts.vision_transformer import Precision, Tensor, VisionTransformer


class L2P(PromptLearner):
    """A pool of prompts with a key each; the `n_chosen` with the nearest keys come before the tokens of an image.

    The feature is the mean of what becomes of the prompt tokens. The loss is the cross-entropy, less `strength`
    times the mean over images of the summed cosines of query and chosen keys.

    Parameters
    ----------
    pool_size, prompt_length, n_chosen : int
        Prompts in the pool, tokens of each, and how many of them an image gets.
    strength : float
        Weight of the keys' part of the loss.
    mask : {"seen", "batch"}
        Which classes compete in the loss: all that have come, or those of the batch and of what is replayed with it.
        The head is open, so a class that has not come has no output: without a mask it would be "seen" as well. Of
        a batch with one class alone "batch" learns nothing, and all classes that have come compete.
        A class that does not compete gets no gradient, but what Adam remembers of earlier ones still moves its row
        of the head.
    network : TransformerWeights or None
        The frozen transformer. None stands for a small random one, for tests.
    blocks : tuple of two ints, optional
        Widths of class token and pixels in a row, where the class token is stored before the pixels: it is the
        query. Otherwise a row is pixels alone, and the query takes a pass of its own.
    precision : {"float32", "bfloat16"}
        Of the products with the frozen weights; prompts, keys and head are float32. bfloat16 is faster on processors
        that have it, and its answers are not those of float32 (docs/compared-methods.md).
    memory_size, n_replayed : int
        Images that are kept, by reservoir sampling, and how many of them are replayed with every batch; 0 for none.
    steps : int
        Steps on every batch.
    lr : float
        Rate of Adam.
    batch_size : int
        Used by `fit` only; `partial_fit` takes a batch as it comes.
    random_state : int, Generator, RandomState or None
        Seed of prompts, keys and replay.

    Notes
    -----
    Departs from the published code in that each image chooses its own prompts, when it is taught and when it is
    asked about: there, a batch votes, and a test batch of one task tells which task it is. No optimiser is made
    anew, since there are no tasks to do it between.

    References
    ----------
    Z. Wang et al., Learning to prompt for continual learning, CVPR 2022.

    Examples
    --------
    >>> from i2cansay.testing.blobs import blobs
    >>> X, y = blobs(n_classes=3, per_class=40)
    >>> model = L2P(lr=0.05, n_chosen=2, pool_size=4, prompt_length=2, random_state=0)
    >>> for start in range(0, 120, 10):
    ...     model = model.partial_fit(X[start : start + 10], y[start : start + 10])
    >>> model.score(X, y) > 0.6  # about 0.9
    True
    """

    summary = "a pool of prompts with keys, the nearest to an image before its tokens"
    small_parameters = MappingProxyType(
        {"pool_size": 4, "prompt_length": 2, "n_chosen": 2, "lr": 0.05, "memory_size": 20, "n_replayed": 5}
    )
    structural: ClassVar[tuple[str, ...]] = (*PromptLearner.structural, "pool_size", "prompt_length")
    longest_gradient: ClassVar[float | None] = 1.0

    def __init__(
        self,
        *,
        pool_size: int = 10,
        prompt_length: int = 10,
        n_chosen: int = 4,
        strength: float = 1.0,
        mask: Mask = "seen",
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
        self.pool_size = pool_size
        self.prompt_length = prompt_length
        self.n_chosen = n_chosen
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
        check_whole(pool_size=self.pool_size, prompt_length=self.prompt_length, at_least=1)
        check_whole(n_chosen=self.n_chosen, at_least=1, at_most=self.pool_size)
        check_not_negative(strength=self.strength)

    def _drawn_prompts(
        self, weights: TransformerWeights, rng: np.random.Generator | None
    ) -> dict[str, Float32]:
        return {
            "prompts": uniform(rng, self.pool_size, self.prompt_length, weights.width),
            "keys": uniform(rng, self.pool_size, weights.width),
        }

    def _prompted(
        self, prompts: Mapping[str, Tensor], batch: Batch, network: VisionTransformer, *, training: bool
    ) -> tuple[Tensor, Tensor]:
        nearness = cosines(batch.query, prompts["keys"])
        chosen = nearness.detach().topk(self.n_chosen, dim=1).indices
        tokens = prompts["prompts"][chosen].flatten(1, 2)
        penalty = -self.strength * nearness.gather(1, chosen).sum(dim=1).mean()
        return network.mean_of_prompts(batch.tokens, tokens), penalty
