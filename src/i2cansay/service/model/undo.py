"""Lessons taken back: their samples leave the statistics while their features are still in memory."""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from i2cansay.service.errors import ServiceError, conflict, not_found
from i2cansay.service.model.model_state import ModelState, UndoableLesson
from i2cansay.service.model.requests import RevisionResult, Undo
from i2cansay.service.model.rows_in_memory import RowsInMemory
from i2cansay.service.model.taught_rows import LessonSource, PrequentialScores, TaughtRows
from i2cansay.service.storage.receipts import NOT_HELD

if TYPE_CHECKING:
    from i2cansay.service.model.transaction import Transaction


def can_undo(learner: Any) -> bool:
    """Tell whether lessons can be taken back.

    A class left with one sample gives that sample back as its mean, or as long as it is in memory. A learner of
    neither plain means nor statistics alone has a lift, from which few samples cannot be taken exactly.
    """
    return hasattr(learner, "unlearn") and (learner.plain_means or learner.order_free)


def undo(transaction: Transaction, request: Undo) -> RevisionResult:
    """Take a lesson back, or one class of it; raise ServiceError and change nothing."""
    rows = asked_rows(lesson_in_memory(transaction, request.lesson), request.only)
    taken = take_out(transaction, request.lesson, rows)
    for label, count in taken.durable.items():
        transaction.note("undo", label, count, request.who)
    counts = {label: transaction.state.count(label) for label in dict.fromkeys(rows.labels)}
    return RevisionResult(counts, taken.small)


def lesson_in_memory(transaction: Transaction, name: str) -> UndoableLesson:
    """Return a lesson that can still be taken back."""
    lesson = transaction.state.lessons.get(name)
    if lesson is None or lesson.until < transaction.now:
        raise not_found("this lesson is not in memory any more, so it cannot be taken back")
    return lesson


def asked_rows(lesson: UndoableLesson, only: str | None) -> TaughtRows:
    """Return the rows of a lesson, or those of one class of it."""
    rows = lesson.rows if only is None else lesson.rows.of_class(only)
    if not len(rows):
        raise not_found(f"this lesson has no samples of {only!r}, or has them no more")
    return rows


class TakenOut(NamedTuple):
    """How many samples of each class were taken off the disk, and the classes that are too small for it now."""

    durable: Counter[str]
    small: tuple[str, ...]


def take_out(transaction: Transaction, name: str, rows: TaughtRows) -> TakenOut:
    """Take rows of the lesson `name` out, which keeps its others; raise ServiceError and change nothing."""
    settled = rows.without(transaction.state.waiting_serials())
    numbers = transaction.state.numbers()
    small = _unlearn(transaction, settled, name)
    lessons = transaction.state.lessons
    if len(staying := lessons[name].rows.without(rows.serials)):
        lessons[name] = replace(lessons[name], rows=staying)
    else:
        del lessons[name]
    transaction.take_back(rows)
    for label in small:
        _move_to_memory(transaction, label, numbers[label])
    for label, pieces in list(transaction.state.pending.items()):
        left = tuple(piece for piece in (each.without(rows.serials) for each in pieces) if len(piece))
        transaction.state.pending[label] = left
        if not left:
            del transaction.state.pending[label]
    return TakenOut(Counter(settled.labels), tuple(small))


def refusal(state: ModelState, rows: TaughtRows, others: RowsInMemory, name: str) -> ServiceError | None:
    """Return why settled rows of the lesson `name` cannot be taken out, as far as can be told without trying."""
    if len(rows) and not can_undo(state.learner):
        return conflict(f"the learner {state.facts.learner!r} cannot take samples out again")
    if lost := sorted(set(rows.labels) - state.classes.keys()):
        return not_found(f"the class {lost[0]!r} is not what it was, so the lesson cannot be taken back")
    problems = (_too_small(state, label, left, others, name) for label, left in _left(state, rows).items())
    return next((problem for problem in problems if problem), None)


