"""One radius for the noise around all prototypes, measured on the first classes and then kept, as in PASS."""

import numpy as np

from i2cansay.core.paper.ican import mean_radius
from i2cansay.core.paper.moments import ClassMoments
from i2cansay.core.state_parts import LARGEST_FEATURE, check_range
from i2cansay.core.types import State


class FirstRadius:
    """The root of the mean variance of the first classes: those of the first batch, until another one arrives.

    PASS measures it at the end of the first session and never again. Nobody tells a session here; on a stream of
    steps whose first batch has every class of the first step, the two are the same. Without any spread, as after a
    single sample, it waits for some.

    Examples
    --------
    >>> moments, radius = ClassMoments(n_features=1), FirstRadius()
    >>> for x, label in ([0.0, 2.0], 0), ([5.0, 9.0], 1):
    ...     moments.resize(label + 1)
    ...     _ = moments.add(np.array(x)[:, None], np.full(2, label))
    ...     radius.follow(moments)
    ...     print(radius.value)
    1.0
    1.0
    """

    def __init__(self) -> None:
        self.value = 0.0
        self._n_first = 0
        self._fixed = False

    def follow(self, moments: ClassMoments) -> None:
        """Take note of a batch that was added to `moments`."""
        if self._fixed:
            return
        if len(moments) > self._n_first:
            if self.value > 0:
                self._fixed = True
                return
            self._n_first = len(moments)
        self.value = mean_radius(moments)

    def resize(self, n_classes: int) -> None:
        """Do nothing: `follow` looks at the classes."""

    def drop(self, row: int) -> None:
        """Expect one class less, as long as the radius is not fixed."""
        self._n_first = max(self._n_first - 1, 0)

    def state(self) -> State:
        """Return `radius`: the value, the number of first classes, and whether it is fixed."""
        return {"radius": np.array([self.value, self._n_first, self._fixed])}

    def restore(self, state: State, n_classes: int) -> None:
        """Take over what `state()` returned."""
        if state["radius"].shape != (3,):
            raise ValueError("the first radius should be three numbers")
        value, n_first, fixed = state["radius"].tolist()
        check_range("the first radius", value, 0.0, 2 * LARGEST_FEATURE)
        check_range("the number of first classes", n_first)
        if fixed not in (0, 1) or n_first != int(n_first):
            raise ValueError("the first radius has numbers it cannot have come to")
        self.value, self._n_first, self._fixed = value, int(n_first), bool(fixed)
