"""The chart of widths: accuracy over the size of the model, for every way to reduce the features."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from i2cansay.experiments.report.study_tables import StudyRuns
from i2cansay.experiments.run.seed_statistics import spread

TABLE = "accuracy for the size of the model"
COLUMNS = ("CIFAR-100 30%", "CIFAR-10 10%")
# Colour and marker; the last one is drawn once more with what its basis weighs.
KINDS = {
    "rotation": ("#8b1a6b", "^"),
    "channels": ("#5b7f95", "s"),
    "components": ("#b8860b", "o"),
}
NAMES = {
    "rotation": "random rotation, nothing stored",
    "channels": "channels chosen on other images",
    "components": "principal components of other images",
}
ALL, LAST = "all dimensions", "last layer"
DIMENSIONS, BYTES_OF_A_NUMBER = 4256, 2


class Point(NamedTuple):
    """A width: its model in MB, the accuracy in percent, and the MB of a basis that comes with the encoder."""

    megabytes: float
    accuracy: float
    basis: float


def points_of(runs: StudyRuns, kind: str, column: str) -> list[Point]:
    """Return what is known of a kind of reduction, the narrowest first; a model of a width weighs the same for all.

    Examples
    --------
    >>> size, found = (TABLE, "rotation 1000, cost", 0), (TABLE, "channels 1000, A, stages", 0)
    >>> points_of({size: {"MB": 5.0}, found: {"accuracy": 70.0}}, "channels", "A")
    [Point(megabytes=5.0, accuracy=70.0, basis=8.512)]
    """
    found = []
    for width in sorted(
        {int(run.split()[1].rstrip(",")) for _, run, _ in runs if run.startswith(f"{kind} ")}
    ):
        size, known = _size(runs, f"rotation {width}"), _accuracies(runs, f"{kind} {width}", column)
        if known and size:
            found.append(Point(size, spread(known).mean, DIMENSIONS * width * BYTES_OF_A_NUMBER / 1e6))
    return found


def draw_widths(runs: StudyRuns, path: Path) -> None:
    """Draw a panel for each data set."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "widths"}):
        figure = Figure(figsize=(11, 4.6), layout="constrained", facecolor="white")
        panels = figure.subplots(1, len(COLUMNS))
        for axes, column in zip(panels, COLUMNS, strict=True):
            for kind, (colour, marker) in KINDS.items():
                points = [*points_of(runs, kind, column), *_named(runs, ALL, column)]
                x, y, basis = zip(*points, strict=True) if points else ((), (), ())
                axes.plot(x, y, color=colour, marker=marker, label=NAMES[kind])
                if kind == "components":
                    heavier = [size + more for size, more in zip(x, basis, strict=True)]
                    axes.plot(
                        heavier,
                        y,
                        color=colour,
                        marker=marker,
                        markerfacecolor="white",
                        linestyle=":",
                        label="the same with the basis",
                    )
            for name, offset, side in ((ALL, (-10, 4), "right"), (LAST, (0, -14), "center")):
                for point in _named(runs, name, column):
                    axes.plot([point.megabytes], [point.accuracy], color="#777777", marker="D", linestyle="")
                    axes.annotate(
                        name,
                        point[:2],
                        xytext=offset,
                        textcoords="offset points",
                        ha=side,
                        fontsize=8.5,
                        color="#777777",
                    )
            axes.set(xscale="log", xlabel="MB of the saved model, logarithmic")
            axes.set_xticks([3, 5, 10, 20, 50], ["3", "5", "10", "20", "50"], minor=False)
            axes.set_xticks([], minor=True)
            axes.set_ylabel("accuracy on held-out training samples, %")
            axes.set_title(column, loc="left", fontsize=11)
            axes.grid(alpha=0.25)
            axes.spines[["top", "right"]].set_visible(False)
        panels[0].legend(loc="lower right", frameon=False, fontsize=9)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def _named(runs: StudyRuns, name: str, column: str) -> Iterator[Point]:
    """Yield the features as they are, if they were measured."""
    size, known = _size(runs, name), _accuracies(runs, name, column)
    if known and size:
        yield Point(size, spread(known).mean, 0.0)


def _size(runs: StudyRuns, name: str) -> float | None:
    return runs.get((TABLE, f"{name}, cost", 0), {}).get("MB")


def _accuracies(runs: StudyRuns, name: str, column: str) -> list[float]:
    wanted = f"{name}, {column}, stages"
    return [values["accuracy"] for (table, run, _), values in runs.items() if (table, run) == (TABLE, wanted)]
