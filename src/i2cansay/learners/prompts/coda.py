"""CODA-Prompt: a prefix that is a sum of components, weighted by how near their keys are to a part of the query."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.types import Float32
from i2cansay.learners.parameters import check_choice, check_not_negative, check_whole
from i2cansay.learners.prompts.block_numbers import check_blocks
from i2cansay.learners.prompts.component_growth import OpenedComponents, orthogonal_to
from i2cansay.learners.prompts.prompt_learner import Batch, Mask, PromptLearner
from i2cansay.learners.prompts.selection import orthonormal
from i2cansay.learners.prompts.transformer_weights import TransformerWeights
from i2cansay.learners.prompts.vision_transformer import Precision, Prefix, Tensor, VisionTransformer
from i2cansay.learners.torch_extra import import_torch

Growth = Literal["all", "arrivals"]
"""When components take part: all from the start, or some with every new class, the earlier ones then fixed."""


class CODAPrompt(PromptLearner):
    """A prefix per block, summed over components with weights that follow the query continuously.

    The weight of a component is the cosine of its key and of the query times its attention, element by element; it
    may be negative. The feature is the class token. The loss is the cross-entropy plus `strength` times how far
    components, keys and attentions are from orthonormal rows.

    Parameters
    ----------
    growth : {"all", "arrivals"}
        The published method opens components with each task and fixes the earlier ones, and a stream has no tasks.
        "all" trains all of them from the start. "arrivals" opens `per_class` components with each new class, as long
        as there are any, and fixes those of earlier classes.
    n_components : int
        Components of each block.
    per_class : int
        Used with growth="arrivals".
    prompt_length : int
        Tokens of a component; the first half comes before the keys, the second before the values.
    prefix_blocks : tuple of int
        Blocks, from 0, with a prefix; each has components of its own.
    strength : float
        Weight of the orthogonality. The published code has 0, its paper 0.1.
    mask, network, blocks, precision, memory_size, n_replayed, steps, lr, batch_size, random_state
        As in `L2P`.

    References
    ----------
    J. S. Smith et al., CODA-Prompt: continual decomposed attention-based prompting for rehearsal-free continual
    learning, CVPR 2023.

    Examples
    --------
    >>> from i2cansay.testing.blobs import blobs
    >>> X, y = blobs(n_classes=3, per_class=40)
    >>> model = CODAPrompt(lr=0.05, n_components=6, prompt_length=4, prefix_blocks=(0, 1), random_state=0)
    >>> for start in range(0, 120, 10):
    ...     model = model.partial_fit(X[start : start + 10], y[start : start + 10])
    >>> model.score(X, y) > 0.6  # about 0.9
    True
    """

    summary = "a prefix summed from components by the query"
    small_parameters = MappingProxyType(
        {"n_components": 6, "prompt_length": 2, "prefix_blocks": (0, 1), "lr": 0.05}
    )
    structural: ClassVar[tuple[str, ...]] = (
        *PromptLearner.structural,
        "n_components",
        "prompt_length",
        "prefix_blocks",
        "growth",
    )
    parts: ClassVar[tuple[str, ...]] = (*PromptLearner.parts, "_opened")

    def __init__(
        self,
        *,
        growth: Growth = "all",
        n_components: int = 100,
        per_class: int = 1,
        prompt_length: int = 8,
        prefix_blocks: tuple[int, ...] = (0, 1, 2, 3, 4),
        strength: float = 0.1,
        mask: Mask = "seen",
        network: TransformerWeights | None = None,
        blocks: tuple[int, ...] | None = None,
        precision: Precision = "float32",
        memory_size: int = 0,
        n_replayed: int = 50,
        steps: int = 1,
        lr: float = 0.005,
        batch_size: int = 50,
        random_state: Any = None,
    ) -> None:
        self.growth = growth
        self.n_components = n_components
        self.per_class = per_class
        self.prompt_length = prompt_length
        self.prefix_blocks = prefix_blocks
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
        check_choice("growth", self.growth, ("all", "arrivals"))
        check_whole(n_components=self.n_components, per_class=self.per_class, at_least=1)
        check_whole(prompt_length=self.prompt_length, at_least=2)
        if self.prompt_length % 2:
            raise ValueError(
                f"prompt_length must be even, half for keys, half for values: {self.prompt_length}"
            )
        check_not_negative(strength=self.strength)
        check_blocks(self.network, prefix_blocks=self.prefix_blocks)

    def _drawn_prompts(
        self, weights: TransformerWeights, rng: np.random.Generator | None
    ) -> dict[str, Float32]:
        n, n_blocks, width = self.n_components, len(self.prefix_blocks), weights.width

        def drawn(*shape: int) -> Float32:
            rows = [orthonormal(rng, n, int(np.prod(shape))) for _ in range(n_blocks)]
            return np.stack(rows, axis=1).reshape(n, n_blocks, *shape)

        return {
            "components": drawn(self.prompt_length, width),
            "keys": drawn(width),
            "attentions": drawn(width),
        }

    # -- which components take part -------------------------------------------------------------------------

    def _start(self, n_features: int) -> None:
        super()._start(n_features)
        self._opened = OpenedComponents(self.n_components)
        if self.growth == "all":
            self._opened.open(self.n_components)

    def _grow(self, n_classes: int) -> None:
        n_new = n_classes - len(self._labels)
        super()._grow(n_classes)
        if self.growth == "arrivals":
            self._open(self.per_class * n_new)

    def _open(self, n: int) -> None:
        """Let `n` more components take part, if there are any, and fix the earlier ones."""
        start, stop = self._opened.open(n)
        for name in self._prompts.names():
            values = self._prompts[name].values
            for place in range(len(self.prefix_blocks)):
                flat = values[:, place].reshape(len(values), -1)
                values[start:stop, place] = orthogonal_to(flat[:start], flat[start:stop]).reshape(
                    values[start:stop, place].shape
                )

    def _trained_rows(self, name: str) -> NDArray[np.bool_]:
        return self._opened.trained()

    # -- the prefix -----------------------------------------------------------------------------------------

    def _prompted(
        self, prompts: Mapping[str, Tensor], batch: Batch, network: VisionTransformer, *, training: bool
    ) -> tuple[Tensor, Tensor]:
        used = {name: self._used(tensor) for name, tensor in prompts.items()}
        prefixes = {}
        for place, block in enumerate(self.prefix_blocks):
            weights = attended_cosines(batch.query, used["attentions"][:, place], used["keys"][:, place])
            components = used["components"][:, place]
            prefix = (weights @ components.flatten(1)).reshape(-1, *components.shape[1:])
            half = self.prompt_length // 2
            prefixes[block] = Prefix(prefix[:, :half], prefix[:, half:])
        penalty = batch.query.new_zeros(())
        if training and self.strength:
            for tensor in used.values():
                for place in range(len(self.prefix_blocks)):
                    penalty = penalty + self.strength * far_from_orthonormal(tensor[:, place].flatten(1))
        return network.class_token(batch.tokens, prefixes), penalty

    def _used(self, tensor: Tensor) -> Tensor:
        """Return the rows that take part; the fixed ones ask for no gradient."""
        fixed, opened = self._opened.fixed, self._opened.opened
        return import_torch().cat([tensor[:fixed].detach(), tensor[fixed:opened]])


def attended_cosines(queries: Tensor, attentions: Tensor, keys: Tensor) -> Tensor:
    """Return the cosines, (n, m), of (query * attention) and key, of queries (n, d) and m components."""
    functional = import_torch().nn.functional
    queries = functional.normalize(queries, dim=-1)
    products = queries @ (attentions * functional.normalize(keys, dim=-1)).T
    lengths = (queries.square() @ attentions.square().T).clamp_min(1e-16).sqrt()
    return products / lengths


def far_from_orthonormal(rows: Tensor) -> Tensor:
    """Return the mean square of what distinguishes the products of rows, (m, d), from the identity."""
    torch = import_torch()
    return (rows @ rows.T - torch.eye(len(rows))).square().mean()
