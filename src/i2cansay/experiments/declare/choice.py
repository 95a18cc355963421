"""What a user asks for in place of what a table declares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Choice:
    """What differs from the table as declared.

    Parameters
    ----------
    dataset : str, optional
        One of the table's data sets: only its columns. Any other: every column is played on it instead.
    backbone : str, optional
        Only the block of this backbone.
    encoder : str, optional
        Stands in for the backbones.
    fraction : float, optional
        Share of the training data for every row, instead of the declared one.
    seeds : int, optional
        Number of seeds, from 0.
    rows : sequence of str
        Names of the rows to play; all by default.
    learners : sequence of str
        Further methods, each a row of its own in every block: names of `LEARNERS`, or "package.module:Class".
    stand_in : bool
        Play a column whose data set is not to be had on its declared stand-in.
    """

    dataset: str | None = None
    backbone: str | None = None
    encoder: str | None = None
    fraction: float | None = None
    seeds: int | None = None
    rows: Sequence[str] = ()
    stand_in: bool = False
    learners: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.fraction is not None and not 0 < self.fraction <= 1:
            raise ValueError(
                f"a fraction is a share of the training data, above 0 and at most 1, but {self.fraction:g} was "
                "given; leave it out for the declared share"
            )
        if self.seeds is not None and self.seeds < 1:
            raise ValueError(f"there must be at least one seed, but {self.seeds} were asked for")
