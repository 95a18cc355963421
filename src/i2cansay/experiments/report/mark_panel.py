"""A panel of a chart: methods by what they cost and how accurate they are, each with its name beside its mark.

Names are placed one by one, each at the nearest place where it covers no mark, error bar, leader line or other name.
Lengths are in pixels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import hypot
from typing import TYPE_CHECKING, NamedTuple

from i2cansay.experiments.report.name_places import AIR, arranged, places
from i2cansay.experiments.run.plan import TableRow
from i2cansay.experiments.run.seed_statistics import Spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.transforms import Bbox

# Distinct without colour too; filled on stages of the encoder, hollow on its last layer.
MARKS = {
    "i2cansay_shared": ("#8b1a6b", "^", 9),
    "i2cansay": ("#0b5394", "o", 8),
    "joint": ("#777777", "D", 6),
}
PEER = ("#5b7f95", "s", 6)
KINDS = {
    "shared mode": MARKS["i2cansay_shared"],
    "paper mode": MARKS["i2cansay"],
    "other methods": PEER,
    "joint: all samples at once": MARKS["joint"],
}
STAGES = "stages: "
# Its names are on the left of its marks, away from those of its peers.
OWN = "i2cansay_shared"

# Marks of one kind that lie nearer to each other than this share of their size have one name.
TOGETHER = 0.7


class Mark(NamedTuple):
    """A method in a panel; its cost is on the horizontal axis."""

    title: str
    learner: str
    on_stages: bool
    accuracy: Spread
    cost: float


def mark_of(row: TableRow, accuracy: Spread, cost: float) -> Mark:
    """Return the mark of a row of a table."""
    title, learner = row.declared.title.strip("*"), row.declared.learner
    name = _short(title.removeprefix(STAGES), learner)
    return Mark(name, learner, title.startswith(STAGES), accuracy, cost)


def draw_panel(axes: Axes, marks: Iterable[Mark], *, room: float, font_size: float = 8.5) -> None:
    """Draw a mark for every method over logarithmic costs, with its name.

    The axis ends `room` times as far as the highest cost: names lie on the right of most marks. Names that are kept
    apart here stay apart if a layout makes the axes larger later, not if it makes them smaller.
    """
    marks = sorted(marks, key=_order)
    costs = [mark.cost for mark in marks] or [1.0]
    axes.set(xscale="log", xlim=(0.6 * min(costs), room * max(costs)))
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    if marks:
        _draw_marks(axes, marks)
        _draw_names(axes, marks, font_size)


def kinds_of_features() -> list[Line2D]:
    """Return what a legend shows: filled on stages of the encoder, hollow on its last layer."""
    from matplotlib.lines import Line2D

    colour, marker, _ = PEER
    return [
        Line2D([], [], color=colour, marker=marker, linestyle="", markerfacecolor=face, label=label)
        for face, label in ((colour, "filled: stages of the encoder"), ("white", "hollow: its last layer"))
    ]


def kinds_of_methods() -> list[Line2D]:
    """Return what a legend shows: the shape of every kind of method."""
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], color=colour, marker=marker, markersize=points, linestyle="", label=label)
        for label, (colour, marker, points) in KINDS.items()
    ]


def _draw_marks(axes: Axes, marks: list[Mark]) -> None:
    least = min(mark.accuracy.mean - mark.accuracy.std for mark in marks)
    most = max(mark.accuracy.mean + mark.accuracy.std for mark in marks)
    axes.set_ylim(least - 0.06 * (most - least), most + 0.06 * (most - least))
    for mark in marks:
        colour, marker, points = MARKS.get(mark.learner, PEER)
        axes.errorbar(
            [mark.cost],
            [mark.accuracy.mean],
            yerr=[mark.accuracy.std],
            color=colour,
            marker=marker,
            markersize=points,
            markerfacecolor=colour if mark.on_stages else "white",
        )


def _draw_names(axes: Axes, marks: list[Mark], font_size: float) -> None:
    texts, tried = [], []
    for title, mark in _names(axes, marks):
        colour, is_own = MARKS.get(mark.learner, PEER)[0], mark.learner == OWN
        text = axes.text(0, 0, title, transform=axes.transAxes, va="center", fontsize=font_size, color=colour)
        text.set_fontweight("bold" if mark.on_stages and is_own else "normal")
        texts.append(text)
        size = text.get_window_extent().padded(0, AIR * _pixels(axes) / 2)
        tried.append(places(_extent(axes, mark), size, axes.bbox, on_left=is_own))
    to_axes = axes.transAxes.inverted()
    for text, place in zip(texts, arranged(tried, [_extent(axes, mark) for mark in marks]), strict=True):
        box = place.box
        x = {"left": box.x0, "center": (box.x0 + box.x1) / 2, "right": box.x1}[place.align]
        text.set(ha=place.align, position=to_axes.transform((x, (box.y0 + box.y1) / 2)))
        if place.is_apart:
            x_ends, y_ends = to_axes.transform(place.leader.vertices).T
            line = axes.plot(x_ends, y_ends, transform=axes.transAxes, color=text.get_color(), zorder=1.5)
            line[0].set(linewidth=0.6, alpha=0.7)


def _extent(axes: Axes, mark: Mark) -> Bbox:
    """Return what a mark with its error bar covers, with some air."""
    from matplotlib.transforms import Bbox

    mean, std = mark.accuracy.mean, mark.accuracy.std
    (x, low), (_, high) = axes.transData.transform([(mark.cost, mean - std), (mark.cost, mean + std)])
    reach = (_size(mark) / 2 + AIR) * _pixels(axes)
    return Bbox([[x - reach, low - reach], [x + reach, high + reach]])


def _names(axes: Axes, marks: list[Mark]) -> Iterator[tuple[str, Mark]]:
    """Yield each name with the mark that it lies beside; peers that lie on each other are named together."""
    left = list(marks)
    while left:
        first = left[0]
        same = [each for each in left if each is first or _lies_on(axes, each, first)]
        left = [each for each in left if each not in same]
        yield " and ".join(each.title for each in same), first


def _lies_on(axes: Axes, mark: Mark, other: Mark) -> bool:
    """Return whether a peer's mark looks like another one and covers most of it."""
    (x, y), (other_x, other_y) = axes.transData.transform(
        [(each.cost, each.accuracy.mean) for each in (mark, other)]
    )
    looks = [(MARKS.get(each.learner, PEER), each.on_stages) for each in (mark, other)]
    is_peer = mark.learner not in MARKS
    return (
        is_peer
        and looks[0] == looks[1]
        and hypot(x - other_x, y - other_y) < TOGETHER * _size(mark) * _pixels(axes)
    )


def _size(mark: Mark) -> int:
    return MARKS.get(mark.learner, PEER)[2]


def _pixels(axes: Axes) -> float:
    """Return the pixels of a point."""
    return float(axes.figure.dpi) / 72


def _short(title: str, learner: str) -> str:
    """Return the name of a peer without its settings, which the table has.

    Examples
    --------
    >>> _short("RanPAC 5,000, GCV", "ranpac"), _short("shared mode, wide", "i2cansay_shared")
    ('RanPAC 5,000', 'shared mode, wide')
    """
    return title if learner in MARKS else title.split(", ", maxsplit=1)[0]


def _order(mark: Mark) -> tuple[bool, float]:
    """Put our own names first, so that they lie beside their marks, then the highest."""
    return mark.learner != OWN, -mark.accuracy.mean
