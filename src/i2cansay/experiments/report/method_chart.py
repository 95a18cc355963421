"""The chart at the top of the results: accuracy over the size of the saved model, method by method."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from i2cansay.experiments.report.mark_panel import (
    Mark,
    draw_panel,
    kinds_of_features,
    kinds_of_methods,
    mark_of,
)
from i2cansay.experiments.run.plan import Plan

COLUMN = "CIFAR-100"
# Ticks, in MB.
SIZES = (3, 10, 30, 100, 300, 1000)
# One row per method and kind of features, two where the width is another; the table below the chart has all rows.
# A mark without its settings is the row that the table names so; RanPAC of one width has one rule for its penalty.
ROWS = (
    "paper",
    "shared",
    "wide",
    "slda_oas",
    "ridge",
    "ranpac_5k_gcv",
    "ranpac_10k_held_out",
    "rff_lda",
    "fecam",
    "joint",
    "stages_best",
    "stages_small",
    "stages_slda_oas",
    "stages_ridge",
    "stages_analogies",
    "stages_paper",
    "stages_ranpac_5k",
    "stages_ranpac_10k",
    "stages_foal",
    "stages_joint",
)


def draw_methods(plan: Plan, path: Path) -> None:
    """Draw the rows of a filled table in one of its columns."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "methods"}):
        figure = Figure(figsize=(9.2, 6.4), facecolor="white")
        # Placed by hand: a layout that is chosen when the figure is saved would move names towards marks.
        axes = figure.add_axes((0.07, 0.085, 0.92, 0.86))
        draw_panel(axes, marks_of(plan), room=1.5, font_size=10)
        axes.set_xticks(SIZES, [str(size) for size in SIZES], minor=False)
        axes.set_xticks([], minor=True)
        axes.set_xlabel("MB of the saved model, logarithmic")
        axes.set_ylabel("last accuracy on the test part, %")
        axes.set_title(f"{COLUMN}, {plan.table.short}", loc="left", fontsize=11)
        kinds = [*kinds_of_methods(), *kinds_of_features()]
        axes.legend(handles=kinds, loc="lower right", frameon=False, fontsize=10)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def marks_of(plan: Plan) -> Iterator[Mark]:
    """Yield a mark for every row that was played."""
    place = [each.name for each in plan.columns].index(COLUMN)
    for row in plan.rows:
        entry = row.entries[place]
        if row.declared.name in ROWS and entry.records and entry.ours is not None:
            yield mark_of(row, entry.ours, entry.records[0].state_bytes / 1e6)
