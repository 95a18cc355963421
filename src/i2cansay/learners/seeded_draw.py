"""Random numbers that are drawn once and never saved: only their seed is."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np

from i2cansay.core.state_parts import check_range
from i2cansay.core.types import State
from i2cansay.learners.lazy import Cached
from i2cansay.learners.validation import make_generator

Drawn = TypeVar("Drawn")


class SeededDraw(Generic[Drawn]):
    """Something drawn at random that does not change while a learner learns, as a random projection.

    Parameters
    ----------
    random_state : int, Generator, RandomState or None
        Where the seed is taken from.

    Examples
    --------
    >>> one, other = SeededDraw[float](0), SeededDraw[float](1)
    >>> other.restore(one.state(), n_classes=5)
    >>> one.get(lambda rng: rng.random()) == other.get(lambda rng: rng.random())
    True
    """

    def __init__(self, random_state: Any) -> None:
        self.seed = int(make_generator(random_state).integers(2**63))
        self._drawn: Cached[Drawn] = Cached()

    def get(self, draw: Callable[[np.random.Generator], Drawn]) -> Drawn:
        """Return what `draw` makes of a generator of this seed; it is called once."""
        return self._drawn.get(lambda: draw(np.random.default_rng(self.seed)))

    def resize(self, n_classes: int) -> None:
        """Do nothing: it does not depend on the classes."""

    def drop(self, row: int) -> None:
        """Do nothing: it does not depend on the classes."""

    def state(self) -> State:
        """Return the `seed`."""
        return {"seed": np.array([self.seed], dtype=np.int64)}

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned."""
        if state["seed"].shape != (1,):
            raise ValueError("the seed of a random draw should be one number")
        check_range("the seed of a random draw", state["seed"], 0, 2.0**63)
        self.seed = int(state["seed"][0])
        self._drawn.clear()
