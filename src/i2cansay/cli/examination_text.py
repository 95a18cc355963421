"""What a test of a model found, for the terminal and as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from i2cansay.cli.text_table import aligned, several
from i2cansay.image_learner import Examination

# A wider matrix does not fit a terminal; then the most frequent confusions are listed instead.
WIDEST_MATRIX = 15
MOST_CONFUSIONS = 15


def as_text(found: Examination, names: Sequence[str], n_mistakes: int) -> str:
    """Return accuracy, classes, confusions, the worst mistakes and calibration as text."""
    sections = [
        f"accuracy {found.accuracy:.1%} of {several(len(found.labels), 'sample')}",
        _classes(found),
        _confusions(found),
        mistakes_text(found, names, n_mistakes),
        "\n".join(promises(found)),
    ]
    return "\n\n".join(section for section in sections if section)


def _classes(found: Examination) -> str:
    rows = [
        (result.label, result.samples, percent(result.recall), percent(result.precision))
        for result in found.by_class()
    ]
    return aligned([("class", "samples", "found", "right when named"), *rows], right=[1, 2, 3])


def _confusions(found: Examination) -> str:
    labels, counts = found.confusion
    if len(labels) <= WIDEST_MATRIX:
        rows = [
            [label, *map(_cell, row)] for label, row in zip(labels.tolist(), counts.tolist(), strict=True)
        ]
        return aligned([["label \\ taken for", *labels.tolist()], *rows], right=range(1, len(labels) + 1))
    pairs = found.confused()[:MOST_CONFUSIONS]
    return aligned([("label", "taken for", "times"), *pairs], right=[2]) if pairs else ""


def _cell(count: int) -> str:
    return str(count) if count else "."


def mistakes_text(found: Examination, names: Sequence[str], n: int) -> str:
    """Return the worst mistakes, by name."""
    rows = [
        (row["file"], row["label"], row["taken_for"], f"{row['probability']:.3f}", row["verdict"])
        for row in mistake_records(found, names, n)
    ]
    if not rows:
        return ""
    header = ("worst mistakes", "label", "taken for", "probability", "verdict")
    return aligned([header, *rows], right=[3])


def mistake_records(found: Examination, names: Sequence[str], n: int) -> list[dict[str, Any]]:
    """Return the `n` wrong answers that were given with the highest probability."""
    return [
        {
            "file": names[found.indices[row]],
            "label": found.labels[row].item(),
            "taken_for": found.predicted[row].item(),
            "probability": round(float(found.probabilities[row].max()), 4),
            "verdict": str(found.verdicts[row]),
        }
        for row in found.mistakes()[:n].tolist()
    ]


def promises(found: Examination) -> list[str]:
    """Say what was promised and what was kept, a sentence each."""
    lines = [f"calibration error {percent(found.calibration_error)} (0 is best)"]
    if found.known.any():
        sure = found.share("sure")
        kept = (
            ""
            if not sure
            else f"; {percent(found.sure_error)} of them are wrong (promised: at most {found.error:.0%})"
        )
        lines += [
            f"sure of {percent(sure)} of the samples of known classes{kept}",
            f"the label is in the predicted set in {percent(found.coverage)} of cases (promised: at least "
            f"{1 - found.error:.0%}); a set has {found.set_size:.1f} classes on average",
            f"called new: {percent(found.share('new'))} of the samples of known classes (promised: at most "
            f"{found.new_error:.0%})",
        ]
    if not found.known.all():
        lines.append(
            f"called new: {percent(found.share('new', known=False))} of the {(~found.known).sum()} samples of "
            f"classes that were never taught; called sure: {percent(found.share('sure', known=False))}"
        )
    return lines


def as_record(found: Examination, names: Sequence[str], n_mistakes: int) -> dict[str, Any]:
    """Return the same as JSON has it; a share of nothing is null."""
    labels, counts = found.confusion
    return {
        "samples": len(found.labels),
        "accuracy": found.accuracy,
        "classes": [
            {
                "label": result.label,
                "samples": result.samples,
                "recall": _number(result.recall),
                "precision": _number(result.precision),
            }
            for result in found.by_class()
        ],
        "confusion": {"labels": labels.tolist(), "counts": counts.tolist()},
        "mistakes": mistake_records(found, names, n_mistakes),
        "calibration_error": _number(found.calibration_error),
        "error": found.error,
        "new_error": found.new_error,
        "sure": _number(found.share("sure")),
        "sure_error": _number(found.sure_error),
        "coverage": _number(found.coverage),
        "set_size": _number(found.set_size),
        "new": _number(found.share("new")),
        "new_of_never_taught": _number(found.share("new", known=False)),
        "unreadable": len(found.skipped),
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def percent(share: float) -> str:
    """Return a share as text, "-" for one of nothing.

    Examples
    --------
    >>> percent(0.987), percent(float("nan"))
    ('98.7%', '-')
    """
    return "-" if math.isnan(share) else f"{share:.1%}"
