"""The sections of docs/performance.md on growth: classes, dimensions, batches, samples, bytes."""

from collections.abc import Callable, Sequence
from typing import Any

from performance_words import Lines, Row, join_words, table

from i2cansay.core.statistics.discriminant import MOST_JUDGED
from i2cansay.learners.shared.held_ridge import SMALL_LESSON


def growth(figures: Row) -> Lines:
    """Return the plot of growth, and what it says."""
    kinds = ("paper", "shared", "closed form")
    head = [
        "what grows",
        "times",
        *(name for kind in kinds for name in (f"{kind}, times", "its floor, times")),
    ]
    head += [f"{kind}, ms" for kind in kinds]
    grown = (
        ("classes", "c", "classes"),
        ("width", "d", "dimensions"),
        ("batch", "batch", "samples in a batch"),
    )
    body = [_grown(figures[name], key, what, kinds) for name, key, what in grown]
    return [
        "![Time of a step by classes, dimensions, batch and samples seen](images/performance.svg)",
        "",
        *table(head, body),
        "",
        "Milliseconds are those of the smallest and the largest. Dashed lines in the plot are the floors, the "
        "products that cannot be avoided. A covariance of all dimensions makes the shared mode grow with their "
        "square, the paper's with their number.",
    ]


def _grown(rows: Sequence[Row], key: str, what: str, kinds: Sequence[str]) -> list[object]:
    first, last = rows[0], rows[-1]
    times = [
        f"{last['seconds'][name] / first['seconds'][name]:.1f}"
        for kind in kinds
        for name in (kind, f"{kind} floor")
    ]
    ends = [" to ".join(f"{1e3 * row['seconds'][kind]:.2f}" for row in (first, last)) for kind in kinds]
    return [f"{what}, {first[key]:,} to {last[key]:,}", f"{last[key] / first[key]:.0f}", *times, *ends]


def samples_seen(figures: Row) -> Lines:
    """Return time and memory along streams."""
    streams: dict[tuple[Any, ...], list[Row]] = {}
    for row in figures["samples"]:
        streams.setdefault(tuple(row[key] for key in ("estimator", "d", "batch")), []).append(row)
    head = ["estimator", "D", "C", "batch", "updates", "time, of the row before", "state, of the row before"]
    head += ["ms per update", "state, bytes", "process, MB"]
    body = []
    for rows in streams.values():
        for before, row in zip([None, *rows[:-1]], rows, strict=True):
            ratios = (
                ["", ""]
                if before is None
                else [f"{row[key] / before[key]:.2f}" for key in ("seconds", "state bytes")]
            )
            body.append(
                [
                    *(row[key] for key in ("estimator", "d", "c", "batch")),
                    f"{row['updates']:,}",
                    *ratios,
                    f"{1e3 * row['seconds']:.3f}",
                    f"{row['state bytes']:,}",
                    f"{row['process MB']:.1f}",
                ]
            )
    told = []
    for (name, d, _), found in streams.items():
        before, last = found[-2] if len(found) > 1 else found[-1], found[-1]
        told.append(
            f"`{name}` at D {d} takes {last['seconds'] / before['seconds']:.2f} times as long up to "
            f"{last['updates']:,} updates as up to {before['updates']:,}, with a state "
            f"{'of the same size' if last['state bytes'] == before['state bytes'] else 'of another size'}"
        )
    if all("since" in row for row in figures["samples"]):
        which = "of all updates since the row before"
    else:
        which = "of the last tenth of the updates before it"
    return [
        *table(head, body),
        "",
        f"Whole streams, each figure the mean {which}, with everything a learner does beside a step. "
        f"{'; '.join(told)}. Samples are scored, and in the shared mode inverses made, more rarely as a stream goes "
        "on.",
    ]


def steps_leave_out(figures: Row) -> str:
    """Return what the times of single steps leave out, and what streams take beside them where that is known."""
    told = (
        "Steps are timed without scoring samples for calibration, and in the shared mode without refreshing the "
        "inverse of the covariance, both of which a stream pays for."
    )
    steps = {row["c"]: row["seconds"] for row in figures.get("classes", [])}
    last = {
        row["estimator"]: row for row in figures.get("samples", []) if row["d"] == 1280 and row["c"] in steps
    }
    ratios = [f"{row['seconds'] / steps[row['c']][name]:.2f}" for name, row in last.items()]
    if not ratios:
        return told
    named = [f"`{name}` {'takes ' if not n else ''}{ratios[n]}" for n, name in enumerate(last)]
    ends = join_words(dict.fromkeys(f"{row['updates']:,}" for row in last.values()))
    if all("since" in row for row in last.values()):
        starts = join_words(dict.fromkeys(f"{row['since'] + 1:,}" for row in last.values()))
        where = f"With both, from batch {starts} to {ends} of a stream"
    else:
        where = (
            f"With the scoring, in the last tenth of a stream of {ends} batches, into which no inverse falls"
        )
    return (
        f"{told} {where}, {join_words(named)} times what a single step takes there (D 1280, "
        "[below](#growth-with-samples-seen))."
    )


def sizes(figures: Row) -> Lines:
    """Return the bytes of state."""
    rows = figures["sizes"]
    head = ["estimator", "D", "C", "in memory, of float32 weights", "saved, of float32 weights"]
    head += ["in memory, at most, MB", "saved, MB", "bytes of a class and dimension"]
    body = [
        [
            row["estimator"],
            row["d"],
            f"{row['c']:,}",
            *(
                f"{row[key] / (4 * row['c'] * row['d']):.1f}" if key in row else ""
                for key in ("state bytes", "file bytes")
            ),
            f"{row['state bytes'] / 1e6:,.1f}",
            f"{row['file bytes'] / 1e6:,.1f}" if "file bytes" in row else "",
            f"{row['state bytes'] / row['c'] / row['d']:.1f}",
        ]
        for row in rows
    ]
    most = {row["estimator"]: row for row in rows}
    told = [f"`{name}` {row['state bytes'] / row['c'] / row['d']:.0f} bytes" for name, row in most.items()]
    return [
        *table(head, body),
        "",
        "Ratios are to the weights of a linear classifier in single precision, 4 C D bytes. "
        f"With {rows[-1]['c']:,} classes a class takes, for each of its dimensions: {join_words(told)}, "
        "spare room for new classes included.",
    ]


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
            f"{row['peak MB'] - row['data MB']:,.0f}",
            f"{row['state bytes'] / 1e6:,.0f}",
        ]
        for row in figures
    ]
    return [
        *table(head, body),
        "",
        "Times are to the fewest classes. `python benchmarks/class_scale.py`, width 1280, processor time of one "
        "thread, memory without that of the process before and of the samples drawn. Scores are made for so many "
        "rows at a time that they take 32 MB, and no array of all pairs of classes is made: of more than "
        f"{MOST_JUDGED:,} classes the farthest {MOST_JUDGED:,} decide how far means are shrunk, and novelty needs a "
        "matrix of as many rows as there are dimensions.",
        "",
        *_put_off(figures),
        *_computed(figures, 100_000),
    ]


def _times(row: Row, least: Row) -> list[str]:
    """Return how many times as many classes there are, and as much time and memory they take."""

    def peak(of: Row) -> float:
        return float(of["peak MB"] - of["data MB"])

    values = (row["c"] / least["c"], row["batch"] / least["batch"], row["top"] / least["top"])
    return [f"{value:.1f}" for value in (*values, peak(row) / peak(least))]


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
        memory = at(name, lambda row: row["peak MB"] - row["data MB"]) / 1e3
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
