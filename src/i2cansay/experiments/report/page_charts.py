"""The charts of a measured table: bars against the paper, curves over the stream, forgetting, cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

import numpy as np

from i2cansay.evaluate import accuracy_curve
from i2cansay.experiments.declare.declaration import printed
from i2cansay.experiments.report.charts import (
    Bar,
    Point,
    Series,
    bar_chart,
    heat_map,
    legend_html,
    line_chart,
    scatter_chart,
)
from i2cansay.experiments.report.illustration import Panel
from i2cansay.experiments.run.plan import Entry, Plan, TableRow
from i2cansay.experiments.run.record import Record

# With more lines than this a chart cannot be read.
MOST_LINES = 12


def charts_of(measured: Plan) -> list[str]:
    """Return the figures of a table as HTML."""
    rows = _distinct([row for row in measured.rows if row.records])
    if measured.table.chart == "curves":
        return list(_curves_over_columns(measured, rows))
    figures = list(_bars(measured, rows))
    places = _places_by_setting(measured)
    for place in places:
        figures += _over_the_stream(measured, rows, place)
    for place in places[:1]:
        figures += _forgetting(measured, rows, place)
    if len(rows) > 1:
        figures += _cost(measured, rows, places[0] if places else 0)
    return figures


def _distinct(rows: Sequence[TableRow]) -> list[TableRow]:
    """Return the rows without those that another backbone's block repeats with the same encoder and cells."""
    kept: dict[tuple[str, ...], TableRow] = {}
    for row in rows:
        kept.setdefault(tuple(record.key for record in row.records), row)
    return list(kept.values())


def _places_by_setting(measured: Plan) -> list[int]:
    """Return one column per stream that was measured after every session."""
    found: dict[tuple[str, str], int] = {}
    for place, column in enumerate(measured.columns):
        if column.every_session and any(row.entries[place].records for row in measured.rows):
            found.setdefault((column.dataset, column.stream), place)
    return list(found.values())


def _bars(measured: Plan, rows: Sequence[TableRow]) -> Iterator[str]:
    for place, column in enumerate(measured.columns):
        entries = [(_short(row), row.entries[place]) for row in rows]
        if any(entry.ours is not None for _, entry in entries):
            yield _bar_figure(measured.heading(column), entries)


def _short(row: TableRow) -> str:
    """Return a short title: a variant is below its row and need not repeat the name."""
    return row.title if row.declared.variant is None else f"with {row.declared.variant}"


def _bar_figure(title: str, entries: Sequence[tuple[str, Entry]]) -> str:
    bars = [
        Bar(name, entry.ours.mean, entry.ours.std, entry.paper if printed(entry.paper) else None)
        for name, entry in entries
        if entry.ours is not None
    ]
    has_paper = any(bar.paper is not None for bar in bars)
    legend = '<span><i class="s0"></i>ours</span>' + (
        '<span><i class="paper"></i>the paper</span>' if has_paper else ""
    )
    return _figure(title, bar_chart(bars, label=title), f'<div class="legend">{legend}</div>')


def _curves_over_columns(measured: Plan, rows: Sequence[TableRow]) -> Iterator[str]:
    """Draw accuracy over the columns: one chart for the printed rule and one for each variant of it."""
    names = [column.name for column in measured.columns]
    for variant in dict.fromkeys(row.declared.variant for row in rows):
        chosen = [row for row in rows if row.declared.variant == variant]
        series = []
        for place, row in enumerate(chosen):
            filled = [(x, entry.ours) for x, entry in enumerate(row.entries) if entry.ours is not None]
            if filled:
                means, stds = [ours.mean for _, ours in filled], [ours.std for _, ours in filled]
                series.append(Series(row.title, [x for x, _ in filled], means, stds, place))
            papers = [(x, entry.paper) for x, entry in enumerate(row.entries) if printed(entry.paper)]
            if papers:
                values = [value for _, value in papers]
                series.append(
                    Series("the paper", [x for x, _ in papers], values, [0.0] * len(values), place + 1)
                )
        if series:
            chart = line_chart(series, x_label="", y_label="accuracy, %", ticks=names)
            yield _figure(variant or "the rule as printed", chart, legend_html(series))


