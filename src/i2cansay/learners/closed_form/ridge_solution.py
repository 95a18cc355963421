"""A ridge regression and the penalty it was solved with, given as a number or chosen from the statistics."""

from typing import Literal, NamedTuple

from i2cansay.core.statistics.linear_scores import LinearScores
from i2cansay.core.statistics.ridge_statistics import RidgeStatistics
from i2cansay.learners.parameters import check_positive


class RidgeSolution(NamedTuple):
    """The scores of a regression, and its penalty."""

    rule: LinearScores
    penalty: float


def check_penalty(penalty: float | Literal["gcv"]) -> None:
    """Raise unless `penalty` is a number above zero or "gcv".

    Examples
    --------
    >>> check_penalty("best")
    Traceback (most recent call last):
    ...
    ValueError: penalty must be a number above 0 or 'gcv', got 'best'
    """
    if isinstance(penalty, str):
        if penalty != "gcv":
            raise ValueError(f"penalty must be a number above 0 or 'gcv', got {penalty!r}")
        return
    check_positive(penalty=penalty)


def solve_ridge(
    statistics: RidgeStatistics, penalty: float | Literal["gcv"], *, relative: bool, intercept: bool
) -> RidgeSolution:
    """Return the regression with this penalty, or with the one of least cross-validation error."""
    if penalty == "gcv":
        return RidgeSolution(*statistics.solve_cross_validated(intercept=intercept))
    rule = statistics.solve(penalty=penalty, relative=relative, intercept=intercept)
    return RidgeSolution(rule, penalty)
