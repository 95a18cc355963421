"""Which share of the sphere the shared covariance gets, chosen from the statistics as samples pass."""

from typing import Literal, TypeAlias

import numpy as np

from i2cansay.core.state_parts import check_range
from i2cansay.core.statistics.discriminant import (
    cross_validated_penalty,
    cross_validated_shrinkage,
    shrinkage_of,
)
from i2cansay.core.statistics.scatter import SharedScatter
from i2cansay.core.types import State
from i2cansay.learners.parameters import check_positive

Shrinkage: TypeAlias = Literal["gcv", "oas"] | float

# The penalty is looked for from here on, in units of the last one.
STEP_BACK = 0.25


def check_shrinkage(shrinkage: Shrinkage) -> None:
    """Raise ValueError unless it is "gcv", "oas" or a number above 0 and at most 1."""
    if shrinkage not in ("gcv", "oas"):
        check_positive(shrinkage=shrinkage)  # type: ignore[arg-type]
        if float(shrinkage) > 1:
            raise ValueError(f'shrinkage must be "gcv", "oas" or at most 1, got {shrinkage!r}')


class ShrinkageChoice:
    """The penalty of the best regression, chosen anew with every inverse.

    Examples
    --------
    >>> scatter, choice = SharedScatter(2), ShrinkageChoice()
    >>> scatter.resize(1)
    >>> scatter.add(np.array([[0.0, 1.0], [1.0, 0.0], [4.0, 3.0]]), np.zeros(3, dtype=np.int64))
    >>> choice.current(scatter, 0.25), choice.current(scatter, "oas")
    (0.25, 1.0)
    """

    def __init__(self) -> None:
        self._penalty = 0.0

    @property
    def penalty(self) -> float:
        """The one chosen last; 0 before."""
        return self._penalty

    def current(self, scatter: SharedScatter, shrinkage: Shrinkage) -> float:
        """Return the shrinkage as scores use it now; what was chosen does not change.

        Where `renew` was never called it depends on the statistics alone, not on the order of the samples.
        """
        if shrinkage == "oas":
            return scatter.oas_shrinkage()
        if shrinkage != "gcv":
            return float(shrinkage)
        return shrinkage_of(scatter, self._penalty) if self._penalty else cross_validated_shrinkage(scatter)

    def renew(self, scatter: SharedScatter, shrinkage: Shrinkage) -> float:
        """Choose the penalty anew, and return the shrinkage for a new inverse."""
        if shrinkage == "gcv":
            self._penalty = cross_validated_penalty(scatter, begin=STEP_BACK * self._penalty)
        return self.current(scatter, shrinkage)

    def expire(self) -> None:
        """Forget what was chosen."""
        self._penalty = 0.0

    def resize(self, n_classes: int) -> None:
        """Do nothing: the choice is one for all classes."""

    def drop(self, row: int) -> None:
        """Do nothing."""

    def state(self) -> State:
        """Return the penalty."""
        return {"penalty": np.array([self._penalty])}

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` gave; earlier versions kept a second number, which is passed over."""
        if state["penalty"].shape not in ((1,), (2,)):
            raise ValueError(f"the penalty should be one number, not of shape {state['penalty'].shape}")
        check_range("the penalty", state["penalty"][:1], 0, np.inf)
        self._penalty = float(state["penalty"][0])
