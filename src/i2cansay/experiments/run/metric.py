"""What a table shows of a record: metrics by name, in percent."""

from __future__ import annotations

from collections.abc import Callable

from i2cansay.evaluate import accuracy_curve, average_accuracy, forgetting, last_accuracy
from i2cansay.experiments.run.record import Record

METRICS: dict[str, Callable[[Record], float]] = {
    "last": lambda record: 100 * last_accuracy(record.outcome),
    "average": lambda record: 100 * average_accuracy(record.outcome),
    "average_by_sessions": lambda record: 100 * average_accuracy(record.outcome, "sessions"),
    "forgetting": lambda record: 100 * forgetting(record.outcome),
}


TITLES: dict[str, str] = {
    "last": "last accuracy, %",
    "average": "average accuracy over sessions, test samples of the classes so far pooled, %",
    "average_by_sessions": "average accuracy over sessions, each the mean over the groups of classes so far, %",
    "forgetting": "forgetting, points",
    "session": "accuracy after the session on the classes so far, %",
}


def metric_title(name: str) -> str:
    """Describe a metric in words.

    >>> metric_title("session:3")
    'accuracy after the session on the classes so far, %'
    """
    return TITLES[name.partition(":")[0]]


def metric_of(name: str) -> Callable[[Record], float]:
    """Return a metric by name, as a function of a record; `session:3` is the accuracy after the third session."""
    kind, _, number = name.partition(":")
    if kind == "session" and number.isdigit():
        return lambda record: _after_session(record, int(number))
    if name not in METRICS:
        raise ValueError(f"there is no metric {name!r}; known are {', '.join(METRICS)} and session:N")
    return METRICS[name]


def _after_session(record: Record, number: int) -> float:
    curve = accuracy_curve(record.outcome)
    if not 1 <= number <= len(curve):
        raise ValueError(f"the stream of the record has {len(curve)} sessions; there is no session {number}")
    return 100 * curve[number - 1]
