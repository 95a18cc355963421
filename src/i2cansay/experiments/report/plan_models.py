"""Filled plans as table models: with the paper's numbers, with seeds, and as differences paired by seed."""

from __future__ import annotations

from collections.abc import Sequence

from i2cansay.experiments.declare.declaration import printed
from i2cansay.experiments.report.table_model import TableCell, TableLine, TableModel
from i2cansay.experiments.run.metric import metric_title
from i2cansay.experiments.run.paired_difference import CONFIDENCE, difference_of, half_width
from i2cansay.experiments.run.plan import Entry, Plan, TableRow
from i2cansay.experiments.run.record import Record

SEEDS_NOTE = (
    "memory is how many samples a row may store, seeds is how many runs it is a mean over: a single run has no "
    "deviation, and fewer than five decide nothing"
)
SESSIONS_NOTE = (
    '"told sessions": the method is given each session whole and so knows where it ends; it is not task-free'
)
SECONDS_NOTE = "seconds are wall-clock, on a machine with other work, so they compare rows only roughly"


def plan_model(plan: Plan) -> TableModel:
    """Return our numbers and, below each, the paper's number and the difference."""
    heads = ("", "memory", *(plan.heading(column) for column in plan.columns))
    backbones = {row.backbone for row in plan.rows}
    before = None
    lines = []
    for row in plan.rows:
        if len(backbones) > 1 and row.backbone != before:
            before = row.backbone
            lines.append(TableLine((TableCell(f"paper's backbone: {before}"),), "block"))
        lines.append(_plan_line(row, plan.table.decimals))
    return TableModel(
        plan.title,
        (*heads, "seeds", "seconds, wall-clock", "state, kB"),
        tuple(lines),
        tuple(plan_notes(plan)),
    )


def _plan_line(row: TableRow, decimals: int) -> TableLine:
    declared = row.declared
    kind = "variant" if declared.variant else "ours" if declared.learner == "i2cansay" else ""
    seconds = "" if row.seconds is None else f"{row.seconds:.1f}"
    state = "" if row.state_bytes is None else f"{row.state_bytes / 1e3:,.0f}"
    cells = (
        TableCell(row.title),
        TableCell(row.memory),
        *(_plan_cell(entry, decimals) for entry in row.entries),
        *map(TableCell, (row.seeds, seconds, state)),
    )
    return TableLine(cells, kind)


def _plan_cell(entry: Entry, decimals: int) -> TableCell:
    paper = f"{entry.paper:.{decimals}f}" if printed(entry.paper) else ""
    delta = "" if entry.delta is None else f"{entry.delta:+.{decimals}f}"
    below = ", ".join(part for part in (paper, delta) if part)
    return TableCell(_mean(entry, decimals) or entry.why_empty, below, "" if entry.records else "none")


def _mean(entry: Entry, decimals: int) -> str:
    if entry.ours is None:
        return ""
    std = f" ± {entry.ours.std:.{decimals}f}" if entry.ours.n > 1 else ""
    return f"{entry.ours.mean:.{decimals}f}{std}"


def plan_notes(plan: Plan) -> list[str]:
    """Return what a reader must know about the table."""
    notes = [
        metric_text(plan),
        f"{plan.seeds}; each number is ours, mean ± sample deviation over seeds; below it, if there is one, the "
        "paper's number and the difference",
        SEEDS_NOTE,
        SECONDS_NOTE,
    ]
    if any(row.told_sessions for row in plan.rows):
        notes.append(SESSIONS_NOTE)
    if plan.table.note:
        notes.append(plan.table.note)
    return [*notes, *substitutions(plan), f"repeat with: {plan.command}"]


def metric_text(plan: Plan) -> str:
    """Name the metric of the table, or the metrics with their columns."""
    named: dict[str, list[str]] = {}
    for column in plan.columns:
        named.setdefault(metric_title(column.metric), []).append(plan.heading(column))
    if len(named) == 1:
        return next(iter(named))
    return "; ".join(f"{title} ({', '.join(columns)})" for title, columns in named.items())


