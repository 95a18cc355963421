"""Requests to a model: questions, and changes with their results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from i2cansay.core.types import Float32
from i2cansay.service.storage.annotation_records import AnnotationRecord


@dataclass(frozen=True)
class Question:
    """Rows to predict.

    Attributes
    ----------
    X : (n, d) array
    top : int
        How many classes to name for each row, at most.
    error, new_error : float
        The share of answers called sure that may be wrong, and of known samples that may be called new.
    """

    X: Float32
    top: int = 5
    error: float = 0.05
    new_error: float = 0.05


@dataclass(frozen=True)
class Learn:
    """Learn rows `X`, (n, d), with n labels.

    `key` is the digest of an idempotency key, and `content` the digest of the samples as sent, to which the
    key is bound; without `content` the key is bound to the labels. `who` is the name of the token. Lessons of one
    `series` were taught together, as a folder that was sent in parts. `annotation` is set by `Annotate`.
    """

    X: Float32
    labels: tuple[str, ...]
    key: bytes | None = None
    who: str = ""
    content: bytes = b""
    series: str = ""
    annotation: int = 0


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
    """Take back a lesson whose samples are still in memory, or of it `only` those of one class."""

    lesson: str
    who: str = ""
    only: str | None = None


@dataclass(frozen=True)
class Move:
    """Learn a lesson whose samples are still in memory under another label, or of it `only` those of one class."""

    lesson: str
    label: str
    who: str = ""
    only: str | None = None


@dataclass(frozen=True)
class Annotate:
    """Make the model what an annotation of Label Studio says now.

    Attributes
    ----------
    annotation : AnnotationRecord
        Its ids, its label, "" where there is nothing to learn, and when it was changed.
    X : (1, d) array or None
        Its image. None where it may not be needed: then `Annotate` is refused with `IMAGE_NEEDED` if it is.
    who : str
        The name of the token.
    """

    annotation: AnnotationRecord
    X: Float32 | None
    who: str = ""

    @property
    def lesson(self) -> Learn | None:
        """What is to be learnt, unless it has been."""
        if self.X is None or not self.annotation.label:
            return None
        return Learn(self.X, (self.annotation.label,), who=self.who, annotation=self.annotation.id)


Request: TypeAlias = Learn | Forget | Rename | Undo | Move | Annotate


def lesson_of(request: Request) -> Learn | None:
    """Return what a request has to learn, None where it has nothing."""
    if isinstance(request, Annotate):
        return request.lesson
    return request if isinstance(request, Learn) else None


@dataclass(frozen=True)
class LessonResult:
    """The result of `Learn`.

    Attributes
    ----------
    lesson : str
        Its name, for `Undo` and `Move`.
    learnt, repeated : int
        Samples learnt now, and samples that an earlier request with the same key has already brought.
    taken_back : int
        Repeated samples that `Undo` or `Forget` has taken out of the model. This key does not bring them back.
    durable : tuple of bool
        For each sample, whether it is on the disk.
    counts : dict
        How many samples each taught class has now, under its present name.
    scored, correct : int
        How many samples were predicted before they were learnt, and how many correctly.
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
    """The result of the other requests: how many samples the classes have now, or had when they were forgotten.

    `not_durable` names classes that are now too small to be written.
    """

    counts: dict[str, int]
    not_durable: tuple[str, ...] = ()


@dataclass(frozen=True)
class AnnotationResult:
    """The result of `Annotate`.

    Attributes
    ----------
    outcome : str
        "learnt"; "taken_back"; "moved", from one class to another; "unchanged", because the model knew; or "older",
        because it knew something later.
    durable : bool
        Whether the sample is on the disk, or nothing of it has to be.
    counts : dict
        How many samples the classes that were touched have now.
    """

    outcome: Literal["learnt", "taken_back", "moved", "unchanged", "older"]
    durable: bool = True
    counts: dict[str, int] = field(default_factory=dict)


Answer: TypeAlias = LessonResult | RevisionResult | AnnotationResult
