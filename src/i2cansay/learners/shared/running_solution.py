"""The solution that belongs to the statistics between two lessons, made when it is asked for and handed on."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from i2cansay.core.copyable_lock import CopyableLock
from i2cansay.core.part_bytes import room, triangle_bytes
from i2cansay.core.statistics.discriminant import ShrunkMeans
from i2cansay.core.statistics.ridged_covariance import RidgedCovariance
from i2cansay.core.statistics.scatter import SharedScatter
from i2cansay.core.types import Float64, Rows
from i2cansay.learners.shared.held_ridge import SMALL_LESSON, can_hold
from i2cansay.learners.shared.running_weights import RunningWeights


class RunningSolution:
    """Weights for one state of the statistics, with a ridge that is held; a lesson hands them on to the next.

    A stream that asks nothing pays nothing: weights are solved for at the first question; the precision matrix is
    made at a question if there was one before the last lesson too; and it follows a lesson only if it was of use
    since the lesson before.

    Copies share it: as long as neither has learnt anything more, it is right for both. The first that learns takes
    the weights along, without copying them, and the others solve again where they have to. So there is one such
    matrix at a time, however many copies of a learner are kept.
    """

    def __init__(self, weights: RunningWeights | None = None, *, asked_before: bool = False) -> None:
        self._lock = CopyableLock()
        self._weights = weights
        self._asked, self._asked_before = False, asked_before

    def __deepcopy__(self, memo: dict[int, Any]) -> "RunningSolution":
        return self

    def __reduce__(self) -> tuple[type["RunningSolution"], tuple[()]]:
        return RunningSolution, ()  # another process solves again

    def closed_form(
        self, scatter: SharedScatter, covariance: RidgedCovariance, strength: float, *, empirical_prior: bool
    ) -> tuple[ShrunkMeans, Float64]:
        """Return the discriminant scores and the products of the means, as `RunningWeights` does."""
        with self._lock:
            self._asked = True
            if self._weights is None:
                self._weights = RunningWeights(scatter, covariance, follow=self._asked_before)
            return self._weights.closed_form(
                scatter, covariance.scale, strength, empirical_prior=empirical_prior
            )

    def solve(self, B: Float64, covariance: RidgedCovariance) -> Float64:
        """Return the rows ``A^-1 b`` for the rows of `B`, (k, d), by the precision matrix where there is one."""
        with self._lock:
            if self._weights is not None and self._weights.precision is not None:
                return covariance.scale * self._weights.precision.times(B)
        return covariance.solve(B)

    def following(self, gained: Float64, classes: Rows, scatter: SharedScatter) -> "RunningSolution":
        """Return the solution after a lesson that `scatter` has taken in; this one loses its weights to it.

        Parameters
        ----------
        gained : (r, d) rows whose Gram matrix the scatter has gained
        classes : (n,) classes of the samples
        """
        with self._lock:
            weights, self._weights = self._weights, None
        small = len(classes) <= SMALL_LESSON
        if weights is None or weights.precision is None or not (small and self._asked):
            return RunningSolution(asked_before=self._asked)
        weights.follow(gained, np.unique(classes), scatter)
        return RunningSolution(weights, asked_before=True)


@dataclass(frozen=True)
class RunningCovariance:
    """A with the ridge that is held, solved by the precision matrix where there is one."""

    ridged: RidgedCovariance
    running: RunningSolution

    def solve(self, B: Float64) -> Float64:
        """Return the rows ``A^-1 b`` for the rows of `B`, (k, d)."""
        return self.running.solve(B, self.ridged)

    def solve_with_means(self, B: Float64, centre: Float64) -> Float64:
        """Return the rows ``(A + mean_c p_c p_c^T)^-1 b`` for the rows of `B`, (k, d); means p_c from `centre`."""
        return self.ridged.solve_with_means(B, centre)


def running_bytes(width: int, n_classes: int) -> int:
    """Return the bytes that are held beside the state so that small lessons are answered at once.

    Half a square matrix and two arrays by class; nothing where no ridge is ever held.
    """
    if not can_hold(width, n_classes):
        return 0
    return triangle_bytes(width) + 8 * (room(n_classes) * width + width + 2 * n_classes**2)
