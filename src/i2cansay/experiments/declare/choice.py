"""A user's choice: what to change in a table as it is declared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Choice:
    """What to change in a declared table.

    Parameters
    ----------
    dataset : str, optional
        A data set of the table: only its columns are played. Any other: every column is played on it.
    backbone : str, optional
        Only the block of this backbone.
    encoder : str, optional
        Used instead of the backbones.
    fraction : float, optional
        Share of the training data for every row, instead of the declared one.
    seeds : int, optional
        Number of seeds, from the first of the table.
    rows : sequence of str
        Names of the rows to play; all by default.
    learners : sequence of str
        More methods, each a row of its own in every block: names of `LEARNERS`, or "package.module:Class".
    stand_in : bool
        Play columns on their declared stand-ins.
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
                f"expected a fraction above 0 and at most 1, a share of the training data, got {self.fraction:g}; "
                "leave it out for the declared share"
            )
        if self.seeds is not None and self.seeds < 1:
            raise ValueError(f"expected at least one seed, got {self.seeds}")
