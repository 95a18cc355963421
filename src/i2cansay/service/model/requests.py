"""What a model can be asked to change, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from i2cansay.core.types import Float32


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
