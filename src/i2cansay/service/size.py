"""How large the state of a model can get, told before it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from i2cansay.learners import learner_class
from i2cansay.service.errors import refused
from i2cansay.service.limits import MEGABYTE

SQUARE = ("slda", "ridge", "ranpac")
"""Learners that keep a matrix of all pairs of dimensions."""
PER_CLASS = 24
"""Bytes per class and dimension: a mean, a spread and a weight, at most in double precision."""


def state_bytes(learner: str, parameters: Mapping[str, Any], width: int, classes: int) -> int:
    """Return about how many bytes the state of a learner takes, rather too many than too few.

    Examples
    --------
    >>> state_bytes("i2cansay", {}, 1280, 100), state_bytes("slda", {}, 1280, 100)
    (3072000, 16179200)
    """
    side = width
    if learner == "ranpac":
        usual = learner_class(learner)().get_params(deep=False)
        side = int({**usual, **parameters}["n_projections"])
    square = 8 * side**2 if learner in SQUARE else 0
    return square + PER_CLASS * side * classes


def check_size(learner: str, parameters: Mapping[str, Any], width: int, classes: int, most: int) -> None:
    """Raise ServiceError where a state would take more than `most` bytes."""
    try:
        needed = state_bytes(learner, parameters, width, classes)
    except (TypeError, ValueError, OverflowError):
        return  # parameters that make no sense are refused, with a better sentence, when the learner is made
    if needed > most:
        advice = "fewer n_projections" if learner == "ranpac" else "narrower features, fewer classes"
        raise refused(
            f"the learner {learner!r} would keep {needed / MEGABYTE:.0f} MB for features of width {width} and "
            f"{classes} classes, and a model may take {most / MEGABYTE:.0f} MB; use {advice} or another learner"
        )
