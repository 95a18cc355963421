"""Finds the tables that records fill, and the encoder, share of the data and seeds they were played with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from i2cansay.experiments.declare.choice import Choice
from i2cansay.experiments.declare.declaration import DECLARED, OURS, Table, load_table
from i2cansay.experiments.declare.tuning import load_tunings
from i2cansay.experiments.run.filling import RecordIndex, fill_table
from i2cansay.experiments.run.plan import Plan
from i2cansay.experiments.run.record import Record


def measure_all(
    records: Sequence[Record], *, fraction: float | None = None, seeds: int | None = None
) -> list[Plan]:
    """Return every declared table that the records fill: those of the paper, then our own.

    A table appears once with the paper's own backbones and once per other encoder; again for every data set that is
    not its own. A table of the paper also appears for every share of the training data that is not the declared one.

    Parameters
    ----------
    records : sequence of Record
    fraction : float, optional
        Only the tables played with this share of the training data; by default all.
    seeds : int, optional
        How many seeds; by default those that were played.
    """
    index = RecordIndex(records)
    played = sorted({r.cell["fraction"] for r in records if r.cell["fraction"] is not None})
    tables: list[Plan] = []
    declared: set[str] = set()  # the share of a low-data row is declared, not chosen
    for share in (None, *played) if fraction is None else (fraction,):
        for name in DECLARED:
            choices = (replace(choice, seeds=seeds) for choice in _choices(load_table(name), records, share))
            tables += _played(load_table(name), index, choices, known=declared)
        if share is None:
            declared = _keys(tables)
    for name in _own_tables(records) if fraction is None else ():
        choices = (replace(choice, seeds=seeds) for choice in _choices(load_table(name), records, None))
        tables += _played(load_table(name), index, choices, known=_keys(tables))
    return tables


def _played(table: Table, index: RecordIndex, choices: Iterable[Choice], *, known: set[str]) -> list[Plan]:
    """Return a table filled for each choice that it was played with; records in `known` are in another table."""
    found: list[Plan] = []
    for choice in choices:
        measured = _filled(table, index, choice)
        # Tables share cells: a table that has only a few numbers of another was not played.
        least = len(measured.columns) * (1 if choice.dataset is None else 2)
        if 2 * measured.n_played >= least and not _keys([measured]) <= known | _keys(found):
            found.append(measured)
    return found


def _own_tables(records: Sequence[Record]) -> list[str]:
    """Return the names of our own tables, and of the sweeps of learners that were measured on held-out samples."""
    swept = {str(record.cell["learner"]) for record in records if record.cell.get("held_out")}
    return [*OURS, *(f"tuning-{learner}" for learner in sorted(swept) if learner in load_tunings())]


def _keys(tables: Sequence[Plan]) -> set[str]:
    return {record.key for table in tables for record in table.records}


def left_out(records: Sequence[Record], tables: Sequence[Plan]) -> int:
    """Return how many records are in no table."""
    shown = _keys(tables)
    return sum(record.key not in shown for record in records)


def _choices(table: Table, records: Sequence[Record], fraction: float | None) -> Iterator[Choice]:
    """Yield the choices that the records may be of; the paper's own backbones come first."""
    encoders = sorted({str(record.cell["encoder"]) for record in records})
    datasets = sorted({str(record.cell["dataset"]) for record in records})
    own = {column.dataset for column in table.columns}
    own_backbones = (None,) if any(block.backbone in encoders for block in table.blocks) else ()
    for dataset in (None, *(other for other in datasets if other not in own)):
        for encoder in (*own_backbones, *encoders):
            yield Choice(dataset=dataset, encoder=encoder, fraction=fraction)


def _filled(table: Table, index: RecordIndex, choice: Choice) -> Plan:
    """Fill a table; without a chosen number of seeds, with those that its records have."""
    if choice.seeds is not None:
        return fill_table(table, index, choice)
    every = 1 + max(record.seed for record in index.records)
    everything = fill_table(table, index, replace(choice, seeds=every))
    numbers = [
        1 + max(record.seed for record in entry.records) - table.first_seed
        for row in everything.rows
        for entry in row.entries
        # Other rows declare a number of seeds of their own.
        if entry.records and row.declared.seeds in (None, table.seeds)
    ]
    # Tables share cells: some may have more seeds because another table asked for them.
    if numbers and max(numbers) < table.seeds:
        choice = replace(choice, seeds=max(numbers))
    elif numbers and min(numbers) > table.seeds:
        choice = replace(choice, seeds=min(numbers))
    return fill_table(table, index, choice)
