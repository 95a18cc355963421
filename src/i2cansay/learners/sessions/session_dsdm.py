"""Dynamic sparse distributed memory, pruned where a session ends."""

from typing import ClassVar, Literal

import numpy as np

from i2cansay.core.types import Features, Float64, Rows
from i2cansay.learners.memory.dsdm import DSDM


class SessionDSDM(DSDM):
    """DSDM as its authors run it: the memory grows for a whole session and is pruned at its end.

    It takes each batch for a session. In the course of one its rows are not bounded, and so it has no `state_bytes`.

    Parameters
    ----------
    memory_size, temperature, unit, address_period, radius_period, n_neighbors
        As in `DSDM`; `memory_size` is what it is pruned to.

    References
    ----------
    Pourcel, Vu, French (2022), Online task-free continual learning with dynamic sparse distributed memory, ECCV.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = SessionDSDM(memory_size=500)
    >>> for label in range(10):  # a session per class
    ...     session = np.flatnonzero(y[:1500] == label)
    ...     model = model.partial_fit(X[session], y[session])
    >>> model.score(X[1500:], y[1500:]) > 0.9, model.n_rows_ <= 500  # about 0.95
    (True, True)
    """

    summary = "the same, pruned where a session ends"
    needs_boundaries = True
    slack: ClassVar[float] = 0.0  # type: ignore[misc]  # pruned once a session, so no rows are dropped ahead

    def __init__(
        self,
        *,
        memory_size: int = 2000,
        temperature: float = 0.07,
        unit: Literal["radius", "features"] = "radius",
        address_period: int = 500,
        radius_period: int = 150,
        n_neighbors: int = 1000,
    ) -> None:
        self.memory_size = memory_size
        self.temperature = temperature
        self.unit = unit
        self.address_period = address_period
        self.radius_period = radius_period
        self.n_neighbors = n_neighbors

    def _state_bytes(self, n_features: int, n_classes: int) -> None:
        return None

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        self._memory.write(X, rows, np.iinfo(np.int64).max, weights)
        self._prune_to(self.memory_size)
