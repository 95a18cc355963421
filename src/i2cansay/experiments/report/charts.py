"""Charts as SVG text: small, without a library, coloured by the page's style sheet, so that dark pages work."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from i2cansay.experiments.report.chart_frame import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Frame,
    axis_labels,
    extent,
    log_ticks,
    percent_extent,
    svg,
)

DASHES = ("", "6 3", "2 3", "8 3 2 3")


@dataclass(frozen=True)
class Series:
    """A line: values over positions, with the deviation of each value; shown with the colour of `place`."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    spread: Sequence[float]
    place: int


@dataclass(frozen=True)
class Bar:
    """One of our numbers beside the paper's (None where it prints none)."""

    name: str
    ours: float
    spread: float
    paper: float | None


@dataclass(frozen=True)
class Point:
    """A method's cost and accuracy."""

    name: str
    x: float
    y: float
    place: int


def line_chart(
    series: Sequence[Series], *, x_label: str, y_label: str, ticks: Sequence[str] = (), dots: bool = True
) -> str:
    """Draw lines with bands; `ticks` are names for the positions 0, 1, 2, ..."""
    x_low, x_high = extent([x for each in series for x in each.x])
    y_low, y_high = percent_extent([y for each in series for y in each.y])
    frame = Frame(x_low, x_high, y_low, y_high)
    parts = [frame.axes(x_label, y_label, ticks)]
    for each in series:
        edges = list(zip(each.x, each.y, each.spread, strict=True))
        band = [(x, y + s) for x, y, s in edges] + [(x, y - s) for x, y, s in reversed(edges)]
        parts.append(f'<polygon class="band s{each.place % 8}" points="{frame.points(band)}"/>')
    for each in series:
        dash = DASHES[each.place // 8 % len(DASHES)]
        line = frame.points(list(zip(each.x, each.y, strict=True)))
        parts.append(f'<polyline class="line s{each.place % 8}" stroke-dasharray="{dash}" points="{line}"/>')
        for x, y, s in zip(each.x, each.y, each.spread, strict=True) if dots else ():
            title = f"{escape(each.name)}: {y:.1f} ± {s:.1f}"
            parts.append(
                f'<circle class="dot s{each.place % 8}" cx="{frame.x(x):.1f}" cy="{frame.y(y):.1f}" r="2.6">'
                f"<title>{title}</title></circle>"
            )
    return svg(parts, y_label)


def bar_chart(bars: Sequence[Bar], *, label: str) -> str:
    """Draw a horizontal bar per number with its deviation, and a mark where the paper's number is."""
    row, left = 26, 146
    height = row * len(bars) + 34
    high = 100.0
    scale = (WIDTH - left - 44) / high
    parts = []
    for tick in range(0, 101, 25):
        x = left + tick * scale
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="4" y2="{height - 28}"/>')
        parts.append(f'<text class="tick" x="{x:.1f}" y="{height - 14}" text-anchor="middle">{tick}</text>')
    for place, bar in enumerate(bars):
        y = place * row + 6
        end = left + bar.ours * scale
        name = bar.name if len(bar.name) <= 24 else bar.name[:23] + "…"
        parts.append(
            f'<text class="name" x="{left - 8}" y="{y + 13}" text-anchor="end">{escape(name)}'
            f"<title>{escape(bar.name)}</title></text>"
        )
        parts.append(
            f'<rect class="bar" x="{left}" y="{y + 2}" width="{bar.ours * scale:.1f}" height="{row - 10}" rx="2">'
            f"<title>{escape(bar.name)}: {bar.ours:.1f} ± {bar.spread:.1f}</title></rect>"
        )
        if bar.spread > 0:
            low, top = (left + (bar.ours + sign * bar.spread) * scale for sign in (-1, 1))
            parts.append(f'<line class="error" x1="{low:.1f}" x2="{top:.1f}" y1="{y + 10}" y2="{y + 10}"/>')
        text = f"{bar.ours:.1f}"
        shift = end + bar.spread * scale + 6
        if bar.paper is not None:
            mark = left + bar.paper * scale
            parts.append(
                f'<line class="paper" x1="{mark:.1f}" x2="{mark:.1f}" y1="{y - 1}" y2="{y + row - 5}">'
                f"<title>the paper: {bar.paper:g}</title></line>"
            )
            shift = max(shift, mark + 6)
        parts.append(f'<text class="value" x="{shift:.1f}" y="{y + 14}">{text}</text>')
    return svg(parts, label, height=height)


def heat_map(matrix: Sequence[Sequence[float | None]], *, x_label: str, y_label: str) -> str:
    """Draw a matrix of percentages, row by row from the top; None is left empty."""
    n_rows, n_columns = len(matrix), max(map(len, matrix))
    side_x, side_y = (WIDTH - LEFT - RIGHT) / n_columns, (HEIGHT - TOP - BOTTOM) / n_rows
    parts = []
    for i, row in enumerate(matrix):
        for j, value in enumerate(row):
            if value is None:
                continue
            x, y = LEFT + j * side_x, TOP + i * side_y
            parts.append(
                f'<rect class="heat" x="{x:.1f}" y="{y:.1f}" width="{side_x:.2f}" height="{side_y:.2f}" '
                f'style="fill-opacity:{max(value, 0) / 100:.3f}">'
                f"<title>after session {i + 1}, classes of session {j + 1}: {value:.1f}</title></rect>"
            )
            if max(n_rows, n_columns) <= 10:
                strong = " strong" if value > 55 else ""
                parts.append(
                    f'<text class="cell{strong}" x="{x + side_x / 2:.1f}" y="{y + side_y / 2 + 4:.1f}" '
                    f'text-anchor="middle">{value:.0f}</text>'
                )
    step_x, step_y = max(1, math.ceil(n_columns / 10)), max(1, math.ceil(n_rows / 10))
    for j in range(0, n_columns, step_x):
        x = LEFT + (j + 0.5) * side_x
        parts.append(f'<text class="tick" x="{x:.1f}" y="{HEIGHT - 24}" text-anchor="middle">{j + 1}</text>')
    for i in range(0, n_rows, step_y):
        y = TOP + (i + 0.5) * side_y + 4
        parts.append(f'<text class="tick" x="{LEFT - 6}" y="{y:.1f}" text-anchor="end">{i + 1}</text>')
    parts.append(axis_labels(x_label, y_label))
    return svg(parts, y_label)


def scatter_chart(points: Sequence[Point], *, x_label: str, y_label: str) -> str:
    """Draw accuracy over cost, the cost on a logarithmic scale."""
    logs = [math.log10(max(point.x, 1e-9)) for point in points]
    low, high = extent(logs)
    frame = Frame(low - 0.15, high + 0.15, *percent_extent([point.y for point in points]))
    parts = [frame.axes(x_label, y_label, (), log_ticks(frame.x_low, frame.x_high))]
    for point, x in zip(points, logs, strict=True):
        parts.append(
            f'<circle class="spot s{point.place % 8}" cx="{frame.x(x):.1f}" cy="{frame.y(point.y):.1f}" r="6">'
            f"<title>{escape(point.name)}: {point.y:.1f}, {point.x:g}</title></circle>"
        )
    return svg(parts, y_label)
