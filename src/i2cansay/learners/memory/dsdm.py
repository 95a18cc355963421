"""Dynamic sparse distributed memory: addresses that grow and move with the stream, read by nearness."""

from typing import Literal

from i2cansay.core.part_bytes import room
from i2cansay.core.types import Features, Float32, Float64, Rows
from i2cansay.learners.base import WEIGHTS_ARE_NOT_COPIES, OnlineClassifier
from i2cansay.learners.memory.sparse_memory import SparseMemory
from i2cansay.learners.parameters import check_choice, check_positive, check_whole


class DSDM(OnlineClassifier):
    """Stores a sample where the memory is sparse, and moves stored addresses towards it where it is dense.

    A prediction is the mean of the stored labels, weighed by a softmin of the distances. The addresses are samples
    (or began as samples), so `stores_samples` is true.

    Parameters
    ----------
    memory_size : int
        N, the rows held at most.
    temperature : float
        T of the softmin, in units of `unit`.
    unit : {"radius", "features"}
        "radius" takes T relative to the moving average of the distance to the nearest address, so that it carries
        over from one encoder to the next; "features" takes it as it is (2.3 is published for ResNet18 on CoRe50).
    address_period : int
        A sample moves the addresses by 2 / (period + 1).
    radius_period : int
        The same for the moving average that decides between storing and moving.
    slack : float
        Share of the rows dropped at once, so that densities are not computed for every sample. Rows are dropped as
        soon as there are more than N, down to ``(1 - slack) N``.
    n_neighbors : int
        Neighbours of the local outlier factor by which the densest rows are found; all where there are fewer.

    Notes
    -----
    Departs from the published form: T in units of the radius by default; pruning by size, since a task-free
    learner knows no session (`SessionDSDM` prunes where one ends, as published); the share of rows that every class
    keeps when rows are given up counts the classes seen so far, not those to come; the authors' loop spares the very
    densest row, this one does not. `forget` removes the rows that speak for the class most.

    A sample of weight w moves the addresses as far as w samples would; whether it is stored does not depend on it.

    References
    ----------
    Pourcel, Vu, French (2022), Online task-free continual learning with dynamic sparse distributed memory, ECCV.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> by_class = np.argsort(y[:1500], kind="stable")  # one class after the other
    >>> model = DSDM(memory_size=500)
    >>> for start in range(0, 1500, 50):
    ...     batch = by_class[start : start + 50]
    ...     model = model.partial_fit(X[batch], y[batch])
    >>> model.score(X[1500:], y[1500:]) > 0.9, model.n_rows_ <= 500  # about 0.95 from 480 rows
    (True, True)
    """

    summary = "a sparse distributed memory that grows and moves"
    expected_failed_checks = WEIGHTS_ARE_NOT_COPIES
    parts = ("_memory",)
    stores_samples = True
    size_advice = "a smaller memory_size"

    def __init__(
        self,
        *,
        memory_size: int = 2000,
        temperature: float = 0.07,
        unit: Literal["radius", "features"] = "radius",
        address_period: int = 500,
        radius_period: int = 150,
        slack: float = 0.05,
        n_neighbors: int = 1000,
    ) -> None:
        self.memory_size = memory_size
        self.temperature = temperature
        self.unit = unit
        self.address_period = address_period
        self.radius_period = radius_period
        self.slack = slack
        self.n_neighbors = n_neighbors

    def _check_parameters(self) -> None:
        check_choice("unit", self.unit, ("radius", "features"))
        check_positive(temperature=self.temperature)
        check_whole(memory_size=self.memory_size, address_period=self.address_period, at_least=1)
        check_whole(radius_period=self.radius_period, n_neighbors=self.n_neighbors, at_least=1)
        if not 0 <= self.slack < 1:
            raise ValueError(f"slack must be a share of the rows, at least 0 and below 1, got {self.slack!r}")

    def _start(self, n_features: int) -> None:
        self._memory = SparseMemory(
            n_features,
            temperature=self.temperature,
            relative=self.unit == "radius",
            rate=2 / (self.address_period + 1),
            pace=2 / (self.radius_period + 1),
        )

    def _state_bytes(self, n_features: int, n_classes: int) -> int | None:
        return room(self.memory_size + 1) * (8 * n_features + 4 * n_classes) + 8 * n_features

    def _learn(self, X: Features, rows: Rows, weights: Float64 | None) -> None:
        limit = self.memory_size
        start = 0
        while start < len(X):
            rest = slice(start, None)
            start += self._memory.write(
                X[rest], rows[rest], limit, None if weights is None else weights[rest]
            )
            if len(self._memory) > limit:
                self._prune_to(max(1, round((1 - self.slack) * self.memory_size)))

    def _prune_to(self, size: int) -> None:
        self._memory.prune(size, self.n_neighbors)

    @property
    def n_rows_(self) -> int:
        """Rows stored now."""
        return len(self._memory)

    @property
    def addresses_(self) -> Float64:
        """Where the rows are, (n_rows_, d)."""
        return self._memory.addresses

    @property
    def contents_(self) -> Float32:
        """What each row says of each class, (n_rows_, n_classes), in the order of `classes_`."""
        return self._memory.contents[:, self._labels.order]

    @property
    def radius_(self) -> float:
        """The moving average of the distance to the nearest row, at which a sample is stored."""
        return self._memory.radius

    def _scores(self, X: Features) -> Features:
        return self._memory.read(X)
