"""How large the state of a model can get, told before it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from i2cansay.core.feature_map import WIDEST
from i2cansay.learners import learner_class
from i2cansay.service.errors import refused
from i2cansay.service.limits import MEGABYTE

SQUARE = ("slda", "ridge", "ranpac", "rff_lda")
"""Learners that keep a matrix of all pairs of dimensions, of the features or of their lift."""
PER_CLASS = 24
"""Bytes per class and dimension: a mean, a spread and a weight, at most in double precision."""
PER_SAMPLE = 16
"""Bytes per stored sample beside its features: its class and what decides whether it stays."""
ADVICE = {
    "i2cansay_shared": "a smaller lift",
    "ranpac": "fewer n_projections",
    "rff_lda": "fewer n_projections",
    "fecam": 'covariance="common"',
    "ensemble": "fewer n_classifiers",
}
USUAL_ADVICE = "narrower features, fewer classes"


def state_bytes(learner: str, parameters: Mapping[str, Any], width: int, classes: int) -> int:
    """Return about how many bytes the state of a learner takes, rather too many than too few.

    Examples
    --------
    >>> state_bytes("i2cansay", {}, 1280, 100), state_bytes("slda", {}, 1280, 100)
    (3072000, 16179200)
    >>> state_bytes("er", {"memory_size": 1000}, 1280, 100)
    8208000
    """
    given = {**learner_class(learner)().get_params(deep=False), **parameters}
    side = int(given.get("n_projections", width))
    square = 8 * side**2 if learner in SQUARE else 0
    if learner == "i2cansay_shared" or given.get("covariance") == "shared":
        side = min(width + int(given["lift"]), WIDEST)
        square = 8 * side**2  # half a matrix in double precision, and its inverse in single
    return square + PER_CLASS * side * classes + _samples(given, width) + _own(learner, given, width, classes)


def _samples(given: Mapping[str, Any], width: int) -> int:
    """Return the bytes of the samples a learner may store."""
    return int(given.get("memory_size", 0)) * (4 * width + PER_SAMPLE)


def _own(learner: str, given: Mapping[str, Any], width: int, classes: int) -> int:
    """Return the bytes of what no other learner keeps."""
    if learner == "fecam":  # a triangle in single precision, and its factor once it was asked
        return 4 * width * (width + 1) * classes if given["covariance"] == "class" else 8 * width**2
    if learner == "ensemble":  # the classifiers, and their keys
        return 4 * int(given["n_classifiers"]) * (classes + 1) * (width + 1)
    if learner == "cope":  # the embedding
        return 4 * width * int(given["embedding_size"] or width)
    if learner == "cndpm":  # directions of the experts: at most about one expert for every class
        return 8 * int(given["rank"]) * width * classes
    if learner == "dsdm":  # what every row says of every class
        return 4 * int(given["memory_size"]) * classes
    return 0


def check_size(learner: str, parameters: Mapping[str, Any], width: int, classes: int, most: int) -> None:
    """Raise ServiceError where a state would take more than `most` bytes."""
    try:
        needed = state_bytes(learner, parameters, width, classes)
    except (TypeError, ValueError, OverflowError):
        return  # parameters that make no sense are refused, with a better sentence, when the learner is made
    if needed > most:
        stores = "memory_size" in parameters
        advice = ADVICE.get(learner, "a smaller memory_size" if stores else USUAL_ADVICE)
        raise refused(
            f"the learner {learner!r} would keep {needed / MEGABYTE:.0f} MB for features of width {width} and "
            f"{classes} classes, and a model may take {most / MEGABYTE:.0f} MB; use {advice} or another learner"
        )
