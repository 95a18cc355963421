"""The chart at the top of the results: accuracy over the size of the saved model, method by method."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from i2cansay.experiments.report.mark_panel import Mark, draw_panel, kinds_of_features, mark_of
from i2cansay.experiments.run.plan import Plan

COLUMNS = ("CIFAR-100", "CIFAR-10 10%")
# One row per method and kind of features, two where the width is another; the table below the chart has all rows.
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
    "stages_analogies",
    "stages_paper",
    "stages_ranpac_5k",
    "stages_ranpac_10k",
    "stages_foal",
    "stages_joint",
)


def draw_methods(plan: Plan, path: Path) -> None:
    """Draw the rows of a filled table, with a panel for each of two columns."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "methods"}):
        figure = Figure(figsize=(11, 5.6), layout="constrained", facecolor="white")
        panels = figure.subplots(1, len(COLUMNS))
        for axes, name in zip(panels, COLUMNS, strict=True):
            draw_panel(axes, _marks(plan, name), room=12)
            axes.set_xlabel("MB of the saved model, logarithmic")
            axes.set_ylabel("last accuracy on the test part, %")
            axes.set_title(f"{name}, {plan.table.short}", loc="left", fontsize=11)
        panels[0].legend(handles=kinds_of_features(), loc="lower right", frameon=False, fontsize=9)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def _marks(plan: Plan, column: str) -> Iterator[Mark]:
    """Yield what is known in one column."""
    place = [each.name for each in plan.columns].index(column)
    for row in plan.rows:
        entry = row.entries[place]
        if row.declared.name in ROWS and entry.records and entry.ours is not None:
            yield mark_of(row, entry.ours, entry.records[0].state_bytes / 1e6)
