"""The prompt methods as published: told where a session ends, and trained for several passes over each."""

from __future__ import annotations

from math import cos, pi
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.types import Float32, Float64, Rows
from i2cansay.learners.parameters import check_whole
from i2cansay.learners.prompts.coda import CODAPrompt
from i2cansay.learners.prompts.dualprompt import DualPrompt
from i2cansay.learners.prompts.l2p import L2P
from i2cansay.learners.prompts.prompt_learner import PromptLearner
from i2cansay.learners.prompts.transformer_weights import TransformerWeights
from i2cansay.learners.prompts.vision_transformer import Precision

SessionMask = Literal["session", "seen"]
"""Which classes compete in the loss: those of the session and of what is replayed, or all that have come."""


class SessionPrompts(PromptLearner):
    """What the published forms share: a new optimiser for each session, several passes, and the session's mask."""

    needs_boundaries: ClassVar[bool] = True
    masks: ClassVar[tuple[str, ...]] = ("session", "seen")
    steps = 1  # the passes are counted by `epochs`
    epochs: int
    _epoch: int  # which of them goes on, from 0

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_whole(epochs=self.epochs, at_least=1)

    def _batches(self, n: int) -> list[Rows]:
        return [self._rng.permutation(n)]  # `fit` is one session, whatever the batches of its training

    def _train(self, X: Float32, rows: Rows, shares: Float64) -> None:
        self._prompts.start_over()
        self._head.start_over()
        self._in_session = np.unique(rows)
        for epoch in range(self.epochs):
            self._epoch = epoch
            order = self._rng.permutation(len(X))
            for start in range(0, len(X), self.batch_size):
                batch = order[start : start + self.batch_size]
                self._step(*self._with_replay(X[batch], rows[batch], shares[batch]))

    def _competing(self, rows: Rows) -> NDArray[np.bool_]:
        competing = np.full(len(self._labels), self.mask == "seen")
        competing[rows] = competing[self._in_session] = True
        # A session of one class would teach nothing, as a batch of one class.
        return competing if competing.sum() > 1 else np.ones_like(competing)


class SessionL2P(SessionPrompts, L2P):
    """L2P with session boundaries: it takes each batch for a session.

    Parameters
    ----------
    pool_size, prompt_length, n_chosen, strength, network, blocks, precision, memory_size, n_replayed, lr
        As in `L2P`, and so is `random_state`.
    mask : {"session", "seen"}
        Which classes compete in the loss; published is "session".
    epochs, batch_size : int
        Passes over a session, and samples to a step.

    Notes
    -----
    Rate, batch size, passes and clipping are those of the port to PyTorch, l2p-pytorch. Four things depart from it:
    each image chooses its own prompts, where the port takes a vote of the batch; prompts get no position, where the
    port adds that of the class token; the head starts at zero, as in the authors' code; images are not augmented.

    Examples
    --------
    >>> from i2cansay.testing.blobs import blobs
    >>> X, y = blobs(n_classes=2, per_class=20)
    >>> model = SessionL2P(lr=0.05, pool_size=4, n_chosen=2, batch_size=10, random_state=0).partial_fit(X, y)
    >>> model.score(X, y) > 0.7  # about 1.0
    True
    """

    summary = "L2P as published"
    small_parameters = MappingProxyType(
        {"pool_size": 4, "prompt_length": 2, "n_chosen": 2, "lr": 0.05, "epochs": 2, "batch_size": 10}
    )

    def __init__(
        self,
        *,
        pool_size: int = 10,
        prompt_length: int = 5,
        n_chosen: int = 5,
        strength: float = 0.1,
        mask: SessionMask = "session",
        network: TransformerWeights | None = None,
        blocks: tuple[int, ...] | None = None,
        precision: Precision = "float32",
        memory_size: int = 0,
        n_replayed: int = 16,
        epochs: int = 5,
        lr: float = 0.001875,
        batch_size: int = 16,
        random_state: Any = None,
    ) -> None:
        self.pool_size = pool_size
        self.prompt_length = prompt_length
        self.n_chosen = n_chosen
        self.strength = strength
        self.mask = mask  # type: ignore[assignment]
        self.network = network
        self.blocks = blocks
        self.precision = precision
        self.memory_size = memory_size
        self.n_replayed = n_replayed
        self.epochs = epochs
        self.lr = lr
        self.batch_size = batch_size
        self.random_state = random_state


