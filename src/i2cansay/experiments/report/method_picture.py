"""Accuracy against the size of what is kept, method by method: the drawing that opens the results."""

from __future__ import annotations

from pathlib import Path

from i2cansay.experiments.declare.plan import Plan, TableRow

COLUMNS = ("CIFAR-100", "CUB-200")
# Told apart also without colour.
MARKS = {
    "i2cansay_shared": ("#8b1a6b", "^", 9),
    "i2cansay": ("#0b5394", "o", 8),
    "joint": ("#777777", "D", 6),
}
PEER = ("#5b7f95", "s", 6)


def draw_methods(plan: Plan, path: Path) -> None:
    """Draw the rows of a filled table, one panel for each of two columns; the size is that of the saved state."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "methods"}):
        figure = Figure(figsize=(11, 5.2), layout="constrained", facecolor="white")
        panels = figure.subplots(1, len(COLUMNS))
        names = [column.name for column in plan.columns]
        for axes, name in zip(panels, COLUMNS, strict=True):
            place = names.index(name)
            for row in plan.rows:
                _mark(axes, row, place)
            axes.set(xscale="log", xlim=(1.5, 2500), xlabel="MB of saved state, logarithmic")
            axes.set_ylabel("last accuracy, %")
            axes.set_title(f"{name}, {plan.table.short}", loc="left", fontsize=11)
            axes.grid(alpha=0.25)
            axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def _mark(axes: object, row: TableRow, place: int) -> None:
    from matplotlib.axes import Axes

    assert isinstance(axes, Axes)
    entry = row.entries[place]
    if entry.ours is None:
        return
    colour, marker, size = MARKS.get(row.declared.learner, PEER)
    megabytes = entry.records[0].state_bytes / 1e6
    axes.errorbar(
        [megabytes], [entry.ours.mean], yerr=[entry.ours.std], color=colour, marker=marker, markersize=size
    )
    axes.annotate(
        row.declared.title.strip("*"),
        (megabytes, entry.ours.mean),
        xytext=(7, -3),
        textcoords="offset points",
        fontsize=8,
        color=colour,
    )
