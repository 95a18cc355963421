"""Whether features fit a model, and whether the model has room for them."""

from __future__ import annotations

from i2cansay.core.types import Float32
from i2cansay.learners.base import OnlineClassifier
from i2cansay.service.errors import refused
from i2cansay.service.limits import MEGABYTE


def check_width(X: Float32, expected: int | None) -> None:
    """Raise ServiceError where rows, (n, d), are not of the expected width; None expects nothing yet."""
    if expected is not None and X.shape[1] != expected:
        raise refused(f"expected features of width {expected}, got {X.shape[1]}; was the encoder changed?")


def check_size(learner: OnlineClassifier, width: int, classes: int, most: int) -> None:
    """Raise ServiceError where `learner` would take more than `most` bytes, or does not say how many.

    Parameters
    ----------
    learner : OnlineClassifier
        Taught or untaught; its parameters count.
    width, classes : int
        Of the features, and how many classes there would be.
    """
    name = type(learner).__name__
    try:
        needed = learner.state_bytes(width, classes)
    except Exception as error:  # a parameter of the wrong type may raise anything
        raise refused(f"the learner {name} cannot be made: {error}") from error
    if needed is None:
        raise refused(
            f"the learner {name} stores samples, or grows with each of them, so a model could outgrow "
            f"the {most / MEGABYTE:.0f} MB it may take; use another learner"
        )
    if needed > most:
        raise refused(
            f"the learner {name} would keep {needed / MEGABYTE:.0f} MB for features of width {width} and "
            f"{classes} classes, and a model may take {most / MEGABYTE:.0f} MB; use {learner.size_advice} or "
            "another learner"
        )
