"""Labelled rows by number: what is learnt in parts. In memory, or several sources numbered through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.types import Features

Numbers: TypeAlias = NDArray[np.int64]
Labels: TypeAlias = NDArray[Any]


class RowSource(Protocol):
    """Labelled rows that can be asked for by number."""

    def __len__(self) -> int: ...

    def take(self, rows: Numbers) -> tuple[Features, Labels]:
        """Return features, (n, d), and labels, (n,), of the rows with these numbers, (n,)."""
        ...


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
