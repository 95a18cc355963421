"""A panel of a chart: methods by what they cost and how accurate they are, each with its name beside its mark."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from i2cansay.experiments.run.plan import TableRow
from i2cansay.experiments.run.seed_statistics import Spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

# Distinct without colour too; filled on stages of the encoder, hollow on its last layer.
MARKS = {
    "i2cansay_shared": ("#8b1a6b", "^", 9),
    "i2cansay": ("#0b5394", "o", 8),
    "joint": ("#777777", "D", 6),
}
PEER = ("#5b7f95", "s", 6)
STAGES = "stages: "
# Its names are on the left of its marks, away from those of its peers.
OWN = "i2cansay_shared"


# In shares of a panel: the width of a character of a name, its height with some air, its distance from its mark.
CHARACTER, LINE, GAP = 0.0145, 0.04, 0.02
TRIED = 12


class Label(NamedTuple):
    """What a name or a mark covers of a panel."""

    left: float
    right: float
    height: float

    def covers(self, other: Label) -> bool:
        """Return whether they overlap."""
        beside = self.left >= other.right or self.right <= other.left
        return not beside and abs(self.height - other.height) < 0.99 * LINE


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


def draw_panel(axes: Axes, marks: Iterable[Mark], *, room: float) -> None:
    """Draw a mark for every method over logarithmic costs, with names at heights that keep them apart.

    The axis ends `room` times as far as the highest cost: names lie on the right of most marks.
    """
    marks = sorted(marks, key=lambda mark: mark.accuracy.mean)
    costs = [mark.cost for mark in marks] or [1.0]
    axes.set(xscale="log", xlim=(0.6 * min(costs), room * max(costs)))
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    _draw_marks(axes, marks)


def kinds_of_features() -> list[Line2D]:
    """Return what a legend shows: filled on stages of the encoder, hollow on its last layer."""
    from matplotlib.lines import Line2D

    colour, marker, _ = PEER
    return [
        Line2D([], [], color=colour, marker=marker, linestyle="", markerfacecolor=face, label=label)
        for face, label in ((colour, "stages of the encoder"), ("white", "its last layer"))
    ]


def _draw_marks(axes: Axes, marks: list[Mark]) -> None:
    if not marks:
        return
    least, most = marks[0].accuracy.mean, marks[-1].accuracy.mean
    axes.set_ylim(least - 0.06 * (most - least), most + 0.06 * (most - least))
    places = [_place(axes, mark) for mark in marks]
    taken = [Label(x - 0.01, x + 0.01, y) for x, y in places]
    for mark, (x, y) in sorted(zip(marks, places, strict=True), key=lambda each: _order(each[0])):
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
        on_left = mark.learner == OWN
        label = _free(x, y, CHARACTER * len(mark.title), taken, on_left=on_left)
        taken.append(label)
        ends_at_mark = label.right < x
        axes.annotate(
            mark.title,
            (x, y),
            xycoords="axes fraction",
            xytext=(label.right if ends_at_mark else label.left, label.height),
            textcoords="axes fraction",
            ha="right" if ends_at_mark else "left",
            va="center",
            fontsize=8.5,
            fontweight="bold" if mark.on_stages and on_left else "normal",
            color=colour,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.5, "alpha": 0.6},
        )


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


def _place(axes: Axes, mark: Mark) -> tuple[float, float]:
    """Return where a mark lies, in shares of the panel."""
    x, y = axes.transAxes.inverted().transform(axes.transData.transform((mark.cost, mark.accuracy.mean)))
    return float(x), float(y)


def _free(x: float, y: float, length: float, taken: list[Label], *, on_left: bool) -> Label:
    """Return the place nearest to a mark where a name of this length covers neither a mark nor another name.

    Examples
    --------
    >>> _free(0.5, 0.5, 0.2, [], on_left=False)
    Label(left=0.52, right=0.72, height=0.5)
    >>> _free(0.5, 0.5, 0.2, [Label(0.6, 0.9, 0.5), Label(0.4, 0.45, 0.5)], on_left=False).height
    0.54
    """
    sides = [x - GAP - length, x + GAP] if on_left else [x + GAP, x - GAP - length]
    tried = [
        Label(left, left + length, y + LINE * lines)
        for lines in (0, *(sign * line for line in range(1, TRIED) for sign in (1, -1)))
        for left in sides
        if left >= 0 and left + length <= 1 and 0 <= y + LINE * lines <= 1
    ]
    return next((label for label in tried if not any(map(label.covers, taken))), tried[0])
