"""The plot of docs/performance.md: the time of a step as classes, dimensions, batches and samples grow."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

COLOURS = {"paper": "#8b1a6b", "shared": "#5b7f95", "closed form": "#b8860b"}
PANELS = (
    ("classes", "c", "classes (D 1280, batch 50)"),
    ("width", "d", "dimensions (C 100, batch 50)"),
    ("batch", "batch", "samples in a batch (D 1280, C 100)"),
)
Row = dict[str, Any]


def draw(figures: dict[str, Sequence[Row]], path: Path) -> None:
    """Draw four panels, both axes logarithmic: milliseconds of a step, dashed those of its products."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "performance"}):
        figure = Figure(figsize=(10, 7), layout="constrained", facecolor="white")
        panels = figure.subplots(2, 2).ravel()
        for axes, (name, key, label) in zip(panels, PANELS, strict=False):
            rows = figures[name]
            for kind, colour in COLOURS.items():
                x = [row[key] for row in rows]
                axes.plot(
                    x, [1e3 * row["seconds"][kind] for row in rows], color=colour, marker="o", label=kind
                )
                floor = [1e3 * row["seconds"][f"{kind} floor"] for row in rows]
                axes.plot(x, floor, color=colour, linestyle="--", linewidth=1)
            axes.set(xlabel=label)
        panels[0].legend(loc="upper left", frameon=False, fontsize=9)
        seen = panels[-1]
        streams: dict[tuple[str, int, int], list[Row]] = {}
        for row in figures["samples"]:
            streams.setdefault((row["estimator"], row["d"], row["batch"]), []).append(row)
        for (kind, d, batch), rows in streams.items():
            seen.plot(
                [row["updates"] for row in rows],
                [1e3 * row["seconds"] for row in rows],
                color=COLOURS[kind],
                marker="o",
                linestyle="-" if batch > 1 else ":",
                label=f"{kind}, D {d}, batch {batch}",
            )
        seen.set(xlabel="updates so far")
        seen.legend(loc="best", frameon=False, fontsize=8)
        for axes in panels:
            axes.set(xscale="log", yscale="log", ylabel="ms")
            axes.grid(alpha=0.25)
            axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
