"""The chart at the top of the results: accuracy over the size of the saved model, method by method."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from i2cansay.experiments.run.plan import Plan
from i2cansay.experiments.run.seed_statistics import Spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = ("CIFAR-100", "CIFAR-10 10%")
# One row per method and kind of features; the table below the chart has all rows.
ROWS = (
    "paper",
    "shared",
    "wide",
    "slda_oas",
    "ridge",
    "ranpac_5k_gcv",
    "ranpac_10k",
    "rff_lda",
    "fecam_once",
    "joint",
    "stages_best",
    "stages_small",
    "stages_slda_oas",
    "stages_ridge",
    "stages_ranpac_5k",
    "stages_joint",
)
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
CHARACTER, LINE, GAP = 0.0135, 0.04, 0.02
TRIED = 8


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
    """A row of the table in one panel."""

    title: str
    learner: str
    on_stages: bool
    accuracy: Spread
    megabytes: float


def draw_methods(plan: Plan, path: Path) -> None:
    """Draw the rows of a filled table, with a panel for each of two columns."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "methods"}):
        figure = Figure(figsize=(11, 5.6), layout="constrained", facecolor="white")
        panels = figure.subplots(1, len(COLUMNS))
        names = [column.name for column in plan.columns]
        for axes, name in zip(panels, COLUMNS, strict=True):
            marks = _marks(plan, names.index(name))
            axes.set(xscale="log", xlim=(0.6 * min((m.megabytes for m in marks), default=1.0), 5000))
            _panel(axes, marks)
            axes.set_xlabel("MB of the saved model, logarithmic")
            axes.set_ylabel("last accuracy on the test part, %")
            axes.set_title(f"{name}, {plan.table.short}", loc="left", fontsize=11)
            axes.grid(alpha=0.25)
            axes.spines[["top", "right"]].set_visible(False)
        kinds = [
            Line2D([], [], color=PEER[0], marker=PEER[1], linestyle="", markerfacecolor=face, label=label)
            for face, label in ((PEER[0], "stages of the encoder"), ("white", "its last layer"))
        ]
        panels[0].legend(handles=kinds, loc="lower right", frameon=False, fontsize=9)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def _marks(plan: Plan, place: int) -> list[Mark]:
    """Return what is known in one column, the lowest accuracy first."""
    marks = []
    for row in plan.rows:
        entry = row.entries[place]
        if row.declared.name in ROWS and entry.records and entry.ours is not None:
            title = row.declared.title.strip("*")
            marks.append(
                Mark(
                    _short(title.removeprefix(STAGES), row.declared.learner),
                    row.declared.learner,
                    title.startswith(STAGES),
                    entry.ours,
                    entry.records[0].state_bytes / 1e6,
                )
            )
    return sorted(marks, key=lambda mark: mark.accuracy.mean)


def _panel(axes: Axes, marks: list[Mark]) -> None:
    """Draw a mark for every method, with names at heights that keep them apart."""
    if not marks:
        return
    least, most = marks[0].accuracy.mean, marks[-1].accuracy.mean
    axes.set_ylim(least - 0.06 * (most - least), most + 0.06 * (most - least))
    places = [_place(axes, mark) for mark in marks]
    taken = [Label(x - 0.01, x + 0.01, y) for x, y in places]
    for mark, (x, y) in sorted(zip(marks, places, strict=True), key=lambda each: _order(each[0])):
        colour, marker, points = MARKS.get(mark.learner, PEER)
        axes.errorbar(
            [mark.megabytes],
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
    x, y = axes.transAxes.inverted().transform(axes.transData.transform((mark.megabytes, mark.accuracy.mean)))
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
