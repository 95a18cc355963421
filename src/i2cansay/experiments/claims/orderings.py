"""The order of the methods in a column: in print, and here on the same features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, groupby

from i2cansay.experiments.declare.declaration import printed
from i2cansay.experiments.run.paired_difference import Difference, paired_difference
from i2cansay.experiments.run.plan import Entry, Plan, TableRow

OWN = "i2cansay"


@dataclass(frozen=True)
class Ordering:
    """One column of one block.

    Attributes
    ----------
    table, column : str
    n_rows, n_here : int
        Rows that have a number in print and here, and those that have one here.
    n_pairs, n_same : int
        Pairs of rows with a seed in common and different printed numbers, and those in the same order here.
    place_printed, place_here : int
        Of the paper's method among these rows, from 1.
    above : tuple of (str, Difference)
        Rows that are above the paper's method here: its number minus theirs, paired by seed, the worst first.
    printed_above : tuple of str
        Rows that are above it in print.
    """

    table: str
    column: str
    n_rows: int
    n_here: int
    n_pairs: int
    n_same: int
    place_printed: int
    place_here: int
    above: tuple[tuple[str, Difference], ...]
    printed_above: tuple[str, ...]


def orderings(measured: Plan) -> list[Ordering]:
    """Return the order of every column in which the paper's method and at least two others were played."""
    found = []
    for _, rows in groupby(measured.rows, key=lambda row: row.backbone):
        block = [row for row in rows if row.declared.is_papers]
        for place in range(len(measured.columns)):
            own = next((row for row in block if row.declared.name == OWN), None)
            if own is None or not _is_in_print(own.entries[place]):
                continue
            here = [row for row in block if _seeds(row, place) & _seeds(own, place)]
            if sum(_is_in_print(row.entries[place]) for row in here) > 2:
                found.append(_ordering(measured, place, here, own))
    return found


@dataclass(frozen=True)
class Above:
    """In how many columns a row is above another, of how many that both have, and by how many seeds at least."""

    above: int
    n: int
    seeds: int


def above_in_columns(measured: Plan) -> dict[str, Above]:
    """Return the rows of the paper above its own method here.

    Printed or not; by the mean difference over the seeds that both have.
    """
    counts: dict[str, Above] = {}
    for _, rows in groupby(measured.rows, key=lambda row: row.backbone):
        block = [row for row in rows if row.declared.is_papers]
        own = next((row for row in block if row.declared.name == OWN), None)
        for row in block if own is not None else []:
            if row is own:
                continue
            assert own is not None
            places = [i for i in range(len(measured.columns)) if _seeds(row, i) & _seeds(own, i)]
            above = [i for i in places if _difference(measured, i, own, row).mean < 0]
            if above:
                seeds = min(len(_seeds(row, i) & _seeds(own, i)) for i in above)
                counts[row.title] = Above(len(above), len(places), seeds)
    return counts


def _is_in_print(entry: Entry) -> bool:
    return printed(entry.paper)


def _difference(measured: Plan, place: int, first: TableRow, second: TableRow) -> Difference:
    metric = measured.columns[place].metric
    return paired_difference(first.entries[place].records, second.entries[place].records, metric)


def _seeds(row: TableRow, place: int) -> set[int]:
    return {record.seed for record in row.entries[place].records}


def _ordering(measured: Plan, place: int, here: Sequence[TableRow], own: TableRow) -> Ordering:
    rows = [row for row in here if _is_in_print(row.entries[place])]

    def difference(first: TableRow, second: TableRow) -> Difference:
        return _difference(measured, place, first, second)

    def in_print(row: TableRow) -> float:
        return row.entries[place].paper

    apart = [
        (a, b)
        for a, b in combinations(rows, 2)
        if in_print(a) != in_print(b) and _seeds(a, place) & _seeds(b, place)
    ]
    # On the seeds that both have: the order of the classes moves all methods together.
    same = [(a, b) for a, b in apart if (in_print(a) > in_print(b)) == (difference(a, b).mean > 0)]
    others = [(row.title, difference(own, row)) for row in here if row is not own]
    above = sorted((each for each in others if each[1].mean < 0), key=lambda each: each[1].mean)
    printed_above = [row.declared.title for row in rows if in_print(row) > in_print(own)]
    table = measured.table.title.split(":")[0]
    if len(measured.table.blocks) > 1:
        table += f", {own.backbone} in print"
    return Ordering(
        table=table,
        column=measured.heading(measured.columns[place]),
        n_rows=len(rows),
        n_here=len(here),
        n_pairs=len(apart),
        n_same=len(same),
        place_printed=1 + len(printed_above),
        place_here=1 + len(above),
        above=tuple(above),
        printed_above=tuple(printed_above),
    )
