"""The sections of docs/performance.md on steps and predictions beside peers and floors."""

from collections.abc import Sequence

from performance_compiled import AIM_OF_FLOOR, above_the_floor
from performance_words import Lines, Row, join_words, met, ratio, span, table

AIM_OF_SGD = 20.0


def learning(figures: Row, compiled: Sequence[Row] = ()) -> Lines:
    """Return the table of batches of 50; `compiled` says what a step is made of."""
    above = above_the_floor(figures["learning"], compiled)
    rows = [row for row in figures["learning"] if row["batch"] > 1]
    at_aim = [row["seconds"] for row in rows if row["c"] == 100]
    floors = [ratio(seconds, "paper", "paper floor") for seconds in at_aim]
    sgd = [ratio(seconds, "SGDClassifier", "paper") for seconds in at_aim]
    peers = peers_of(rows)
    slower = [
        name for name in peers if all(row["seconds"].get(name, 0) >= row["seconds"]["paper"] for row in rows)
    ]
    others = [name for name in peers if name not in slower]
    return [
        *_contest(rows),
        "",
        f"At 100 classes a step of `I2CANSAY` takes {span(floors)} times the products that it cannot avoid; the "
        f"aim is {AIM_OF_FLOOR:g}, which is {met(max(floors) <= AIM_OF_FLOOR)}. It is {span(sgd)} times as fast as "
        f"SGDClassifier there; the aim is {AIM_OF_SGD:g}, which is {met(min(sgd) >= AIM_OF_SGD)}. "
        + (f"{above} " if above else "")
        + (f"Slower than `I2CANSAY` in every row: {join_words(slower)}. " if slower else "")
        + (f"Not so: {join_words(others)}. " if others else "")
        + "GaussianNB only counts, and trains no classifier.",
    ]


def lessons_of_one(figures: Row) -> Lines:
    """Return the table of batches of one sample."""
    rows = [row for row in figures["learning"] if row["batch"] == 1]
    floors = [ratio(row["seconds"], "paper", "paper floor") for row in rows]
    times = [1e3 * row["seconds"]["paper"] for row in rows]
    return [
        *_contest(rows),
        "",
        f"A lesson of one sample takes `I2CANSAY` {span(times)} ms, {span(floors)} times its products: for one row "
        "those are so short that the calls around them count. A stream that can wait should send batches.",
    ]


def predicting(figures: Row) -> Lines:
    """Return the table of predictions."""
    rows = figures["predicting"]
    floors = [ratio(row["seconds"], "paper", "paper floor") for row in rows]
    sgd = [ratio(row["seconds"], "paper", "SGDClassifier") for row in rows]
    return [
        *_contest(rows, size="rows"),
        "",
        f"`I2CANSAY` predicts in {span(floors)} times its three products, one for the classifier and two for the "
        f"distances. SGDClassifier has one product, and `I2CANSAY` takes {span(sgd)} times as long. The shared "
        "mode takes one product in double precision, and one in single with analogies; its solution is kept "
        "between questions. The plain SLDA solves at every question." + _peers_that_predict(rows),
    ]


def _peers_that_predict(rows: Sequence[Row]) -> str:
    """Return how eager torch and river are timed, where they took part."""
    names = peers_of(rows)
    told = " Eager torch computes the paper's decision, by the same three products." * (
        "eager torch" in names
    )
    known = [row["c"] for row in rows if any(name.startswith("river") for name in row["seconds"])]
    if known:
        told += " river takes one row at a time, a dictionary: its times are those of a row, "
        told += f"times {rows[0]['rows']:,}."
        if max(row["c"] for row in rows) > max(known):
            told += f" It is left out above {max(known):,} classes."
    return told


def peers_of(rows: Sequence[Row]) -> list[str]:
    """Return the contenders that are not ours."""
    ours = ("paper", "shared", "closed form")
    names = dict.fromkeys(name for row in rows for name in row["seconds"])
    return [name for name in names if not name.startswith(ours)]


def _contest(rows: Sequence[Row], size: str = "batch") -> Lines:
    """Return a table of ratios: each estimator to its floor, each peer to the paper's, then times."""
    peers = peers_of(rows)
    head = ["D", "C", "I2CANSAY x floor", "shared x floor", "closed form x floor"]
    head += [f"{name} / I2CANSAY" for name in peers] + [
        "I2CANSAY ms",
        "shared ms",
        "closed form ms",
        "samples/s",
    ]
    body = []
    for row in rows:
        seconds = row["seconds"]
        ours = [f"{ratio(seconds, name, f'{name} floor'):.2f}" for name in ("paper", "shared", "closed form")]
        theirs = [f"{ratio(seconds, name, 'paper'):.1f}" if name in seconds else "" for name in peers]
        times = [f"{1e3 * seconds[name]:.2f}" for name in ("paper", "shared", "closed form")]
        body.append(
            [row["d"], row["c"], *ours, *theirs, *times, f"{row[size] / seconds['paper']:,.0f}"],
        )
    return table(head, body)
