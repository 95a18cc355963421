"""The ridge that is held between two refreshes, so that a lesson changes the closed form by a few rows only."""

from collections.abc import Callable

import numpy as np

from i2cansay.core.state_parts import LARGEST_COUNT, check_range
from i2cansay.core.statistics.discriminant import MOST_JUDGED
from i2cansay.core.statistics.ridged_covariance import absolute_ridge, fits
from i2cansay.core.statistics.scatter import LOW_RANK_UP_TO, SharedScatter
from i2cansay.core.types import Float64, State

# A lesson of up to this many samples enters by its rows. Streams in batches have larger ones; there nobody waits for
# an answer after each, and the ridge need not be held.
SMALL_LESSON = 16
# Below this width a solution takes a few milliseconds.
HELD_FROM_WIDTH = 256
# Samples that may come, in units of those before, until the ridge is chosen anew.
GROWTH = 0.3


def can_hold(width: int, n_classes: int) -> bool:
    """Return whether a ridge is ever held with so many dimensions and classes.

    With more than `MOST_JUDGED` classes none is: the first question after a lesson solves everything anew.
    """
    return width >= HELD_FROM_WIDTH and n_classes <= MOST_JUDGED


class HeldRidge:
    """The ridge of each block in absolute numbers, (b,), and until how many samples it holds; none at first.

    It is chosen by lessons alone, whatever is asked in between: by the first small lesson when there is none, or
    when samples have grown by 30%. While there are fewer samples than a quarter of the dimensions none is held: the
    best one changes fast there, and solving for few samples is cheap.
    """

    def __init__(self, n_blocks: int) -> None:
        self._ridge: Float64 | None = None
        self._until = 0.0
        self._n_blocks = n_blocks

    @property
    def ridge(self) -> Float64 | None:
        """The ridge, (b,), 0 for a block that is left out; None while there is none."""
        return self._ridge

    def learn(self, scatter: SharedScatter, n: int, shrinkage: Callable[[], float]) -> bool:
        """Take in that `scatter` has gained a lesson of `n` samples; return whether the ridge is the one before.

        Parameters
        ----------
        shrinkage : function
            Returns the shrinkage as the statistics ask for it now; expensive, so called only for a new ridge.
        """
        total, width = scatter.means.total, scatter.matrix.size
        possible = can_hold(width, len(scatter.means))
        if self._ridge is not None and possible and total < self._until and fits(scatter, self._ridge):
            return True
        self.let_go()
        enough = possible and total > LOW_RANK_UP_TO * width
        if n <= SMALL_LESSON and enough and fits(scatter, scatter.variances):
            self._ridge, self._until = absolute_ridge(scatter, shrinkage()), (1 + GROWTH) * total
        return False

    def let_go(self) -> None:
        """Hold no ridge any more."""
        self._ridge, self._until = None, 0.0

    def state(self) -> State:
        """Return the ridge and until how many samples it holds; nothing where there is none."""
        return {} if self._ridge is None else {"ridge": np.append(self._ridge, self._until)}

    def restore(self, state: State) -> None:
        """Take over what `state()` gave."""
        self.let_go()
        if "ridge" not in state:
            return
        held = np.array(state["ridge"], dtype=np.float64)
        if held.shape != (self._n_blocks + 1,):
            raise ValueError(
                f"the ridge should be {self._n_blocks} numbers, and the count until which it holds"
            )
        check_range("the ridge", held[:-1], 0, np.inf)
        check_range("the count until which the ridge holds", held[-1:], 0, (1 + GROWTH) * LARGEST_COUNT)
        if not held[:-1].any():
            raise ValueError("the ridge should be above zero for one block at least")
        self._ridge, self._until = held[:-1], float(held[-1])