def _readable(rows: Sequence[TableRow], place: int) -> list[TableRow]:
    """Return as many rows as a chart can show: the paper's method and the best rows of a column, in their order."""

    def rank(number: int) -> tuple[bool, float]:
        ours = rows[number].entries[place].ours
        return rows[number].declared.learner == "i2cansay", -1.0 if ours is None else ours.mean

    chosen = sorted(range(len(rows)), key=rank, reverse=True)[:MOST_LINES]
    return [rows[number] for number in sorted(chosen)]


def _over_the_stream(measured: Plan, rows: Sequence[TableRow], place: int) -> Iterator[str]:
    series = []
    for number, row in enumerate(_readable(rows, place)):
        runs = [record for record in row.entries[place].records if record.outcome.every_session]
        if not runs:
            continue
        curves = 100 * np.array([accuracy_curve(record.outcome) for record in runs])
        # As a share of the stream: low-data rows see fewer samples.
        samples = np.mean([[c.samples for c in record.outcome.checkpoints] for record in runs], axis=0)
        samples *= 100 / samples[-1]
        if curves.shape[1] > 1:
            mean, std = curves.mean(axis=0).tolist(), curves.std(axis=0).tolist()
            series.append(Series(row.title, samples.tolist(), mean, std, number))
    if series:
        title = f"Over the stream: {measured.heading(measured.columns[place])}"
        chart = line_chart(
            series, x_label="share of the stream seen, %", y_label="accuracy on the classes so far, %"
        )
        yield _figure(title, chart, legend_html(series))


def _forgetting(measured: Plan, rows: Sequence[TableRow], place: int) -> Iterator[str]:
    """Draw the matrix for the paper's method: after each session, accuracy on the classes of each earlier one."""
    for row in rows:
        runs = [record for record in row.entries[place].records if record.outcome.every_session]
        if row.declared.name != "i2cansay" or not runs or not runs[0].outcome.stream.get("has_sessions"):
            continue
        matrix = np.mean([_matrix(record) for record in runs], axis=0)
        values = [[None if np.isnan(value) else float(value) for value in line] for line in matrix]
        chart = heat_map(values, x_label="classes of session", y_label="after session")
        name = measured.heading(measured.columns[place])
        yield _figure(f"Forgetting: {row.title}, {name}", chart, "")


def _matrix(record: Record) -> np.ndarray:
    """Return the accuracy after session i (row) on the new classes of session j (column), nan where j > i."""
    outcome = record.outcome
    size = len(outcome.new_classes)
    matrix = np.full((size, size), np.nan)
    for checkpoint in outcome.checkpoints:
        for session, group in enumerate(outcome.groups_seen(checkpoint)):
            total = sum(outcome.test_counts[index] for index in group)
            right = sum(checkpoint.correct[index] for index in group)
            matrix[checkpoint.session, session] = 100 * right / total if total else np.nan
    return matrix


def _cost(measured: Plan, rows: Sequence[TableRow], place: int) -> Iterator[str]:
    points: dict[str, list[Point]] = {"seconds": [], "state, bytes": []}
    for number, row in enumerate(_readable(rows, place)):
        entry = row.entries[place]
        if entry.ours is None:
            continue
        outcomes = [record.outcome for record in entry.records]
        seconds = float(np.mean([each.learning_seconds + each.prediction_seconds for each in outcomes]))
        size = float(np.mean([each.state_bytes for each in outcomes]))
        points["seconds"].append(Point(row.title, seconds, entry.ours.mean, number))
        points["state, bytes"].append(Point(row.title, size, entry.ours.mean, number))
    name = measured.heading(measured.columns[place])
    for cost, chosen in points.items():
        if len(chosen) > 1:
            chart = scatter_chart(chosen, x_label=cost, y_label="accuracy, %")
            yield _figure(f"Accuracy against {cost.split(',')[0]}: {name}", chart, legend_html(chosen))


def panel_figure(panel: Panel) -> str:
    """Draw one panel of an illustration."""
    none = [0.0] * len(panel.x)
    series = [
        Series(name, panel.x, line, none, place) for place, (name, line) in enumerate(panel.lines.items())
    ]
    chart = line_chart(series, x_label=panel.x_label, y_label=panel.y_label, dots=False)
    return _figure(panel.title, chart, legend_html(series))


def _figure(title: str, chart: str, below: str) -> str:
    return f"<figure><h3>{escape(title)}</h3>{chart}{below}</figure>"
