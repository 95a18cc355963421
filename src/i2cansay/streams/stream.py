"""The base of all streams: a seeded order of rows, cut into batches, with marks for the evaluator.

A stream may have sessions: classes come in groups, and a batch never spans two groups. If it has none (`has_sessions
= False`), its batches are marked in equal stretches, and the evaluator measures at the end of each. The marks never
reach a learner.
"""

import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.types import Rows

Labels: TypeAlias = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Batch:
    """Row numbers that arrive together, shape (n,), and the session (or stretch) they belong to."""

    rows: Rows
    session: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Stream(ABC):
    """An order of the rows of `y`; the same labels, parameters and seed always give the same batches.

    Parameters
    ----------
    y : array of shape (n,)
        Labels, strings or numbers. Kept as a read-only copy.
    batch_size : int
        Rows per batch; the last batch of a session may be smaller.
    seed : int
        Decides the order of the classes and of the rows.
    """

    name: ClassVar[str]
    """Its name for `make_stream`; "module:Class" unless the class sets another."""
    has_sessions: ClassVar[bool] = True
    """Whether classes come in groups, one group after the other."""

    y: Labels = field(repr=False)
    batch_size: int = field(default=50, repr=False)
    seed: int = field(default=0, repr=False)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" not in cls.__dict__:
            cls.name = f"{cls.__module__}:{cls.__qualname__}"

    def __post_init__(self) -> None:
        labels = np.array(self.y)
        if labels.ndim != 1 or labels.size == 0:
            raise ValueError(f"expected labels of shape (n,) with n >= 1, got shape {labels.shape}")
        labels.setflags(write=False)
        object.__setattr__(self, "y", labels)
        require(self.batch_size >= 1, "batch_size", "at least 1", self.batch_size)
        require(self.seed >= 0, "seed", "0 or more", self.seed)
        self.check()

    def check(self) -> None:  # noqa: B027 - a stream without parameters has nothing to check
        """Raise ValueError if a parameter is out of range or does not suit the labels."""

    @abstractmethod
    def arrange(self, classes: Labels, rng: np.random.Generator) -> Iterable[Batch]:
        """Return the batches in order, given the classes in random order, shape (c,)."""

    @cached_property
    def _batches(self) -> tuple[Batch, ...]:
        rng = generator(self.seed, "stream")
        # The classes are shuffled first, so that one seed means one class order in every kind of stream.
        batches = tuple(self.arrange(rng.permutation(self.classes), rng))
        for batch in batches:
            batch.rows.setflags(write=False)
        return batches

    @cached_property
    def classes(self) -> Labels:
        """The distinct labels, sorted, shape (c,)."""
        return np.unique(self.y)

    def rows_of(self, classes: Labels) -> Rows:
        """Return the rows whose label is in `classes`, in the order of `y`."""
        return np.flatnonzero(np.isin(self.y, classes)).astype(np.int64)

    def __iter__(self) -> Iterator[Batch]:
        return iter(self._batches)

    def __len__(self) -> int:
        return len(self._batches)

    @property
    def n_sessions(self) -> int:
        """Number of sessions, or of evaluation stretches if there are no sessions."""
        return len({batch.session for batch in self._batches})

    @property
    def n_samples(self) -> int:
        """Number of rows presented, repetitions counted."""
        return sum(batch.rows.size for batch in self._batches)

    @classmethod
    def parameters(cls) -> dict[str, Field[Any]]:
        """Return the parameters of this kind of stream in order, without labels, batch size and seed."""
        shared = {item.name for item in fields(Stream)}
        return {item.name: item for item in fields(cls) if item.name not in shared}

    @property
    def spec(self) -> str:
        """The short form that `make_stream` reads back: `step:5`, `gaussian:points=20`."""
        parts = []
        for position, (name, parameter) in enumerate(self.parameters().items()):
            value = getattr(self, name)
            if parameter.default is MISSING or value != parameter.default:
                parts.append(f"{value}" if position == 0 else f"{name}={value}")
        return f"{self.name}:{','.join(parts)}" if parts else self.name

    def describe(self) -> dict[str, str | int | float | bool | None]:
        """Return everything a record says about the stream, as plain JSON values."""
        return {
            "name": self.name,
            "spec": self.spec,
            **{name: getattr(self, name) for name in self.parameters()},
            "batch_size": int(self.batch_size),  # a numpy integer would not go into JSON
            "seed": int(self.seed),
            "has_sessions": self.has_sessions,
            "n_sessions": self.n_sessions,
            "n_batches": len(self),
            "n_samples": self.n_samples,
        }

    def __repr__(self) -> str:
        names = [*self.parameters(), "batch_size", "seed"]
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"


def generator(seed: int, purpose: str) -> np.random.Generator:
    """Return a generator for one purpose.

    The purpose is mixed into the seed, so that a learner seeded with the same number draws other numbers.
    """
    return np.random.default_rng([seed, zlib.crc32(purpose.encode())])


def batches_of_pass(rows: Rows, batch_size: int, session: int) -> list[Batch]:
    """Cut one pass over the rows of a session into batches.

    >>> [batch.rows.tolist() for batch in batches_of_pass(np.arange(5), 2, session=0)]
    [[0, 1], [2, 3], [4]]
    """
    return [Batch(rows[start : start + batch_size], session) for start in range(0, rows.size, batch_size)]


def batches_in_stretches(parts: list[Rows], points: int) -> list[Batch]:
    """Mark batches without sessions with `points` stretches of equal length (to within one batch).

    >>> [batch.session for batch in batches_in_stretches([np.arange(2)] * 7, points=3)]
    [0, 0, 0, 1, 1, 2, 2]
    """
    points = min(points, len(parts))
    return [Batch(rows, position * points // len(parts)) for position, rows in enumerate(parts)]


def require(holds: bool, name: str, expected: str, got: object) -> None:
    """Raise a ValueError that names the parameter, unless the condition holds."""
    if not holds:
        raise ValueError(f"expected {name} to be {expected}, got {got!r}")
