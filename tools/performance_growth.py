"""The sections of docs/performance.md on growth: classes, dimensions, batches, samples, bytes."""

from collections.abc import Sequence
from typing import Any

from performance_words import Lines, Row, join_words, table


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
