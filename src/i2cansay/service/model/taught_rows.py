"""Rows of features that came with one lesson, for as long as they are in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.types import Float32
from i2cansay.service.storage.blocks import digest_of

Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class LessonSource:
    """The request that brought a lesson.

    Attributes
    ----------
    at : float
        When it came.
    who : str
        The name of the token, "" without one.
    key : bytes or None
        The digest of its idempotency key.
    content : bytes
        The digest of what it sent.
    n_rows : int
        How many rows it sent.
    series : str
        What it shares with lessons that were taught together with it, "" where it stands alone.
    annotation : int
        The annotation of Label Studio that it is about, 0 for none.
    """

    at: float
    who: str = ""
    key: bytes | None = None
    content: bytes = b""
    n_rows: int = 1
    series: str = ""
    annotation: int = 0


@dataclass(frozen=True)
class PrequentialScores:
    """How rows were predicted just before they were learnt (test-then-train).

    Attributes
    ----------
    scored : (n,) array
        Whether a row was predicted: rows of new classes are not.
    correct : (n,) array
        Whether the prediction was right.
    predicted : (n,) array
        The number of the class that was predicted, 0 where it is not on the disk.
    """

    scored: NDArray[np.bool_]
    correct: NDArray[np.bool_]
    predicted: Integers

    @classmethod
    def nothing(cls, n: int) -> PrequentialScores:
        """Return the scores of rows that were not predicted."""
        return cls(np.zeros(n, dtype=bool), np.zeros(n, dtype=bool), np.zeros(n, dtype=np.int64))

    def select(self, rows: slice | Integers) -> PrequentialScores:
        """Return some of the rows."""
        return PrequentialScores(self.scored[rows], self.correct[rows], self.predicted[rows])

    def beside(self, others: PrequentialScores) -> PrequentialScores:
        """Return the scores of these rows, then those of others."""
        return PrequentialScores(
            np.concatenate([self.scored, others.scored]),
            np.concatenate([self.correct, others.correct]),
            np.concatenate([self.predicted, others.predicted]),
        )


@dataclass(frozen=True)
class TaughtRows:
    """Some rows of one lesson.

    Attributes
    ----------
    source : LessonSource
    X : (n, d) array
    labels : tuple of str
    serials : (n,) array
        Numbers from 1 that tell all rows of a model apart.
    positions : (n,) array
        Places of the rows in the request.
    tested : PrequentialScores
    class_number : int or None
        Of a row that an undo left alone in its class: the number the class had on the disk.

    Examples
    --------
    >>> X, tested = np.eye(3, dtype=np.float32), PrequentialScores.nothing(3)
    >>> rows = TaughtRows(LessonSource(0.0), X, ("a", "b", "a"), np.arange(1, 4), np.arange(3), tested)
    >>> rows.of_class("a").serials
    array([1, 3])
    >>> len(row_digests((rows, rows)))
    3
    """

    source: LessonSource
    X: Float32
    labels: tuple[str, ...]
    serials: Integers
    positions: Integers
    tested: PrequentialScores
    class_number: int | None = None

    def __len__(self) -> int:
        return len(self.labels)

    def tests(self, numbers: Mapping[str, int]) -> Iterator[tuple[int, int]]:
        """Yield the numbers of the class taught and the class predicted for each row that was tested."""
        for index in np.flatnonzero(self.tested.scored).tolist():
            taught = numbers[self.labels[index]]
            yield taught, taught if self.tested.correct[index] else int(self.tested.predicted[index])

    def labels_by_serial(self) -> Iterator[tuple[int, str]]:
        """Yield the serial and the label of each row."""
        return zip(self.serials.tolist(), self.labels, strict=True)

    def select(self, indices: Sequence[int] | Integers) -> TaughtRows:
        """Return the rows at `indices`, in that order."""
        if len(indices) == len(self) and np.array_equal(indices, np.arange(len(self))):
            return self
        chosen = np.asarray(indices, dtype=np.int64)
        return replace(
            self,
            X=self.X[chosen],
            labels=tuple(self.labels[index] for index in chosen),
            serials=self.serials[chosen],
            positions=self.positions[chosen],
            tested=self.tested.select(chosen),
        )

    def of_class(self, label: str) -> TaughtRows:
        """Return the rows of a class."""
        return self.select([index for index, each in enumerate(self.labels) if each == label])

    def without_class(self, label: str) -> TaughtRows:
        """Return the rows of the other classes."""
        return self.select([index for index, each in enumerate(self.labels) if each != label])

    def without(self, serials: Integers) -> TaughtRows:
        """Return the rows that do not have one of these serials."""
        return self.select(np.flatnonzero(~np.isin(self.serials, serials)))

    def beside(self, others: TaughtRows) -> TaughtRows:
        """Return these rows and others of the same lesson."""
        if not len(others):
            return self
        return replace(
            self,
            X=np.concatenate([self.X, others.X]),
            labels=self.labels + others.labels,
            serials=np.concatenate([self.serials, others.serials]),
            positions=np.concatenate([self.positions, others.positions]),
            tested=self.tested.beside(others.tested),
        )

    def renamed(self, old: str, new: str) -> TaughtRows:
        """Return the rows with a class renamed."""
        return replace(self, labels=tuple(new if label == old else label for label in self.labels))


def row_digests(pieces: Sequence[TaughtRows]) -> set[bytes]:
    """Return a digest of each different row. One image shown twice is one row: its mean is that image."""
    return {
        digest_of(row.tobytes()) for rows in pieces for row in rows.X + np.float32(0)
    }  # + 0: no minus zero


def stacked(pieces: Sequence[TaughtRows]) -> tuple[Float32, list[str]]:
    """Return the features, (n, d), and the n labels of all pieces."""
    X = pieces[0].X if len(pieces) == 1 else np.concatenate([rows.X for rows in pieces])
    return X, [label for rows in pieces for label in rows.labels]
