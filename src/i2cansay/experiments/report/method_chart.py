"""The chart at the top of the results: accuracy over the size of the saved state, method by method."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from i2cansay.experiments.run.plan import Plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = ("CIFAR-100", "CUB-200")
# One row per method; the table below the chart has all rows.
ROWS = (
    "paper",
    "shared",
    "wide",
    "slda_oas",
    "ridge",
    "ranpac_5k",
    "ranpac_10k",
    "rff_lda",
    "fecam",
    "joint",
    "stages_best",
    "stages_small",
    "stages_slda_oas",
    "stages_joint",
)
# Distinct without colour too.
MARKS = {
    "i2cansay_shared": ("#8b1a6b", "^", 9),
    "i2cansay": ("#0b5394", "o", 8),
    "joint": ("#777777", "D", 6),
}
PEER = ("#5b7f95", "s", 6)
# Its names are on the left of its marks, away from those of its peers.
OWN = "i2cansay_shared"


def draw_methods(plan: Plan, path: Path) -> None:
    """Draw the rows of a filled table, with a panel for each of two columns."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "methods"}):
        figure = Figure(figsize=(11, 5.2), layout="constrained", facecolor="white")
        panels = figure.subplots(1, len(COLUMNS))
        names = [column.name for column in plan.columns]
        for axes, name in zip(panels, COLUMNS, strict=True):
            _panel(axes, plan, names.index(name))
            axes.set(xscale="log", xlim=(1.5, 16000), xlabel="MB of saved state, logarithmic")
            axes.set_ylabel("last accuracy, %")
            axes.set_title(f"{name}, {plan.table.short}", loc="left", fontsize=11)
            axes.grid(alpha=0.25)
            axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def _panel(axes: Axes, plan: Plan, place: int) -> None:
    """Draw a mark for every method, with the names at heights that keep them apart."""
    found = [
        (row, row.entries[place].ours, row.entries[place].records[0].state_bytes / 1e6)
        for row in plan.rows
        if row.declared.name in ROWS and row.entries[place].records
    ]
    marks = sorted(
        ((row, ours, size) for row, ours, size in found if ours is not None), key=lambda mark: mark[1].mean
    )
    gap = 0.045 * (marks[-1][1].mean - marks[0][1].mean) if marks else 0.0
    height: dict[tuple[bool, bool], float] = {}
    for row, ours, size in marks:
        colour, marker, points = MARKS.get(row.declared.learner, PEER)
        axes.errorbar([size], [ours.mean], yerr=[ours.std], color=colour, marker=marker, markersize=points)
        on_left = row.declared.learner == OWN
        column = on_left, size > 20
        height[column] = max(ours.mean, height.get(column, float("-inf")) + gap)
        axes.annotate(
            row.title.strip("*"),
            (size, height[column]),
            xytext=(-8 if on_left else 8, -3),
            textcoords="offset points",
            ha="right" if on_left else "left",
            fontsize=8.5,
            color=colour,
        )
