"""What `ImageLearner` returns and raises: guesses, lesson reports, an error that names every unreadable image."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from i2cansay.encoders.image_error import ImageError
from i2cansay.learners.labels import Label


@dataclass(frozen=True)
class LessonReport:
    """What `ImageLearner.learn` did.

    Attributes
    ----------
    learnt : int
        How many images were learnt.
    skipped : mapping from int to str
        Why each of the other images was left out, by its index.
    """

    learnt: int
    skipped: Mapping[int, str] = field(default_factory=dict)


class Guess(NamedTuple):
    """A class that an image may be of, and its probability."""

    label: Label
    probability: float


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