class SessionDualPrompt(SessionPrompts, DualPrompt):
    """DualPrompt with session boundaries: each session that brings new classes has an expert of its own.

    Its expert starts as a copy of the last one and is fixed when the session ends. With more sessions than
    `pool_size` the last expert goes on.

    Parameters
    ----------
    pool_size : int
        Experts: at least as many as there will be sessions.
    prompt_length, general_blocks, expert_blocks, strength, network, blocks, precision, memory_size, n_replayed, lr
        As in `DualPrompt`, and so is `random_state`.
    mask, epochs, batch_size
        As in `SessionL2P`.

    Notes
    -----
    Rate, batch size, passes and clipping are those of the port to PyTorch, dualprompt-pytorch. Five things depart
    from it: each image that is asked about chooses its own expert, where the port takes a vote of the batch; it gets
    the keys and values of that expert, where a reshape of the port mixes them between the images of a batch; it
    chooses among the experts of the sessions so far, where the port has the keys of all compete; the head starts at
    zero, as in the authors' code; images are not augmented. A session without a new class goes on with the last
    expert.

    Examples
    --------
    >>> from i2cansay.testing.blobs import blobs
    >>> X, y = blobs(n_classes=2, per_class=20)
    >>> model = SessionDualPrompt(
    ...     lr=0.05, general_blocks=(0,), expert_blocks=(1,), batch_size=10, random_state=0).partial_fit(X, y)
    >>> model.score(X, y) > 0.7  # about 1.0
    True
    """

    summary = "DualPrompt as published"
    small_parameters = MappingProxyType({**DualPrompt.small_parameters, "epochs": 2, "batch_size": 10})
    expert = "arrivals"
    classes_per_expert = 1

    def __init__(
        self,
        *,
        pool_size: int = 10,
        prompt_length: int = 5,
        general_blocks: tuple[int, ...] = (0, 1),
        expert_blocks: tuple[int, ...] = (2, 3, 4),
        strength: float = 1.0,
        mask: SessionMask = "session",
        network: TransformerWeights | None = None,
        blocks: tuple[int, ...] | None = None,
        precision: Precision = "float32",
        memory_size: int = 0,
        n_replayed: int = 24,
        epochs: int = 5,
        lr: float = 0.0028,
        batch_size: int = 24,
        random_state: Any = None,
    ) -> None:
        self.pool_size = pool_size
        self.prompt_length = prompt_length
        self.general_blocks = general_blocks
        self.expert_blocks = expert_blocks
        self.strength = strength
        self.mask = mask  # type: ignore[assignment]
        self.network = network
        self.blocks = blocks
        self.precision = precision
        self.memory_size = memory_size
        self.n_replayed = n_replayed
        self.epochs = epochs
        self.lr = lr
        self.batch_size = batch_size
        self.random_state = random_state

    def _wanted_experts(self, n_classes: int) -> int:
        return self._opened.opened + 1


class SessionCODAPrompt(SessionPrompts, CODAPrompt):
    """CODA-Prompt with session boundaries: a session that brings new classes opens components and fixes the others.

    Parameters
    ----------
    n_components, per_session : int
        Components of each block, and how many of them a session opens; the published number is the first divided by
        the number of sessions, which has to be known.
    prompt_length, prefix_blocks, strength, network, blocks, precision, memory_size, n_replayed, lr, random_state
        As in `CODAPrompt`.
    mask, epochs, batch_size
        As in `SessionL2P`.

    Notes
    -----
    Batch size, passes and the fall of the rate over the passes of a session (`falling_rate`) are those of the
    authors' code, and gradients are not clipped. Four things depart from it: its schedule is one pass late, with the
    whole rate in the first two; the weight of its orthogonality is 0, and was 0.1 times a millionth at first; its
    head starts at random, ours at zero; images are not augmented. A session without a new class opens no components.

    Examples
    --------
    >>> from i2cansay.testing.blobs import blobs
    >>> X, y = blobs(n_classes=2, per_class=20)
    >>> model = SessionCODAPrompt(
    ...     lr=0.05, n_components=4, per_session=2, prefix_blocks=(0,), batch_size=10, epochs=5, random_state=0)
    >>> model.partial_fit(X, y).score(X, y) > 0.7  # about 1.0
    True
    """

    summary = "CODA-Prompt as published"
    small_parameters = MappingProxyType(
        {**CODAPrompt.small_parameters, "per_session": 2, "epochs": 2, "batch_size": 10}
    )
    growth = "arrivals"
    per_class = 1

    def __init__(
        self,
        *,
        n_components: int = 100,
        per_session: int = 10,
        prompt_length: int = 8,
        prefix_blocks: tuple[int, ...] = (0, 1, 2, 3, 4),
        strength: float = 0.1,
        mask: SessionMask = "session",
        network: TransformerWeights | None = None,
        blocks: tuple[int, ...] | None = None,
        precision: Precision = "float32",
        memory_size: int = 0,
        n_replayed: int = 128,
        epochs: int = 20,
        lr: float = 0.001,
        batch_size: int = 128,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.per_session = per_session
        self.prompt_length = prompt_length
        self.prefix_blocks = prefix_blocks
        self.strength = strength
        self.mask = mask  # type: ignore[assignment]
        self.network = network
        self.blocks = blocks
        self.precision = precision
        self.memory_size = memory_size
        self.n_replayed = n_replayed
        self.epochs = epochs
        self.lr = lr
        self.batch_size = batch_size
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_whole(per_session=self.per_session, at_least=1)

    def _open(self, n: int) -> None:
        super()._open(self.per_session)

    def _rate(self) -> float:
        return falling_rate(self.lr, self._epoch, self.epochs)


def falling_rate(lr: float, epoch: int, epochs: int) -> float:
    """Return the rate of a pass, counted from 0: along a cosine, from `lr` to nearly nothing in the last.

    Examples
    --------
    >>> [round(falling_rate(1.0, epoch, 5), 3) for epoch in range(5)]
    [1.0, 0.925, 0.713, 0.394, 0.016]
    """
    return lr * cos(99 * pi * epoch / (200 * max(epochs - 1, 1)))
