"""The sections of docs/performance.md on the way from images to answers: encoder, lessons, service, command line."""

from collections.abc import Sequence
from typing import Any

from performance_words import Lines, Row, join_words, met, plain, span, table


def encoding(figures: Sequence[Row]) -> Lines:
    """Return the encoder against the bare run-time."""
    head = [
        "images",
        "of what the cores allow",
        "of bare ONNX Runtime",
        "images/s",
        "processor time, parts / pipeline",
    ]
    body = [
        [
            row["images"],
            f"{row['allowed'] / row['pipeline']:.2f}",
            f"{row['inference'] / row['pipeline']:.2f}",
            f"{1 / row['pipeline']:.0f}",
            f"{row['processor share']:.2f}",
        ]
        for row in figures
    ]
    shares = [row["allowed"] / row["pipeline"] for row in figures]
    return [
        *table(head, body),
        "",
        f"{figures[0]['encoder']}, {figures[0]['threads']} threads, from bytes of files to features. The cores "
        "allow what bare inference and preparing on all cores take together. The pipeline reaches "
        f"{span(shares, 2)} of that; the aim is 0.95, which is {met(min(shares) >= 0.95)}. A ratio above 1 is "
        "noise. Of what the pipeline takes of the processor, its parts alone make up the share in the last column.",
    ]


def answering(figures: Sequence[Row]) -> Lines:
    """Return a lesson and its answer against one product of a matrix with a vector."""
    head = ["D", "C", "lesson and answer, in products", "and novelty", "solved anew", "lesson and answer, ms"]
    body = [
        [
            row["d"],
            row["c"],
            *(f"{row[key] / row['product']:.1f}" for key in ("lesson", "novelty", "anew")),
            f"{1e3 * row['lesson']:.1f}",
        ]
        for row in figures
    ]
    shares = [row["anew"] / row["lesson"] for row in figures]
    return [
        *table(head, body),
        "",
        "The closed form of the shared mode learns one sample and answers one question. The unit is the product of "
        f"a dense matrix with a vector. Following a lesson is {span(shares)} times as fast as solving anew.",
    ]


def serving(figures: Any) -> Lines:
    """Return the service beside the same work in one process, as its script tells it."""
    rows = figures if isinstance(figures, list) else figures.get("rows", [figures])
    keys = list(
        dict.fromkeys(key for row in rows for key, value in row.items() if not isinstance(value, dict | list))
    )
    body = [[plain(row.get(key, "")) for key in keys] for row in rows]
    lines = [*table(keys, body), ""]
    shares = [(row, row["ratio"]) for row in rows if isinstance(row.get("ratio"), float)]
    if shares:
        row, best = max(shares, key=lambda pair: pair[1])
        name = " ".join(str(value) for value in row.values() if isinstance(value, str))
        lines.append(f"The highest share of the rate in process is {best:.2f} ({name}).")
    lines.append("[docs/service.md](service.md) says what the columns mean.")
    return lines


def starting(figures: Sequence[Row]) -> Lines:
    """Return how soon the command line answers."""
    head = ["`i2cansay`", "of the aim", "processor time, s", "aim, s"]
    body = [
        [f"`{row['call']}`", f"{row['seconds'] / row['aim']:.2f}", f"{row['seconds']:.2f}", row["aim"]]
        for row in figures
    ]
    late = [f"`{row['call']}`" for row in figures if row["seconds"] > row["aim"]]
    return [
        *table(head, body),
        "",
        "Processor time of the whole process. A path is checked before scipy, scikit-learn or ONNX Runtime is "
        f"imported. {f'Above the aim: {join_words(late)}.' if late else 'All stay below the aim.'}",
    ]
