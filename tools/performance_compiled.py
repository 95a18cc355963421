"""The section of docs/performance.md on compiled loops, and what a step of the paper's estimator is made of."""

from collections.abc import Sequence

from performance_words import Lines, Row, ratio, span, table

AIM_OF_FLOOR = 2.0
Rows = Sequence[Row]


def above_the_floor(learning: Rows, figures: Rows) -> str:
    """Return which share of what a step takes above its floor are moments and pseudo-features, as far as known."""
    if within := [row for row in figures if "step numpy" in row]:
        shares = [
            (row["moments in a step"] + row["pseudo in a step"]) / (row["step numpy"] - row["floor"])
            for row in within
        ]
        how = "within a step"
        rest = (
            "The rest are copies that join rows for the products, softmax and errors, drawing old classes, checks, "
            "and the calls around them."
        )
    else:
        steps = {(row["d"], row["c"]): row["seconds"] for row in learning if row["batch"] > 1}
        shares = [
            (row["moments numpy"] + row["pseudo numpy"]) / (seconds["paper"] - seconds["paper floor"])
            for row in figures
            if (seconds := steps.get((row["d"], row["c"])))
        ]
        how, rest = "timed by themselves", "This record does not take the rest apart."
    if not shares:
        return ""
    return (
        "Of what a step takes above its products, exact moments in double precision and pseudo-features, passes "
        f"over memory, make up {span(shares, 2)} ({how}, [below](#what-compiled-loops-would-bring)). {rest}"
    )


def compiled(figures: Rows, learning: Rows = ()) -> Lines:
    """Return what compiled loops would bring."""
    head = [
        "D",
        "C",
        "step in floors",
        "by numba",
        "moments, numpy / numba",
        "pseudo-features, numpy / numba",
    ]
    steps = {(row["d"], row["c"]): row["seconds"] for row in learning if row["batch"] > 1}
    body, at_aim = [], []
    for row in figures:
        now, then = _steps(row, steps.get((row["d"], row["c"])))
        if row["c"] == 100 and now is not None and then is not None:
            at_aim.append((now, then))
        parts = [row[f"{part} numpy"] / row[f"{part} numba"] for part in ("moments", "pseudo")]
        in_floors = ["" if value is None else f"{value:.2f}" for value in (now, then)]
        body.append([row["d"], row["c"], *in_floors, *(f"{part:.1f}" for part in parts)])
    measured = all("step numba" in row for row in figures)
    told = []
    if at_aim:
        before, after = zip(*at_aim, strict=True)
        how = "" if measured else ", computed from what the loops save by themselves"
        told.append(
            f"At 100 classes numba would bring a step from {span(before)} times its floor to {span(after)}{how}; "
            f"the aim of {AIM_OF_FLOOR:g} {_reached(before, after)}."
        )
    told += [
        "It is left out all the same: the loops would be a second implementation of Eq. 1 to 4, which has to be "
        "kept equal to the one in numpy.",
        _first_run(figures),
        "And numba brings a compiler of over a hundred megabytes.",
    ]
    return [*table(head, body), "", f"`python benchmarks/compiled.py`. {' '.join(told)}"]


def _reached(before: Sequence[float], after: Sequence[float]) -> str:
    if max(before) <= AIM_OF_FLOOR:
        return "is met without it"
    return "would then be met" if max(after) <= AIM_OF_FLOOR else "would still not be met"


def _steps(row: Row, seconds: dict[str, float] | None) -> tuple[float | None, float | None]:
    """Return a step in floors, by numpy and by numba: measured, or computed from what the loops save."""
    if "step numpy" in row:
        return ratio(row, "step numpy", "floor"), ratio(row, "step numba", "floor")
    if seconds is None:
        return None, None
    saved = sum(row[f"{part} numpy"] - row[f"{part} numba"] for part in ("moments", "pseudo"))
    now = ratio(seconds, "paper", "paper floor")
    return now, now - saved / row["floor"]


def _first_run(figures: Rows) -> str:
    if not (figures and "seconds to compile" in figures[0]):
        return "Its first call in a process compiles for seconds."
    first = figures[0]
    return (
        f"Until both loops have run once, a new process takes {first['seconds to compile']:.1f} s, and "
        f"{first['seconds to load']:.1f} s where numba's cache on the disk has them."
    )
