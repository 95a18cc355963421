"""Charts as SVG, drawn by matplotlib and coloured by the style sheet of the page, so that dark pages work."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 4.6
HEIGHT = 3.0
# Placeholders: in the SVG each of these colours is replaced by a variable of the page's style sheet.
COLOURS = {f"c{place}": f"#0000{place + 1:02x}" for place in range(8)}
INK, SOFT, RULE, ACCENT, MARK = "#000011", "#000012", "#000013", "#000014", "#000015"
VARIABLES = {
    **{colour: name for name, colour in COLOURS.items()},
    INK: "ink",
    SOFT: "soft",
    RULE: "rule",
    ACCENT: "accent",
    MARK: "mark",
}
DASHES: tuple[Any, ...] = ("-", (0, (4, 2)), (0, (1, 2)), (0, (5, 2, 1, 2)))
MOST_NAME = 26


@dataclass(frozen=True)
class Series:
    """A line: values over positions, with the deviation of each; `place` chooses its colour."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    spread: Sequence[float]
    place: int


@dataclass(frozen=True)
class Bar:
    """One of our numbers, and the paper's (None if it prints none)."""

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


def can_draw() -> bool:
    """Whether matplotlib, an extra, is installed."""
    return find_spec("matplotlib") is not None


def line_chart(
    series: Sequence[Series], *, x_label: str, y_label: str, ticks: Sequence[str] = (), dots: bool = True
) -> str:
    """Draw lines with bands of one deviation; `ticks` names the positions 0, 1, 2, ..."""
    figure, axes = _start(HEIGHT)
    for number, each in enumerate(series):
        colour = COLOURS[f"c{each.place % 8}"]
        x, y, spread = (np.asarray(part, dtype=np.float64) for part in (each.x, each.y, each.spread))
        axes.fill_between(x, y - spread, y + spread, color=colour, alpha=0.14, linewidth=0)
        dash = DASHES[each.place // 8 % len(DASHES)]
        style = {"color": colour, "linewidth": 1.6, "linestyle": dash, "gid": f"curve{number}"}
        axes.plot(x, y, marker="o" if dots else None, markersize=3, **style)
    low = min(min(each.y) for each in series)
    if low >= 0:
        # Zero is the lowest an axis begins at; high percentages begin just below the lowest of them.
        high = max(max(each.y) for each in series)
        axes.set_ylim(bottom=0 if low < 50 else max(0.0, low - max(1.0, 0.2 * (high - low))))
    if ticks:
        axes.set_xticks(range(len(ticks)), ticks)
    return _finish(figure, axes, x_label, y_label)


def bar_chart(bars: Sequence[Bar], *, label: str) -> str:
    """Draw a horizontal bar per number with its deviation, and a mark at the paper's number."""
    figure, axes = _start(0.55 + 0.24 * len(bars))
    places = range(len(bars))
    axes.barh(places, [bar.ours for bar in bars], height=0.62, color=ACCENT, alpha=0.8)
    for place, bar in enumerate(bars):
        end = bar.ours + bar.spread
        if bar.spread > 0:
            axes.plot([bar.ours - bar.spread, end], [place, place], color=INK, linewidth=1.2)
        if bar.paper is not None:
            axes.plot(
                [bar.paper] * 2, [place - 0.42, place + 0.42], color=MARK, linewidth=2.4, gid=f"paper{place}"
            )
            end = max(end, bar.paper)
        axes.text(end + 1.5, place, f"{bar.ours:.1f}", color=INK, fontsize=8, va="center")
    names = [bar.name if len(bar.name) <= MOST_NAME else bar.name[: MOST_NAME - 1] + "…" for bar in bars]
    axes.set_yticks(places, names)
    axes.set_xlim(0, 110)
    axes.set_xticks(range(0, 101, 25))
    axes.invert_yaxis()
    return _finish(figure, axes, "", "", title=label)


def heat_map(matrix: Sequence[Sequence[float | None]], *, x_label: str, y_label: str) -> str:
    """Draw a matrix of percentages, row by row from the top; None is left empty."""
    figure, axes = _start(HEIGHT)
    n_columns = max(map(len, matrix))
    for i, row in enumerate(matrix):
        for j, value in enumerate(row):
            if value is None:
                continue
            share = min(max(value, 0.0), 100.0) / 100
            square = (j + 0.5, i + 0.5)
            axes.add_patch(_rectangle(square, share, f"square{i}-{j}"))
            if n_columns <= 10:
                axes.text(j + 1, i + 1, f"{value:.0f}", color=INK, fontsize=8, ha="center", va="center")
    axes.set_xlim(0.5, n_columns + 0.5)
    axes.set_ylim(len(matrix) + 0.5, 0.5)
    return _finish(figure, axes, x_label, y_label)


def _rectangle(corner: tuple[float, float], alpha: float, name: str) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle(corner, 1, 1, facecolor=ACCENT, alpha=alpha, linewidth=0, gid=name)


def scatter_chart(points: Sequence[Point], *, x_label: str, y_label: str) -> str:
    """Draw accuracy over a cost, on a logarithmic axis."""
    figure, axes = _start(HEIGHT)
    axes.set_xscale("log")
    for point in points:
        axes.plot([point.x], [point.y], "o", color=COLOURS[f"c{point.place % 8}"], markersize=7)
    return _finish(figure, axes, f"{x_label}, logarithmic", y_label)


def legend_html(items: Sequence[Series | Point]) -> str:
    """Return the names with their colours as HTML."""
    spans = (f'<span><i class="s{item.place % 8}"></i>{escape(item.name)}</span>' for item in items)
    return f'<div class="legend">{"".join(spans)}</div>'


def _start(height: float) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    return figure, figure.subplots()


def _finish(figure: Figure, axes: Axes, x_label: str, y_label: str, title: str = "") -> str:
    axes.set_xlabel(x_label, color=SOFT, fontsize=8)
    axes.set_ylabel(y_label, color=SOFT, fontsize=8)
    axes.tick_params(which="both", colors=SOFT, labelsize=8)
    axes.grid(color=RULE, linewidth=0.8)
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(RULE)
    return to_svg(figure, label=title or y_label)


def to_svg(figure: Figure, *, label: str) -> str:
    """Return a figure as SVG for a page: no background, the page's colours, ids that are unique on the page."""
    from matplotlib import rc_context

    stream = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": label, "font.family": "sans-serif"}):
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->|<!DOCTYPE.*?>", "", text, flags=re.DOTALL)
    for colour, name in VARIABLES.items():
        text = text.replace(colour, f"var(--{name})")
    text = re.sub(r'<svg [^>]*?viewBox="([^"]*)"[^>]*>', _opening(label), text, count=1, flags=re.DOTALL)
    return _with_own_names(text)


def _opening(label: str) -> str:
    name = escape(label, quote=True).replace("\\", "\\\\")
    links = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return rf'<svg viewBox="\1" role="img" aria-label="{name}" {links}>'


def _with_own_names(text: str) -> str:
    """Prefix every id with a hash of the chart, because ids are shared by the whole page."""
    prefix = f"f{hashlib.sha256(text.encode()).hexdigest()[:8]}-"
    text = re.sub(r'\bid="', f'id="{prefix}', text)
    return re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{prefix}", text)
