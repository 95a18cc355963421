"""The section of docs/performance.md on thousands of classes."""

from collections.abc import Sequence
from math import log
from typing import NamedTuple

from performance_words import Lines, Row, join_words, table

from i2cansay.core.statistics.discriminant import MOST_JUDGED
from i2cansay.learners.shared.held_ridge import SMALL_LESSON


def many_classes(figures: Sequence[Row]) -> Lines:
    """Return what thousands of classes take, and what a hundred thousand do."""
    least = {row["estimator"]: row for row in sorted(figures, key=lambda row: -row["c"])}
    head = [
        "estimator",
        "C",
        "classes, times",
        "arrival, times",
        "batch, times",
        "next top, times",
        "peak, times",
    ]
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
        "thread, memory without that of the process before and of the centres of the samples. Scores are made for "
        "so many rows at a time that they take 32 MB, and no array of all pairs of classes is made: of more than "
        f"{MOST_JUDGED:,} classes the farthest {MOST_JUDGED:,} decide how far means are shrunk, and novelty needs a "
        "matrix of as many rows as there are dimensions.",
        "",
        *_put_off(figures),
        *_with_many(figures, 100_000),
    ]


def _times(row: Row, least: Row) -> list[str]:
    """Return how many times as many classes there are, and as much time and memory they take."""
    return [f"{row[key] / least[key]:.1f}" for key in ("c", "classes arrive", "batch", "top", "peak MB")]


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


class Taken(NamedTuple):
    """What an estimator takes with some number of classes: seconds and MB, measured or computed."""

    is_measured: bool
    # At least and at most.
    arrival: tuple[float, float]
    batch: float
    first: float
    following: float
    peak: float

    def words(self) -> str:
        """Return it in words."""
        low, high = (f"{seconds:,.0f}" for seconds in self.arrival)
        return (
            f"{low if low == high else f'{low} to {high}'} s until all classes have arrived, "
            f"{1e3 * self.batch:,.0f} ms for a batch of 50, "
            f"{self.first:.0f} s for the first 1,000 questions after it, "
            f"{self.following:.0f} s for the next, and {self.peak / 1e3:.1f} GB at the peak"
        )


def _with_many(figures: Sequence[Row], c: int) -> Lines:
    """Return what `c` classes take, for each estimator measured or computed, and which to choose."""
    known: dict[str, list[Row]] = {}
    for row in sorted(figures, key=lambda row: row["c"]):
        known.setdefault(row["estimator"], []).append(row)
    if any(rows[-1]["c"] < 5000 or (rows[-1]["c"] != c and len(rows) == 1) for rows in known.values()):
        return ["With so few rows measured, nothing is computed for a hundred thousand."]
    taken = {name: _taken(rows, c) for name, rows in known.items()}
    measured = [f"`{name}` {each.words()}" for name, each in taken.items() if each.is_measured]
    computed = [f"`{name}` {each.words()}" for name, each in taken.items() if not each.is_measured]
    told = []
    if measured:
        told.append(f"Measured with {c:,} classes: {'; '.join(measured)}.")
    if computed:
        told.append(f"Computed for {c:,} classes, not measured: {'; '.join(computed)}.")
        told.append(_how_computed({name: known[name] for name in taken if not taken[name].is_measured}))
    told.append(_choice(taken, c))
    told.append(
        "One machine with that memory can hold them; more classes have to be shared out over machines."
    )
    return [" ".join(told)]


def _taken(rows: Sequence[Row], c: int) -> Taken:
    """Return what `c` classes take, from the rows of one estimator in the order of their classes."""
    keys, last = ("batch", "first top", "top", "peak MB"), rows[-1]
    if last["c"] == c:
        return Taken(True, (last["classes arrive"], last["classes arrive"]), *(last[key] for key in keys))
    first = rows[0]
    times = (c - last["c"]) / (last["c"] - first["c"])
    values = (last[key] + (last[key] - first[key]) * times for key in keys)
    return Taken(False, arrival_bounds(first, last, c), *values)


def arrival_bounds(first: Row, last: Row, c: int) -> tuple[float, float]:
    """Return the seconds until `c` classes have arrived, at least and at most.

    A lesson takes longer by the number of classes known, so the time of all is a sum of a constant, a multiple of c
    and one of its square. Its exponent never falls as c grows, and never exceeds 2.
    """
    seconds, more = last["classes arrive"], c / last["c"]
    exponent = log(seconds / first["classes arrive"]) / log(last["c"] / first["c"])
    return seconds * more ** min(exponent, 2.0), seconds * more**2


def _how_computed(known: dict[str, list[Row]]) -> str:
    """Return how figures are computed from the rows of some estimators, and how the arrival of classes has grown."""
    ends = {name: (rows[0], rows[-1]) for name, rows in known.items()}
    first, last = next(iter(ends.values()))
    grown = [
        f"`{name}` {low['classes arrive']:.1f} to {high['classes arrive']:.1f} s"
        for name, (low, high) in ends.items()
    ]
    return (
        f"Computed figures lie on the line through the rows of {first['c']:,} and {last['c']:,} classes. Only the "
        "arrival of classes does not, as a lesson takes longer the more of them are known: "
        f"{join_words(grown)} from {first['c']:,} to {last['c']:,}. "
        "It goes on growing at least as between these rows, and at most with the square of the classes."
    )


def _choice(taken: dict[str, Taken], c: int) -> str:
    """Return which estimator to choose, by the time of lessons and by that of questions after them."""
    taught = min(taken, key=lambda name: taken[name].arrival[1])
    asked = min(taken, key=lambda name: taken[name].batch + taken[name].first)
    least = taken[taught].peak <= min(each.peak for each in taken.values())
    told = f"With {c:,} classes choose `{taught}`, which learns them soonest" + (
        " and in the least memory" if least else ""
    )
    if asked == taught:
        return f"{told}, and answers soonest after a lesson."
    return (
        f"{told}, unless questions follow every lesson: `{asked}` answers 1,000 after a batch of 50 in "
        f"{_seconds(taken[asked])} s, `{taught}` in {_seconds(taken[taught])}."
    )


def _seconds(taken: Taken) -> str:
    """Return the seconds of a batch of 50 and of the first 1,000 questions after it."""
    return f"{taken.batch + taken.first:.0f}"
