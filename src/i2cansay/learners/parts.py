"""Parts of one learner: taught apart, with statistics alone, and merged as if one had been taught everything.

A part is not scored while it learns. Scores of a part are of a model that nobody will ask, and how many there are
depends on how samples were divided. Who merges parts calibrates the whole.
"""

from __future__ import annotations

from typing import TypeVar

from numpy.typing import ArrayLike

from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.validation import check_features

Part = TypeVar("Part", bound=OnlineClassifier)


def check_partable(learner: OnlineClassifier) -> None:
    """Raise ValueError unless the parts of such a learner, merged, equal one that was taught everything.

    Examples
    --------
    >>> from i2cansay.learners import make_learner
    >>> check_partable(make_learner("slda"))
    >>> check_partable(make_learner("i2cansay"))
    Traceback (most recent call last):
    ...
    ValueError: I2CANSAY cannot be learnt in parts: what it learns depends on the order of samples; choose best, \
small or another learner in closed form
    """
    if not (learner.order_free and hasattr(learner, "merge")):
        raise ValueError(
            f"{type(learner).__name__} cannot be learnt in parts: what it learns depends on the order of samples; "
            "choose best, small or another learner in closed form"
        )


def begin_part(learner: Part, look: ArrayLike) -> Part:
    """Begin an untaught learner, and let the rows `look`, (n, d), decide what its first batch would decide.

    Parts that begin with the same parameters, the same whole number as `random_state` and the same rows see features
    the same way, whatever each is taught.

    Examples
    --------
    >>> from i2cansay.learners import make_learner
    >>> look = [[0.0, 1.0], [2.0, 3.0]]  # never below zero: "auto" takes the square root
    >>> parts = [begin_part(make_learner("best", random_state=0), look) for _ in range(2)]
    >>> absorb(parts[0], [[4.0, 4.0]], ["a"]).merge(absorb(parts[1], [[-1.0, 9.0]], ["b"])).class_means_
    array([[ 2.,  2.],
           [-1.,  3.]])
    """
    check_partable(learner)
    X = check_features(learner, look, reset=True)
    learner._begin(X.shape[1])
    learner._agree(X)
    return learner


def absorb(learner: Part, X: ArrayLike, y: ArrayLike) -> Part:
    """Teach a learner that has begun: rows (n, d) with labels (n,), which are not scored first."""
    rows = check_features(learner, X, reset=False)
    labels = learner._check_labels(y, len(rows))
    if len(rows):
        learner._absorb(rows, labels, None)
    return learner
