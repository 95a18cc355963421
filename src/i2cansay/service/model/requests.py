"""What a model can be asked to change, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.types import Float32, Float64


@dataclass(frozen=True)
class Learn:
    """Learn rows `X`, (n, d), with n labels.

    `key` is the digest of an idempotency key; `who` the name of the token that asked; `content` the digest of what
    was sent, to which the key is bound (of the labels alone where it is not given).
    """

    X: Float32
    labels: tuple[str, ...]
    key: bytes | None = None
    who: str = ""
    content: bytes = b""


@dataclass(frozen=True)
class Forget:
    """Drop a class."""

    label: str
    who: str = ""


@dataclass(frozen=True)
class Rename:
    """Give a class another label."""

    label: str
    new: str
    who: str = ""


@dataclass(frozen=True)
class Undo:
    """Take a lesson back whose samples are still in memory."""

    lesson: str
    who: str = ""


Request: TypeAlias = Learn | Forget | Rename | Undo


@dataclass(frozen=True)
class LessonResult:
    """The answer to `Learn`.

    Attributes
    ----------
    lesson : str
        What `Undo` takes.
    learnt, repeated : int
        Samples learnt now, and samples that an earlier request with the same key had brought already.
    taken_back : int
        Samples that have been taken out of the model since they were brought, by `Undo` or `Forget`; they are not
        learnt again under this key.
    durable : tuple of bool
        For each sample whether it is safe on the disk.
    counts : dict
        Samples of each class that was taught, under its present name, as they are now.
    scored, correct : int
        How many samples were asked before they were learnt, and how many were right.
    """

    lesson: str
    learnt: int
    repeated: int
    durable: tuple[bool, ...]
    counts: dict[str, int]
    scored: int
    correct: int
    taken_back: int = 0


@dataclass(frozen=True)
class RevisionResult:
    """The answer to the other requests: how many samples of which class they touched.

    `not_durable` names classes that have become too small to be written.
    """

    counts: dict[str, int]
    not_durable: tuple[str, ...] = ()


Answer: TypeAlias = LessonResult | RevisionResult


@dataclass(frozen=True)
class Sample:
    """One sample while it is in memory.

    `serial` tells samples of a model apart; `content` is the digest of the request that brought it. `number` is that
    of its class where the class was on the disk before, and all but this sample were taken back.
    """

    serial: int
    x: Float32
    label: str
    at: float
    who: str = ""
    key: bytes | None = None
    position: int = 0
    total: int = 1
    content: bytes = b""
    scored: bool = False
    correct: bool = False
    strangeness: float = 0.0
    number: int | None = None


@dataclass(frozen=True)
class Tested:
    """How rows fared before they were learnt: whether asked, whether right, how strange, all (n,)."""

    scored: NDArray[np.bool_]
    correct: NDArray[np.bool_]
    strangeness: Float64

    @classmethod
    def nothing(cls, n: int) -> Tested:
        """Nothing was asked."""
        return cls(np.zeros(n, dtype=bool), np.zeros(n, dtype=bool), np.zeros(n))

    def part(self, start: int, stop: int) -> Tested:
        """Return the rows from `start` to `stop`."""
        return Tested(self.scored[start:stop], self.correct[start:stop], self.strangeness[start:stop])


@dataclass(frozen=True)
class UndoableLesson:
    """The samples of a lesson, kept for a while so that it can be taken back."""

    samples: tuple[Sample, ...] = field(default_factory=tuple)
    until: float = 0.0
