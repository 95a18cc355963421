"""The chart of lessons: accuracy over what one more sample costs until it is on the disk, method by method."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from i2cansay.experiments.report.mark_panel import Mark, draw_panel, kinds_of_features, mark_of
from i2cansay.experiments.report.study_tables import StudyRuns
from i2cansay.experiments.run.plan import Plan

TABLE = "accuracy for the size of the model"
COLUMN = "CIFAR-100 30%"
# Rows of the table of methods, and the name of the run that measured their lesson.
RUNS: Mapping[str, str] = {
    "paper": "paper mode",
    "shared": "shared mode",
    "wide": "shared mode, wide",
    "slda_oas": "SLDA, OAS",
    "ridge": "ridge, GCV",
    "ranpac_5k_gcv": "RanPAC 5,000",
    "ranpac_10k": "RanPAC 10,000",
    "rff_lda": "random Fourier LDA",
    "foal": "F-OAL",
    "fecam_once": "FeCAM",
    "stages_best": "all dimensions",
    "stages_small": "rotation 1536",
    "stages_slda_oas": "stages: SLDA, OAS",
    "stages_ridge": "stages: ridge, GCV",
    "stages_paper": "stages: paper mode",
    "stages_ranpac_5k": "stages: RanPAC 5,000",
    "stages_ranpac_10k": "stages: RanPAC 10,000",
    "stages_foal": "stages: F-OAL",
    "stages_analogies": "stages: analogies",
}
COSTS = {
    "MB written": "MB of the state that a lesson changes, logarithmic",
    "ms": "ms of processor time until a lesson is on the disk, logarithmic",
}


def draw_lessons(plan: Plan, runs: StudyRuns, path: Path) -> None:
    """Draw the rows whose lesson was measured, with a panel for what it writes and one for its time."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "lessons"}):
        figure = Figure(figsize=(11, 5.2), layout="constrained", facecolor="white")
        panels = figure.subplots(1, len(COSTS))
        for axes, (value, meaning) in zip(panels, COSTS.items(), strict=True):
            draw_panel(axes, marks_of(plan, runs, value), room=12)
            axes.set_xlabel(meaning)
            axes.set_ylabel("last accuracy on the test part, %")
            axes.set_title(f"{COLUMN}, {plan.table.short}", loc="left", fontsize=11)
        panels[0].legend(handles=kinds_of_features(), loc="lower right", frameon=False, fontsize=9)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def marks_of(plan: Plan, runs: StudyRuns, value: str) -> Iterator[Mark]:
    """Yield a mark for every row of which both accuracy and lesson are known."""
    place = [each.name for each in plan.columns].index(COLUMN)
    for row in plan.rows:
        run = RUNS.get(row.declared.name)
        cost = runs.get((TABLE, f"{run}, cost", 0), {}).get(value)
        accuracy = row.entries[place].ours
        if cost is not None and accuracy is not None:
            yield mark_of(row, accuracy, cost)
