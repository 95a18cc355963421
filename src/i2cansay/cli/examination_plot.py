"""The confusion matrix as a picture."""

from __future__ import annotations

import warnings
from pathlib import Path

from i2cansay.experiments.report.accuracy_plot import check_drawable
from i2cansay.image_learner.examination import Confusion

# More names do not fit beside a matrix, nor numbers into its cells.
MOST_NAMES, MOST_NUMBERS = 60, 25


def check_plot(path: Path) -> None:
    """Raise where a picture cannot be drawn, before anything is encoded for it."""
    check_drawable(path)
    from matplotlib.figure import Figure

    if path.suffix.lstrip(".").lower() not in Figure().canvas.get_supported_filetypes():
        raise ValueError(f"expected a picture as .png, .svg or .pdf, got {path}")


def draw_confusion(confusion: Confusion, path: Path) -> None:
    """Write a picture: rows are labels, columns what they were taken for, dark is often."""
    from matplotlib.figure import Figure

    labels, counts = confusion
    n = len(labels)
    side = min(3 + 0.35 * n, 16)
    figure = Figure(figsize=(side + 0.6, side), layout="constrained")
    axes = figure.subplots()
    shares = counts / counts.sum(axis=1, keepdims=True).clip(min=1)
    image = axes.imshow(shares, vmin=0, vmax=1, cmap="Blues")
    figure.colorbar(image, ax=axes, label="share of the label's samples", shrink=0.8)
    axes.set(xlabel="taken for", ylabel="label")
    if n <= MOST_NAMES:
        names = [str(label) for label in labels]
        # A label is text, not a formula: matplotlib would set "$x$" as mathematics, and stop at "$^$".
        axes.set_xticks(range(n), names, rotation=90, parse_math=False)
        axes.set_yticks(range(n), names, parse_math=False)
    if n <= MOST_NUMBERS:
        for row, column in zip(*counts.nonzero(), strict=True):
            tint = "white" if shares[row, column] > 0.5 else "black"
            axes.text(column, row, str(counts[row, column]), ha="center", va="center", color=tint)
    with warnings.catch_warnings():
        # Scripts that the font does not have are drawn as boxes; the picture is still of use.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(path, dpi=150)
