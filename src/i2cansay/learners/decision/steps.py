"""Steps from features to scores: a small vocabulary in which a learner describes its decision.

A step stands for an array with a row per sample. Arithmetic with numbers and arrays of one row, (k,), makes further
steps, as in numpy. What a step means is what its `of` computes; an export writes the same in another language.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from i2cansay.core.paper.head import softmax
from i2cansay.core.statistics.signed_root import signed_root
from i2cansay.core.types import Features, Float64

Operation: TypeAlias = Literal["add", "subtract", "multiply", "divide", "maximum"]
Function: TypeAlias = Literal["absolute", "rectify", "root", "signed_root", "square"]

OPERATIONS: Mapping[str, Callable[[Features, Features], Features]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "maximum": np.maximum,
}
FUNCTIONS: Mapping[str, Callable[[Features], Features]] = {
    "absolute": np.abs,
    "rectify": lambda x: np.maximum(x, 0.0),
    "root": np.sqrt,
    "signed_root": signed_root,
    "square": np.square,
}


class Step(ABC):
    """An array with a row per sample, (n, k), that is computed from features, (n, d).

    Examples
    --------
    >>> x = Given()
    >>> scores = Product(x - np.array([1.0, 1.0]), np.array([[1.0, 0.0], [0.0, 2.0]])) + 0.5
    >>> scores.of(np.array([[3.0, 2.0]]))
    array([[2.5, 2.5]])
    """

    @abstractmethod
    def of(self, X: Features) -> Features:
        """Return the array for the features `X`, (n, d)."""

    def __add__(self, other: "Operand") -> "Elementwise":
        return Elementwise("add", self, other)

    def __sub__(self, other: "Operand") -> "Elementwise":
        return Elementwise("subtract", self, other)

    def __mul__(self, other: "Operand") -> "Elementwise":
        return Elementwise("multiply", self, other)

    def __truediv__(self, other: "Operand") -> "Elementwise":
        return Elementwise("divide", self, other)


Operand: TypeAlias = Step | Float64 | float


@dataclass(frozen=True, eq=False)
class Given(Step):
    """The features as they come, (n, d)."""

    def of(self, X: Features) -> Features:
        """Return `X`."""
        return X


@dataclass(frozen=True, eq=False)
class Elementwise(Step):
    """An operation on each entry; `right` may have a single row, a single column, or be a number."""

    operation: Operation
    left: Step
    right: Operand

    def of(self, X: Features) -> Features:
        """Return the result, (n, k)."""
        right = self.right.of(X) if isinstance(self.right, Step) else np.asarray(self.right)
        return OPERATIONS[self.operation](self.left.of(X), right)


@dataclass(frozen=True, eq=False)
class Mapped(Step):
    """A function of each entry."""

    function: Function
    step: Step

    def of(self, X: Features) -> Features:
        """Return the result, (n, k)."""
        return FUNCTIONS[self.function](self.step.of(X))


@dataclass(frozen=True, eq=False)
class PositiveOr(Step):
    """Entries above zero as they are, and a number in place of the others.

    Examples
    --------
    >>> PositiveOr(Given(), 7.0).of(np.array([[0.0, 2.0]]))
    array([[7., 2.]])
    """

    step: Step
    otherwise: float

    def of(self, X: Features) -> Features:
        """Return the result, (n, k)."""
        entries = self.step.of(X)
        return np.where(entries > 0, entries, np.array(self.otherwise, dtype=entries.dtype))


@dataclass(frozen=True, eq=False)
class Columns(Step):
    """Neighbouring columns, from `start` up to but without `stop`."""

    step: Step
    start: int
    stop: int

    def of(self, X: Features) -> Features:
        """Return the columns, (n, stop - start)."""
        return self.step.of(X)[:, self.start : self.stop]


@dataclass(frozen=True, eq=False)
class Joined(Step):
    """Columns of several steps beside each other."""

    steps: tuple[Step, ...]

    def of(self, X: Features) -> Features:
        """Return all columns."""
        return np.concatenate([step.of(X) for step in self.steps], axis=1)


@dataclass(frozen=True, eq=False)
class Product(Step):
    """The inner product of each row with each row of `weights`, (c, k)."""

    step: Step
    weights: Features

    def of(self, X: Features) -> Features:
        """Return the products, (n, c)."""
        products: Features = self.step.of(X) @ self.weights.T
        return products


@dataclass(frozen=True, eq=False)
class RowSum(Step):
    """The sum of each row."""

    step: Step

    def of(self, X: Features) -> Features:
        """Return the sums, (n, 1)."""
        sums: Features = self.step.of(X).sum(axis=1, keepdims=True)
        return sums


@dataclass(frozen=True, eq=False)
class RowLeast(Step):
    """The least entry of each row."""

    step: Step

    def of(self, X: Features) -> Features:
        """Return the least entries, (n, 1)."""
        least: Features = self.step.of(X).min(axis=1, keepdims=True)
        return least


@dataclass(frozen=True, eq=False)
class Softmax(Step):
    """The softmax of each row."""

    step: Step

    def of(self, X: Features) -> Features:
        """Return the shares, (n, k)."""
        return softmax(self.step.of(X).copy())


@dataclass(frozen=True, eq=False)
class Distances(Step):
    """Sums over dimensions of weight times difference to each of `points`, (c, k), to the power of one or two.

    They are taken difference by difference: expanded into products, squares of points near to each other would
    cancel in single precision.

    Examples
    --------
    >>> points = np.array([[0.0, 0.0], [1.0, 1.0]])
    >>> Distances(Given(), points, np.ones((2, 2)), power=2).of(np.array([[1.0, 3.0]]))
    array([[10.,  4.]])
    """

    step: Step
    points: Features
    weights: Features | None
    power: Literal[1, 2]

    def of(self, X: Features) -> Features:
        """Return the sums, (n, c)."""
        rows = self.step.of(X)
        distances = np.empty((len(rows), len(self.points)), dtype=rows.dtype)
        for column, point in enumerate(self.points):
            differences = np.abs(rows - point) ** self.power
            weights = np.ones(len(point)) if self.weights is None else self.weights[column]
            distances[:, column] = differences @ weights
        return distances
