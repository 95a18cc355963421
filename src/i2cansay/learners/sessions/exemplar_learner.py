"""What the offline methods with exemplars share: training on a session together with what was kept of the others."""

from typing import ClassVar

import numpy as np

from i2cansay.core.part_bytes import samples_bytes
from i2cansay.core.types import Features, Float32, Float64, Rows
from i2cansay.learners.parameters import check_whole
from i2cansay.learners.sessions.exemplars import Exemplars
from i2cansay.learners.sessions.session_learner import SessionLearner


class ExemplarLearner(SessionLearner):
    """Base of the methods that keep `memory_size` exemplars, an equal share of every class."""

    parts: ClassVar[tuple[str, ...]] = (*SessionLearner.parts, "_exemplars")
    stores_samples = True
    size_advice = "a smaller memory_size"

    memory_size: int

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_whole(memory_size=self.memory_size, at_least=1)

    def _start(self, n_features: int) -> None:
        super()._start(n_features)
        self._exemplars = Exemplars(self.memory_size, n_features)

    def _state_bytes(self, n_features: int, n_classes: int) -> int:
        network = super()._state_bytes(n_features, n_classes)
        assert network is not None
        return network + samples_bytes(n_features, self.memory_size)

    def _with_exemplars(
        self, X: Features, rows: Rows, weights: Float64 | None
    ) -> tuple[Float32, Rows, Float64 | None]:
        """Return the session and the exemplars together; these count as samples of weight one."""
        kept = self._exemplars.memory
        together = np.concatenate([X.astype(np.float32), kept.rows])
        if weights is not None:
            weights = np.concatenate([weights, np.ones(len(kept))])
        return together, np.concatenate([rows, kept.classes]), weights

    def _keep_exemplars(self, X: Float32, rows: Rows) -> None:
        """Choose the exemplars anew for the classes of the session; `X`, `rows` are from `_with_exemplars`."""
        chosen = np.flatnonzero(np.isin(rows, rows[: len(rows) - len(self._exemplars)]))
        self._exemplars.update(
            X[chosen], rows[chosen], self._network.units(X[chosen]), n_classes=len(self._labels)
        )

    @property
    def exemplars_(self) -> tuple[Float32, Rows]:
        """The stored samples, (n, d), and the places of their classes in the order of arrival, (n,)."""
        return self._exemplars.memory.rows.copy(), self._exemplars.memory.classes.copy()
