"""A shard: one of several runs of rows that together are a whole, so that machines can encode them apart."""

from __future__ import annotations

import re
from dataclasses import dataclass

EXPECTED = "expected a shard as I/N, from 1/N to N/N, as 2/8"


@dataclass(frozen=True)
class Shard:
    """Shard `number` of `of`, counted from 1.

    Examples
    --------
    >>> Shard.parse("2/12"), str(Shard(2, 12)), Shard(2, 12).name
    (Shard(number=2, of=12), '2/12', 'shard02of12')
    >>> Shard.parse("0/4")
    Traceback (most recent call last):
    ...
    ValueError: expected a shard as I/N, from 1/N to N/N, as 2/8; got '0/4'
    """

    number: int
    of: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of:
            raise ValueError(f"{EXPECTED}; got '{self}'")

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @property
    def name(self) -> str:
        """As part of a folder name: names of all shards sort by their numbers."""
        return f"shard{self.number:0{len(str(self.of))}d}of{self.of}"

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read "I/N"."""
        if not re.fullmatch(r"[0-9]{1,9}/[0-9]{1,9}", text, re.ASCII):
            raise ValueError(f"{EXPECTED}; got {text!r}")
        number, of = map(int, text.split("/"))
        return cls(number, of)

    def span(self, n: int) -> slice:
        """Return which of `n` rows it has: a run of them, of nearly the same length for every shard.

        Examples
        --------
        >>> [list(range(7))[Shard(number, 3).span(7)] for number in (1, 2, 3)]
        [[0, 1], [2, 3], [4, 5, 6]]
        """
        if n < self.of:
            raise ValueError(f"{n} images cannot be divided into {self.of} shards; ask for at most {n}")
        return slice(n * (self.number - 1) // self.of, n * self.number // self.of)
