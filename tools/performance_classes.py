"""The section of docs/performance.md on thousands of classes."""

from collections.abc import Callable, Sequence

from performance_words import Lines, Row, join_words, table

from i2cansay.core.statistics.discriminant import MOST_JUDGED
from i2cansay.learners.shared.held_ridge import SMALL_LESSON


def many_classes(figures: Sequence[Row]) -> Lines:
    """Return what thousands of classes take, and what a hundred thousand would."""
    least = {row["estimator"]: row for row in sorted(figures, key=lambda row: -row["c"])}
    head = ["estimator", "C", "classes, times", "batch, times", "next top, times", "peak, times"]
    head += ["all classes arrive, s", "batch of 50, ms", "first top of 1,000 rows, s"]
    head += ["next, s", "one sample, then top of one row, s", "verdicts, s", "peak, MB", "state at most, MB"]
    body = [
        [
            row["estimator"],
            f"{row['c']:,}",
            *_times(row, least[row["estimator"]]),
            f"{row['classes arrive']:.1f}",
            f"{1e3 * row['batch']:.1f}",
            *(f"{row[key]:.2f}" for key in ("first top", "top")),
            f"{row['lesson and top']:.3f}" if "lesson and top" in row else "",
            f"{row['verdicts']:.2f}",
            f"{row['peak MB']:,.0f}",
            f"{row['state bytes'] / 1e6:,.0f}",
        ]
        for row in figures
    ]
    return [
        *table(head, body),
        "",
        "Times are to the fewest classes. `python benchmarks/class_scale.py`, width 1280, processor time of one "
        "thread, memory without that of the process before and of the centres of the samples. Scores are made for so "
        "many rows at a time that they take 32 MB, and no array of all pairs of classes is made: of more than "
        f"{MOST_JUDGED:,} classes the farthest {MOST_JUDGED:,} decide how far means are shrunk, and novelty needs a "
        "matrix of as many rows as there are dimensions.",
        "",
        *_put_off(figures),
        *_computed(figures, 100_000),
    ]


def _times(row: Row, least: Row) -> list[str]:
    """Return how many times as many classes there are, and as much time and memory they take."""
    return [f"{row[key] / least[key]:.1f}" for key in ("c", "batch", "top", "peak MB")]


def _put_off(figures: Sequence[Row]) -> Lines:
    """Return what the closed form leaves to the first question after its lessons."""
    told = [
        f"{row['first top'] - row['top']:.1f} s with {row['c']:,} classes"
        for row in figures
        if row["estimator"] == "closed form"
    ]
    if not told:
        return []
    return [
        "The closed form puts its work off: a lesson changes statistics, and the first question after it solves, "
        f"which takes {join_words(told)}. A stream that asks rarely learns fast by it. After lessons of up to "
        f"{SMALL_LESSON} samples the solution is followed instead of made anew, but only up to {MOST_JUDGED:,} "
        "classes; with more, every question that follows a lesson solves anew.",
        "",
    ]


def _computed(figures: Sequence[Row], c: int) -> Lines:
    """Return what `c` classes would take, by the line through the smallest and the largest number measured."""
    least, most = (of(row["c"] for row in figures) for of in (min, max))
    if most < 5000 or least == most:
        return ["With so few rows measured, nothing is computed for a hundred thousand."]

    def at(name: str, value: Callable[[Row], float]) -> float:
        low, high = (
            next(value(row) for row in figures if (row["estimator"], row["c"]) == (name, n))
            for n in (least, most)
        )
        return float(high + (high - low) * (c - most) / (most - least))

    told = []
    for name in dict.fromkeys(row["estimator"] for row in figures):
        memory = at(name, lambda row: row["peak MB"]) / 1e3
        told.append(
            f"`{name}` {1e3 * at(name, lambda row: row['batch']):,.0f} ms for a batch of 50, "
            f"{at(name, lambda row: row['first top']):.0f} s for the first 1,000 questions after it, "
            f"{at(name, lambda row: row['top']):.0f} s for the next, and {memory:.1f} GB at the peak"
        )
    return [
        f"{c:,} classes, computed by the line through the rows of {least:,} and {most:,}, not measured: "
        f"{'; '.join(told)}. One machine with that memory can hold them; more classes have to be shared out over "
        "machines.",
    ]
