"""Labelled rows by number: what is learnt in parts. In memory, or several sources numbered through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.types import Features
from i2cansay.learners.validation import LARGEST

Numbers: TypeAlias = NDArray[np.int64]
Labels: TypeAlias = NDArray[Any]


class RowSource(Protocol):
    """Labelled rows that can be asked for by number."""

    def __len__(self) -> int: ...

    def take(self, rows: Numbers) -> tuple[Features, Labels]:
        """Return features, (n, d), and labels, (n,), of the rows with these numbers, (n,)."""
        ...


def take_checked(rows: RowSource, numbers: Numbers) -> tuple[Features, Labels]:
    """Return rows as `take` does; raise ValueError naming the first whose features are not finite, and its file.

    Examples
    --------
    >>> take_checked(ArrayRows(np.array([[1.0], [np.nan]]), np.array(["a", "b"])), np.array([0, 1]))
    Traceback (most recent call last):
    ...
    ValueError: row 1 (the first is 0) has NaN in column 0; features must be finite and below 1e+15
    """
    X, y = rows.take(numbers)
    # Two passes without a temporary; and not >=, because NaN compares false.
    if X.size and not (X.max() < LARGEST and X.min() > -LARGEST):
        row, column = np.argwhere(~(np.abs(X) < LARGEST))[0].tolist()
        value = X[row, column]
        what = "NaN" if np.isnan(value) else "infinity" if np.isinf(value) else f"{value:g}"
        raise ValueError(
            f"{_place(rows, int(numbers[row]))} (the first is 0) has {what} in column {column}; features must be "
            f"finite and below {LARGEST:g}"
        )
    return X, y


def _place(rows: RowSource, number: int) -> str:
    """Return where a row is: its file, where the source has one, and its number there."""
    if isinstance(rows, JoinedRows):
        for source in rows.sources:
            if number < len(source):
                return _place(source, number)
            number -= len(source)
    path = getattr(rows, "path", None)
    return f"row {number}" if path is None else f"{path}: row {number}"


@dataclass(frozen=True)
class JoinedRows:
    """Several sources, numbered through.

    Examples
    --------
    >>> first = ArrayRows(np.array([[1.0], [2.0]]), np.array(["a", "b"]))
    >>> rows = JoinedRows([first, ArrayRows(np.array([[3.0]]), np.array(["c"]))])
    >>> len(rows), rows.take(np.array([1, 2]))
    (3, (array([[2.],
           [3.]]), array(['b', 'c'], dtype='<U1')))
    """

    sources: Sequence[RowSource]

    def __len__(self) -> int:
        return sum(map(len, self.sources))

    def take(self, rows: Numbers) -> tuple[Features, Labels]:
        """Return features and labels of rows by number, in ascending order."""
        found, start = [], 0
        for source in self.sources:
            inside = rows[(rows >= start) & (rows < start + len(source))] - start
            if len(inside):
                found.append(source.take(inside))
            start += len(source)
        if not found:
            raise ValueError(f"there are {start} rows; got none of their numbers")
        return np.concatenate([X for X, _ in found]), np.concatenate([y for _, y in found])


@dataclass(frozen=True)
class ArrayRows:
    """Rows in memory: features, (n, d), and labels, (n,)."""

    X: Features
    y: Labels

    def __len__(self) -> int:
        return len(self.X)

    def take(self, rows: Numbers) -> tuple[Features, Labels]:
        """Return rows of the arrays."""
        return self.X[rows], self.y[rows]