def substitutions(plan: Plan) -> list[str]:
    """Say what is not as in the paper."""
    lines = []
    if any(row.encoder != row.backbone for row in plan.rows):
        lines.append("the encoder is not the paper's, so differences from its numbers do not test them")
    played: dict[tuple[str, int], list[tuple[str, str]]] = {}
    for column in plan.columns:
        if plan.choice.stand_in and (other := column.stand_in) is not None:
            played.setdefault((other.dataset, other.n_classes), []).append((other.name, column.name))
    for (dataset, n_classes), names in played.items():
        stand_ins, columns = (" and ".join(each) for each in zip(*names, strict=True))
        lines.append(
            f"{stand_ins}: the stream of {columns} over the first {n_classes} classes of {dataset}; what is printed "
            "of the data themselves is left out"
        )
    return lines


def seeds_model(plan: Plan, *, rows: Sequence[str] = (), columns: Sequence[str] = ()) -> TableModel:
    """Return means and deviations with the number of seeds in brackets; with MB if the table has a size column.

    With `rows` or `columns`, only those of these names.
    """
    names = [column.name for column in plan.columns]
    shown = [place for place, name in enumerate(names) if not columns or name in columns]
    extra = ["MB"] if plan.table.size_column else []
    lines = []
    for row in plan.rows:
        if rows and row.declared.name not in rows:
            continue
        cells = [TableCell(row.title)]
        cells += [TableCell(_with_seeds(row.entries[place], plan.table.decimals)) for place in shown]
        if plan.table.size_column:
            size = row.entries[names.index(plan.table.size_column)].records
            cells.append(TableCell(f"{size[0].state_bytes / 1e6:.0f}" if size else "-"))
        lines.append(TableLine(tuple(cells)))
    corner = f"{metric_text(plan)}, {plan.table.short}"
    return TableModel("", (corner, *(names[place] for place in shown), *extra), tuple(lines))


def _with_seeds(entry: Entry, decimals: int) -> str:
    return f"{_mean(entry, decimals)} ({len(entry.records)})" if entry.records else "-"


def differences_model(
    plan: Plan, name: str, *, rows: Sequence[str] = (), columns: Sequence[str] = ()
) -> TableModel:
    """Return one row minus every other, paired by seed, with its 95% interval.

    With `rows` or `columns`, only those of these names.
    """
    own = next(row for row in plan.rows if row.declared.name == name)
    names = [column.name for column in plan.columns]
    shown = [place for place, column in enumerate(names) if not columns or column in columns]
    lines = []
    for row in plan.rows:
        if row is not own and (not rows or row.declared.name in rows):
            texts = (row.title, *(difference_text(own.entries[place], row.entries[place]) for place in shown))
            lines.append(TableLine(tuple(map(TableCell, texts))))
    corner = f"{own.declared.title.strip('*')} minus, {plan.table.short}"
    return TableModel("", (corner, *(names[place] for place in shown)), tuple(lines))


def paired_records(mine: Entry, theirs: Entry) -> list[tuple[Record, Record]]:
    """Return the records of two entries by common seed.

    An entry that is the same for every seed is compared with each seed of the other.
    """
    if theirs.fixed and theirs.records and len(mine.records) > 1:
        return [(record, theirs.records[0]) for record in mine.records]
    if mine.fixed and mine.records and len(theirs.records) > 1:
        return [(mine.records[0], record) for record in theirs.records]
    other = {record.seed: record for record in theirs.records}
    return [(record, other[record.seed]) for record in mine.records if record.seed in other]


def difference_text(mine: Entry, theirs: Entry) -> str:
    """Return the mean difference over common seeds and its 95% interval.

    Where no seed changes either of the two, the interval has the noise of the test images alone.
    """
    pairs = paired_records(mine, theirs)
    if not pairs:
        return "-"
    gap = difference_of(pairs, mine.column.metric)
    if gap.n == 1 and mine.fixed and theirs.fixed:
        half = half_width(gap.errors[1:], (1 - CONFIDENCE) / 2)
        return f"{gap.mean:+.2f} [{gap.mean - half:+.2f}, {gap.mean + half:+.2f}]"
    return (
        f"{gap.mean:+.2f} (one seed)" if gap.n == 1 else f"{gap.mean:+.2f} [{gap.low:+.2f}, {gap.high:+.2f}]"
    )