def _too_small(
    state: ModelState, label: str, left: int, others: RowsInMemory, name: str
) -> ServiceError | None:
    """Return why a class cannot be left with so few samples, or with these."""
    learner: Any = state.learner
    least, remembered = state.facts.min_samples, others.count(label, but=name)
    if 1 < left < least:
        return conflict(
            f"this would leave {label!r} with {left} samples, and a class of fewer than {least} "
            "is not written; forget the class, or teach it more first"
        )
    # Where means are plain, the mean of the class is its one sample; else it is a sample that was transformed.
    if left == 1 and not learner.plain_means and remembered != 1:
        return conflict(
            f"this would leave {label!r} with one sample, which is not written and not in memory any more; "
            "forget the class, or teach it more first"
        )
    if left > 1 and remembered == left and others.alike(label, but=name):
        return _one_image(label, left)
    return None


def _left(state: ModelState, rows: TaughtRows) -> dict[str, int]:
    """Return how many samples the class of each of these rows would have without them."""
    return {label: state.classes[label].count - count for label, count in Counter(rows.labels).items()}


def _one_image(label: str, count: int) -> ServiceError:
    return conflict(
        f"this would leave {label!r} with one image shown {count} times, and its mean would be that image's "
        "feature; forget the class, or teach it another image first"
    )


def _unlearn(transaction: Transaction, rows: TaughtRows, name: str) -> list[str]:
    """Take settled rows out of the statistics; return the classes that are now too small to be written."""
    if not len(rows):
        return []
    state = transaction.state
    others = RowsInMemory(state.lessons)
    if error := refusal(state, rows, others, name):
        raise error
    left = _left(state, rows)
    learner: Any = copy.deepcopy(state.learner)
    try:
        learner.unlearn(rows.X, list(rows.labels))
    except ValueError as error:
        raise conflict(str(error)) from error
    for label, count in left.items():
        if count > 1 and _alike(learner, label, others.rows(label, but=name)):
            raise _one_image(label, count)
    # Under a wrong label a test was none.
    confusion = state.confusion.remove(rows.tests(state.numbers()))
    transaction.state = replace(state, learner=learner, confusion=confusion)
    for label, count in Counter(rows.labels).items():
        record = state.classes[label].more(-count, transaction.now)
        if left[label] >= state.facts.min_samples:
            transaction.set_class(label, record)
        else:
            transaction.drop_class(label)
    return [label for label, count in left.items() if count == 1]


def _alike(learner: Any, label: str, remembered: list[TaughtRows]) -> bool:
    """Tell whether the samples a class has left are all the same, as far as its mean tells."""
    if not learner.plain_means:
        return False  # `refusal` has looked at those that are in memory, and more is not known
    (row,) = np.flatnonzero(learner.classes_ == label)
    mean = learner.class_means_[row]
    rounding = 1e-6 * float(np.abs(mean).max())
    if hasattr(learner, "class_stds_"):
        return bool((learner.class_stds_[row] <= rounding).all())
    return any(bool((np.abs(x - mean) <= rounding).all()) for rows in remembered for x in rows.X)


def _move_to_memory(transaction: Transaction, label: str, number: int) -> None:
    """Take a class of one sample out of the learner, and let the sample wait in memory."""
    learner: Any = transaction.state.learner
    (row,) = np.flatnonzero(learner.classes_ == label)
    remembered = RowsInMemory(transaction.state.lessons).rows(label)
    if sum(map(len, remembered)) == 1:  # its own lesson can be taken back too, and must find it again
        own = remembered[0]
    else:  # the mean of the class is the sample
        x = learner.class_means_[row].astype(np.float32)
        serial = np.array([transaction.new_serials(1)])
        source = LessonSource(transaction.now)
        own = TaughtRows(
            source, x[None], (label,), serial, np.zeros(1, np.int64), PrequentialScores.nothing(1), number
        )
    learner.forget(label)
    transaction.state.pending[label] = (own,)
    transaction.put(own, NOT_HELD)  # it is not on the disk any more
