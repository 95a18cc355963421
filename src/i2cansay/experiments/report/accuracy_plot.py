"""A plot of accuracy over the stream."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from i2cansay.evaluate import Outcome, accuracy_curve, last_accuracy

# Distinct without colour too, and for readers who cannot tell red from green.
STYLES = {
    "best": {"color": "#8b1a6b", "linewidth": 2.6, "marker": "^"},
    "i2cansay": {"color": "#0b5394", "linewidth": 2.2, "marker": "o"},
    "i2cansay_shared": {"color": "#8b1a6b", "linewidth": 2.2, "marker": "^"},
    "naive": {"color": "#b45309", "linewidth": 1.6, "marker": "v"},
    "ncm": {"color": "#5b7f95", "linewidth": 1.6, "marker": "s"},
    "slda": {"color": "#2e7d5b", "linewidth": 1.6, "marker": "D"},
}


def check_drawable(path: Path) -> None:
    """Raise if a plot cannot be drawn to `path`, before the work that would be lost."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise ImportError('drawing needs matplotlib: pip install "i2cansay[plot]"') from error
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} to")


def draw_curves(title: str, outcomes: Mapping[str, Sequence[Outcome]], path: Path) -> None:
    """Draw the accuracy on the classes seen so far over the samples seen: mean and deviation over seeds.

    A learner that is measured only at the end (the offline reference) is a dashed line.
    """
    check_drawable(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.5, 4.8), layout="constrained")
    axes = figure.subplots()
    for name, runs in outcomes.items():
        if all(run.every_session for run in runs):
            samples = np.mean([[c.samples for c in run.checkpoints] for run in runs], axis=0)
            curves = 100 * np.array([accuracy_curve(run) for run in runs])
            mean, spread = curves.mean(axis=0), curves.std(axis=0)
            style = STYLES.get(name, {"linewidth": 1.6, "marker": "."})
            (line,) = axes.plot(samples, mean, label=f"{name}  {mean[-1]:.1f}", markersize=5, **style)  # type: ignore[arg-type]
            axes.fill_between(
                samples, mean - spread, mean + spread, color=line.get_color(), alpha=0.15, linewidth=0
            )
        else:
            last = 100 * float(np.mean([last_accuracy(run) for run in runs]))
            axes.axhline(
                last, color="#444444", linestyle="--", linewidth=1.2, label=f"{name} (offline)  {last:.1f}"
            )
    axes.set(xlabel="samples seen, each once", ylabel="accuracy on the classes so far, %", ylim=(0, 102))
    axes.set_title(title, fontsize=10, loc="left")
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(title="last accuracy, %", loc="lower left", frameon=False, fontsize=9, title_fontsize=9)
    figure.savefig(path, dpi=130)
