"""What the prompt methods share: a frozen transformer, prompts and a head that Adam trains, a mask, and replay."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from i2cansay.core.buffers.reservoir import Reservoir
from i2cansay.core.part_bytes import samples_bytes
from i2cansay.core.types import Features, Float32, Float64, Rows, State
from i2cansay.learners.base import WEIGHTS_ARE_NOT_COPIES, OnlineClassifier
from i2cansay.learners.parameters import check_choice, check_positive, check_whole
from i2cansay.learners.prompts.adam_rows import TrainedArrays, trained_bytes
from i2cansay.learners.prompts.image_rows import ImageRows
from i2cansay.learners.prompts.transformer_weights import TransformerWeights, random_transformer
from i2cansay.learners.prompts.vision_transformer import (
    Precision,
    Tensor,
    VisionTransformer,
    vision_transformer,
)
from i2cansay.learners.torch_extra import import_torch
from i2cansay.learners.validation import make_generator

Mask = Literal["seen", "batch"]
"""Which classes compete in the loss: all that have come, or those of the batch with what is replayed beside it."""
# Images that pass the network at once when they are scored. Larger runs are no faster, and hold more activations.
SCORED_AT_ONCE = 64


class Batch(NamedTuple):
    """What a method sees of a batch, as tensors: tokens (n, t, d), queries (n, d), and in training classes (n,)."""

    tokens: Tensor
    query: Tensor
    rows: Tensor = None


class PromptLearner(OnlineClassifier):
    """Base of the prompt methods. Each has at least the parameters named here.

    A method draws its arrays in `_drawn_prompts`, and turns a batch into features and a penalty in `_prompted`.
    Prompts are chosen image by image, so that a prediction does not depend on what shares its batch.
    """

    extra: ClassVar[str | None] = "torch"
    reads_images: ClassVar[bool] = True
    masks: ClassVar[tuple[str, ...]] = ("seen", "batch")
    lazy: ClassVar[bool] = True  # every score is a pass through the network
    longest_gradient: ClassVar[float | None] = None
    """How long the gradients of all trained arrays together may be, where a limit is published."""
    parts: ClassVar[tuple[str, ...]] = ("_prompts", "_head", "_buffer")
    structural: ClassVar[tuple[str, ...]] = ("network", "blocks", "memory_size")
    array_parameters = MappingProxyType({"network": TransformerWeights})
    expected_failed_checks = MappingProxyType(
        {
            **WEIGHTS_ARE_NOT_COPIES,
            "check_methods_subset_invariance": "it requires 1e-7, and products of more images round differently",
        }
    )
    size_advice = "a smaller memory_size"

    network: TransformerWeights | None
    blocks: tuple[int, ...] | None
    precision: Precision
    mask: Mask
    memory_size: int
    n_replayed: int
    steps: int
    lr: float
    batch_size: int
    random_state: Any

    # -- what a method writes -------------------------------------------------------------------------------

    @abstractmethod
    def _drawn_prompts(
        self, weights: TransformerWeights, rng: np.random.Generator | None
    ) -> dict[str, Float32]:
        """Return the arrays that are trained besides the head, as they start; without `rng` only their shapes."""

    @abstractmethod
    def _prompted(
        self, prompts: Mapping[str, Tensor], batch: Batch, network: VisionTransformer, *, training: bool
    ) -> tuple[Tensor, Tensor]:
        """Return the features of a batch, (n, d), and what is added to the loss: a number."""

    def _logits(self, head: Mapping[str, Tensor], features: Tensor) -> Tensor:
        """Return the logits, (n, c), of features (n, d)."""
        return import_torch().nn.functional.linear(features, head["weights"], head["bias"])

    def _trained_rows(self, name: str) -> Any:
        """Return which rows of an array of prompts may change now, (rows,); None for all."""
        return None

    # -- the contract ---------------------------------------------------------------------------------------

    @property
    def stores_samples(self) -> bool:  # type: ignore[override]
        """Whether it was given room for samples to replay."""
        return self.memory_size > 0

    def _check_parameters(self) -> None:
        check_choice("mask", self.mask, self.masks)
        check_choice("precision", self.precision, ("float32", "bfloat16"))
        check_whole(memory_size=self.memory_size, n_replayed=self.n_replayed)
        check_whole(steps=self.steps, batch_size=self.batch_size, at_least=1)
        check_positive(lr=self.lr)
        if self.network is not None and not isinstance(self.network, TransformerWeights):
            raise ValueError(f"network must be TransformerWeights or None, got {type(self.network).__name__}")

    def _weights(self, n_features: int) -> TransformerWeights:
        return self.network or _stand_in(n_features)

    def _start(self, n_features: int) -> None:
        import_torch()  # before anything is learnt: it may not be there
        weights = self._weights(n_features)
        self._rows = ImageRows.of(n_features, weights, self.blocks)
        # From a seed of their own: the order of the samples does not depend on how many numbers a method draws.
        rng = np.random.default_rng(make_generator(self.random_state).integers(2**63))
        self._prompts = TrainedArrays(self._drawn_prompts(weights, rng))
        empty = {"weights": np.zeros((0, weights.width), np.float32), "bias": np.zeros(0, np.float32)}
        self._head = TrainedArrays(empty, by_class=True)
        self._buffer = Reservoir(self.memory_size, n_features) if self.memory_size else None

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        weights = self._weights(n_features)
        arrays = self._drawn_prompts(weights, None).values()
        prompts = trained_bytes(sum(array.size for array in arrays), sum(len(array) for array in arrays))
        head = trained_bytes(n_classes * (weights.width + 1), 2 * n_classes)
        return prompts + head + samples_bytes(n_features, self.memory_size)

    def _state(self) -> State:
        digest = self._weights(self.n_features_in_).digest
        return super()._state() | {"network": np.frombuffer(bytes.fromhex(digest), dtype=np.uint8)}

    def _restore(self, state: State) -> None:
        expected = self._weights(self._rows.n_features).digest
        if bytes(state["network"]).hex() != expected:
            raise ValueError(
                "this was learnt with another network; give the parameter network the same weights"
            )
        super()._restore(state)

    # -- learning -------------------------------------------------------------------------------------------

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        X, shares = X.astype(np.float32), np.ones(len(X)) if weights is None else weights
        self._begin_rows()
        self._train(X, rows, shares)
        if self._buffer is not None:
            self._buffer.add(X, rows, self._rng)

    def _train(self, X: Float32, rows: Rows, shares: Float64) -> None:
        """Train on a batch."""
        for _ in range(self.steps):
            self._step(*self._with_replay(X, rows, shares))

    def _begin_rows(self) -> None:
        """Draw the weights of classes that have just come, where zero will not do."""

    def _with_replay(self, X: Float32, rows: Rows, shares: Float64) -> tuple[Float32, Rows, Float64]:
        """Return a batch with replayed samples behind it, each with the weight of a sample of weight one."""
        if self._buffer is None or not self.n_replayed or not len(self._buffer):
            return X, rows, shares
        replayed, replayed_rows = self._buffer.draw(self.n_replayed, self._rng)
        ones = np.ones(len(replayed))
        return (
            np.concatenate([X, replayed]),
            np.concatenate([rows, replayed_rows]),
            np.concatenate([shares, ones]),
        )

    def _step(self, X: Float32, rows: Rows, shares: Float64) -> None:
        """Take one step of Adam on a batch (n, d) of classes `rows`, weighted by `shares`, (n,)."""
        torch = import_torch()
        prompts, head = self._leaves(self._prompts), self._leaves(self._head)
        batch = self._batch(X)._replace(rows=torch.from_numpy(rows))
        features, penalty = self._prompted(prompts, batch, self._network, training=True)
        logits = self._logits(head, features)
        absent = torch.from_numpy(~self._competing(rows))
        losses = torch.nn.functional.cross_entropy(
            logits.masked_fill(absent, -torch.inf), batch.rows, reduction="none"
        )
        weights = torch.from_numpy((shares / shares.sum()).astype(np.float32))
        leaves = [*prompts.values(), *head.values()]
        found = torch.autograd.grad((losses * weights).sum() + penalty, leaves, allow_unused=True)
        gradients = [
            np.zeros(tuple(leaf.shape), np.float32) if gradient is None else gradient.numpy()
            for leaf, gradient in zip(leaves, found, strict=True)
        ]
        self._update(gradients)

    def _update(self, gradients: list[Float32]) -> None:
        names = [(self._prompts, name) for name in self._prompts.names()]
        trained = [self._trained_rows(name) for _, name in names]
        names += [(self._head, name) for name in self._head.names()]
        trained += [None] * (len(names) - len(trained))
        # What is fixed does not count in the length either: replayed images reach experts of the past.
        gradients = [
            gradient
            if rows is None or rows.all()
            else gradient * rows.reshape(-1, *(1,) * (gradient.ndim - 1))
            for gradient, rows in zip(gradients, trained, strict=True)
        ]
        length = float(np.sqrt(sum(np.vdot(gradient, gradient) for gradient in gradients)))
        if not np.isfinite(length):  # rather no step than a step to nowhere
            name = type(self).__name__
            warnings.warn(
                f"a step of {name} is left out: its gradient is not finite; is lr={self.lr} too large?",
                RuntimeWarning,
                stacklevel=2,
            )
            return
        limit = self.longest_gradient
        shrink = np.float32(1.0 if limit is None else min(1.0, limit / (length + 1e-6)))
        rate = self._rate()
        for (part, name), gradient, rows in zip(names, gradients, trained, strict=True):
            part[name].step(gradient * shrink, rate, rows)

    def _rate(self) -> float:
        """Return Adam's rate for the next step."""
        return self.lr

    def _competing(self, rows: Rows) -> Any:
        """Return which classes, (c,), compete in the loss for a batch of classes `rows`.

        With one class alone the loss would be zero whatever is predicted, and nothing would be learnt: then all
        classes that have come compete.
        """
        if self.mask == "seen" or len(np.unique(rows)) < 2:
            return np.ones(len(self._labels), dtype=bool)
        competing = np.zeros(len(self._labels), dtype=bool)
        competing[rows] = True
        return competing

    # -- scoring --------------------------------------------------------------------------------------------

    def _scores(self, X: Features) -> Features:
        torch = import_torch()
        with torch.no_grad():
            prompts, head = self._tensors(self._prompts), self._tensors(self._head)
            scores = []
            for start in range(0, len(X), SCORED_AT_ONCE):
                batch = self._batch(X[start : start + SCORED_AT_ONCE].astype(np.float32))
                features, _ = self._prompted(prompts, batch, self._network, training=False)
                scores.append(self._logits(head, features).numpy())
        return np.concatenate(scores).astype(np.float64) if scores else np.zeros((0, len(self._labels)))

    # -- inside ---------------------------------------------------------------------------------------------

    @property
    def _network(self) -> VisionTransformer:
        return vision_transformer(self._weights(self._rows.n_features), self.precision)

    def _batch(self, X: Float32) -> Batch:
        """Embed images and find their queries: the stored ones, or the class tokens without prompts."""
        torch = import_torch()
        pixels, query = self._rows.split(X)
        with torch.no_grad():
            tokens = self._network.embed(pixels)
            found = self._network.class_token(tokens) if query is None else torch.from_numpy(query)
        return Batch(tokens, found)

    @staticmethod
    def _tensors(part: TrainedArrays) -> dict[str, Tensor]:
        torch = import_torch()
        return {name: torch.from_numpy(part[name].values) for name in part.names()}

    @classmethod
    def _leaves(cls, part: TrainedArrays) -> dict[str, Tensor]:
        return {name: tensor.requires_grad_() for name, tensor in cls._tensors(part).items()}


@lru_cache(maxsize=8)
def _stand_in(n_features: int) -> TransformerWeights:
    """Return a small random network for rows of this width, where no network is given."""
    return random_transformer(side=ImageRows.least_side(n_features))
