"""Words and tables of docs/performance.md."""

from collections.abc import Iterable, Sequence
from typing import Any

Row = dict[str, Any]
Lines = list[str]


def ratio(seconds: dict[str, float], one: str, other: str) -> float:
    return seconds[one] / seconds[other]


def span(values: Sequence[float], digits: int = 1) -> str:
    """Return "1.9 to 2.4", or one number where they are the same.

    Examples
    --------
    >>> span([2.44, 1.9]), span([3.0])
    ('1.9 to 2.4', '3.0')
    """
    low, high = f"{min(values):,.{digits}f}", f"{max(values):,.{digits}f}"
    return low if low == high else f"{low} to {high}"


def met(is_met: bool) -> str:
    return "met" if is_met else "not met"


def join_words(words: Iterable[str]) -> str:
    *some, last = words
    return f"{', '.join(some)} and {last}" if some else last


def table(head: Sequence[object], body: Iterable[Sequence[object]]) -> Lines:
    rows = [head, ["---"] * len(head), *body]
    return ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
