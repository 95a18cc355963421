"""The plots of docs/performance.md: ratios as bars, and the time of a step as classes, dimensions and so on grow."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from performance_learners import peers_of
from performance_ways import AIM_OF_SERVICE
from performance_words import Row, ratio

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {"paper": "#8b1a6b", "shared": "#5b7f95", "closed form": "#b8860b"}
PANELS = (
    ("classes", "c", "classes (D 1280, batch 50)"),
    ("width", "d", "dimensions (C 100, batch 50)"),
    ("batch", "batch", "samples in a batch (D 1280, C 100)"),
)
BARS = (1280, 100)


def draw(figures: dict[str, Sequence[Row]], path: Path) -> None:
    """Draw four panels, both axes logarithmic: milliseconds of a step, dashed those of its products."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    figure = Figure(figsize=(10, 7.6), layout="constrained", facecolor="white")
    panels = figure.subplots(2, 2).ravel()
    for axes, (name, key, label) in zip(panels, PANELS, strict=False):
        rows = figures[name]
        for kind, colour in COLOURS.items():
            x = [row[key] for row in rows]
            axes.plot(x, [1e3 * row["seconds"][kind] for row in rows], color=colour, marker="o")
            floor = [1e3 * row["seconds"][f"{kind} floor"] for row in rows]
            axes.plot(x, floor, color=colour, linestyle="--", linewidth=1)
        axes.set(xscale="log", xlabel=label)
        axes.set_xticks(x, [f"{value:,}" for value in x])
        axes.set_xticks([], minor=True)
    _samples(panels[-1], figures["samples"])
    for axes in panels:
        axes.set(yscale="log", ylabel="ms")
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    handles = [Line2D([], [], color=colour, marker="o", label=kind) for kind, colour in COLOURS.items()]
    handles.append(
        Line2D([], [], color="#555555", linestyle="--", linewidth=1, label="the floor: products alone")
    )
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles), frameon=False)
    _save(figure, path)


def _samples(axes: "Axes", rows: Sequence[Row]) -> None:
    """Draw the time of an update as streams go on, each line named at its end."""
    streams: dict[tuple[str, int, int], list[Row]] = {}
    for row in rows:
        streams.setdefault((row["estimator"], row["d"], row["batch"]), []).append(row)
    for (kind, d, batch), found in streams.items():
        x, y = [row["updates"] for row in found], [1e3 * row["seconds"] for row in found]
        axes.plot(x, y, color=COLOURS[kind], marker="o", linestyle="-" if batch > 1 else ":")
        axes.annotate(
            f"D {d}, batch {batch}",
            (x[-1], y[-1]),
            xytext=(0, -14 if kind == "paper" else 7),
            textcoords="offset points",
            ha="right" if batch == 1 else "left",
            fontsize=8,
            color=COLOURS[kind],
        )
    axes.set(xscale="log", xlabel="updates so far")
    axes.margins(x=0.08, y=0.15)


def draw_ratios(parts: dict[str, Any], path: Path) -> bool:
    """Draw bars: contenders beside the paper's estimator, steps beside their floors, the service beside one process.

    Returns whether the record has figures for them.
    """
    from matplotlib.figure import Figure

    if not all("figures" in parts.get(name, {}) for name in ("learner", "service")):
        return False
    rows = [
        row
        for row in parts["learner"]["figures"]["learning"]
        if (row["d"], row["c"]) == BARS and row["batch"] > 1
    ]
    cases = parts["service"]["figures"]["cases"]
    if not rows or not cases:
        return False
    seconds = rows[0]["seconds"]
    figure = Figure(figsize=(10, 7), layout="constrained", facecolor="white")
    grid = figure.subplot_mosaic([["peers", "service"], ["floors", "service"]])
    peers = {name: ratio(seconds, name, "paper") for name in peers_of(rows) if name in seconds}
    shape = f"D {BARS[0]}, C {BARS[1]}, batch {rows[0]['batch']}"
    _bars(grid["peers"], peers, "#5b7f95", title=f"A step of others / of I2CANSAY ({shape})", base=1.0)
    low, high = min(1.0, *peers.values()), max(1.0, *peers.values())
    grid["peers"].set(xscale="log", xlim=(0.3 * low, 3 * high))
    _line(grid["peers"], 1.0, "as fast as I2CANSAY")
    floors = {kind: ratio(seconds, kind, f"{kind} floor") for kind in COLOURS}
    _bars(grid["floors"], floors, list(COLOURS.values()), title=f"A step / its floor ({shape})")
    grid["floors"].set(xlim=(0, 1.3 * max(floors.values())))
    _line(grid["floors"], 1.0, "the floor: products alone")
    shares = {case["case"]: case["ratio"] for case in cases}
    _bars(grid["service"], shares, "#8b1a6b", title="Requests of the service / in one process")
    grid["service"].set(xlim=(0, 1.15 * max(*shares.values(), 1.0)))
    _line(grid["service"], AIM_OF_SERVICE, "aim, packed")
    _save(figure, path)
    return True


def _bars(
    axes: "Axes", values: dict[str, float], colour: str | list[str], *, title: str, base: float = 0.0
) -> None:
    """Draw a bar from `base` to each value, the first on top, with its number behind it."""
    lengths = [value - base for value in values.values()]
    drawn = axes.barh(list(values), lengths, left=base, color=colour, height=0.6)
    axes.bar_label(drawn, [f" {value:.1f}" if value >= 2 else f" {value:.2f}" for value in values.values()])
    axes.invert_yaxis()
    axes.set_title(title, fontsize=10, loc="left", pad=16)
    axes.spines[["top", "right"]].set_visible(False)


def _line(axes: "Axes", value: float, what: str) -> None:
    """Draw a dashed line at a value, and say above the panel what it is."""
    axes.axvline(value, color="#555555", linestyle="--", linewidth=1)
    axes.annotate(
        what,
        (value, 1),
        xycoords=("data", "axes fraction"),
        xytext=(0, 2),
        textcoords="offset points",
        ha="center",
        fontsize=8,
        color="#555555",
    )


def _save(figure: "Figure", path: Path) -> None:
    from matplotlib import rc_context

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "performance"}):
        figure.savefig(path, metadata={"Date": None, "Creator": None} if path.suffix == ".svg" else None)
