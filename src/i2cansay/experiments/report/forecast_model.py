"""A forecast as a table: what has records, what is to be played, and how long it takes."""

from __future__ import annotations

from i2cansay.experiments.report.table_model import TableCell, TableLine, TableModel
from i2cansay.experiments.run.forecast import Forecast, RowForecast


def forecast_model(made: Forecast, *, jobs: int) -> TableModel:
    """Return one line per row of the table and one for their sum."""
    lines = [_line(row) for row in made.rows]
    total = ("all rows", str(made.n_there), str(made.n_to_play), "", _hours(made.seconds))
    notes = [
        f"about {_hours(made.seconds / jobs)} hours of wall-clock time with {jobs} "
        f"process{'' if jobs == 1 else 'es'}, if each is as fast as those that made the records",
        "hours are those of one process; a cell that two rows share counts once",
    ]
    if made.n_unknown:
        notes.append(
            f"{made.n_unknown} cells to play have no earlier record, so that they are not in the hours"
        )
    if made.dirty:
        notes.append(f"{made.dirty} of the records that are there come from a tree with uncommitted changes")
    heads = ("", "there", "to play", "seconds a cell", "hours")
    return TableModel(
        f"Plan of {made.title}",
        heads,
        (*lines, TableLine(tuple(map(TableCell, total)), "ours")),
        tuple(notes),
    )


def _line(row: RowForecast) -> TableLine:
    known = row.known
    each = f"{sum(known) / len(known):,.1f}" if known else ""
    unknown = f"{row.n_unknown} unknown" if row.n_unknown else ""
    hours = _hours(sum(known)) if known else ""
    texts = (
        row.title,
        str(row.n_there),
        str(len(row.seconds)),
        each,
        ", ".join(filter(None, (hours, unknown))),
    )
    return TableLine(tuple(map(TableCell, texts)))


def _hours(seconds: float) -> str:
    """Return seconds as hours with two decimals.

    >>> _hours(5400)
    '1.50'
    """
    return f"{seconds / 3600:.2f}"
