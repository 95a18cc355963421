"""What `ImageLearner` returns and raises: guesses, answers, lesson reports, an error for unreadable images."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from i2cansay.encoders.image_error import ImageError
from i2cansay.image_learner.doubts import Doubt
from i2cansay.learners.labels import Label

UNREADABLE = "unreadable"
"""What an answer says in place of a verdict where the image cannot be read."""


@dataclass(frozen=True)
class LessonReport:
    """What `ImageLearner.learn` did.

    Attributes
    ----------
    learnt : int
        How many images were learnt.
    skipped : mapping from int to str
        Why each of the other images was left out, by its index.
    doubts : tuple of Doubt
        Images whose label may be wrong, the likeliest first; as many as were asked for.
    """

    learnt: int
    skipped: Mapping[int, str] = field(default_factory=dict)
    doubts: tuple[Doubt, ...] = ()


class Guess(NamedTuple):
    """A class that an image may be of, and its probability."""

    label: Label
    probability: float


@dataclass(frozen=True)
class Answer:
    """What `ImageLearner.answer` says of one image.

    Attributes
    ----------
    verdict : {"sure", "unsure", "new", "unreadable"}
    guesses : tuple of Guess
        The likeliest classes, the likeliest first; empty where the image cannot be read.
    reason : str
        Why it cannot be read, else empty.

    Examples
    --------
    >>> Answer("sure", (Guess("dent", 0.98),)).label
    'dent'
    """

    verdict: str
    guesses: tuple[Guess, ...] = ()
    reason: str = ""

    @property
    def label(self) -> Label | None:
        """The likeliest class; None where the image cannot be read."""
        return self.guesses[0].label if self.guesses else None

    @property
    def probability(self) -> float:
        """The probability of the likeliest class; 0 where the image cannot be read."""
        return self.guesses[0].probability if self.guesses else 0.0


class UnreadableImages(ImageError):
    """Names every image that cannot be used.

    Attributes
    ----------
    reasons : dict from int to str
        Why it cannot be used, by the index of the image.

    Examples
    --------
    >>> print(UnreadableImages({3: "the image has no bytes", 7: "cannot open 'cat.jpg'"}))
    2 images cannot be used (on_error="skip" leaves them out): image 3: the image has no bytes;
    image 7: cannot open 'cat.jpg'
    """

    def __init__(self, reasons: Mapping[int, str]) -> None:
        many = "1 image" if len(reasons) == 1 else f"{len(reasons)} images"
        super().__init__(f'{many} cannot be used (on_error="skip" leaves them out): {listed(reasons)}')
        self.reasons = dict(reasons)

    def __reduce__(self) -> tuple[Any, ...]:  # otherwise a worker process cannot send it to its parent
        return type(self), (self.reasons,)


class SkippedImages(UserWarning):
    """Images that were left out because of `on_error="skip"`."""


def listed(reasons: Mapping[int, str]) -> str:
    """Return indices and reasons as one line."""
    return "; ".join(f"image {index}: {reason}" for index, reason in reasons.items())
