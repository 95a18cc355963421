"""Revisions of what was taught: a class forgotten, a class renamed, a lesson taken back."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from i2cansay.service.errors import conflict, not_found
from i2cansay.service.model.requests import Forget, Rename, RevisionResult, Undo
from i2cansay.service.model.taught_rows import LessonSource, PrequentialScores, TaughtRows, row_digests
from i2cansay.service.storage.receipts import NOT_HELD, TAKEN_BACK

if TYPE_CHECKING:
    from i2cansay.service.model.transaction import Transaction


def revise(transaction: Transaction, request: Forget | Rename | Undo) -> RevisionResult:
    """Apply a request to a transaction; raise ServiceError and change nothing."""
    if isinstance(request, Forget):
        return _forget(transaction, request)
    if isinstance(request, Rename):
        return _rename(transaction, request)
    return _undo(transaction, request)


def can_undo(learner: Any) -> bool:
    """Tell whether lessons can be taken back.

    A class left with one sample gives that sample back as its mean, or as long as it is in memory. A learner of
    neither plain means nor statistics alone has a lift, from which few samples cannot be taken exactly.
    """
    return hasattr(learner, "unlearn") and (learner.plain_means or learner.order_free)


# -- forget and rename --------------------------------------------------------------------------------------


def _forget(transaction: Transaction, request: Forget) -> RevisionResult:
    label = request.label
    count = _count_known(transaction, label)
    waiting = transaction.state.pending.pop(label, None)
    if waiting is None:
        transaction.state.learner.forget(label)
        transaction.set_class(label, None)
        transaction.note("forget", label, count, request.who)
    for rows in waiting or ():
        transaction.put(rows, TAKEN_BACK)
    _replace_lessons(transaction, lambda rows: rows.without_class(label))
    return RevisionResult({label: count})


def _rename(transaction: Transaction, request: Rename) -> RevisionResult:
    old, new = request.label, request.new
    count = _count_known(transaction, old)
    if old == new:
        return RevisionResult({new: count})
    state = transaction.state
    if new in state.classes or new in state.pending:
        raise conflict(f"{new!r} is a class already; a new name must be free")
    if old in state.pending:
        state.pending[new] = tuple(rows.renamed(old, new) for rows in state.pending.pop(old))
    else:
        state.learner.rename(old, new)
        record = state.classes[old]
        transaction.set_class(old, None)
        transaction.set_class(new, replace(record, label=new))
        transaction.note("rename", f"{old} -> {new}", count, request.who)
    _replace_lessons(transaction, lambda rows: rows.renamed(old, new))
    return RevisionResult({new: count})


def _count_known(transaction: Transaction, label: str) -> int:
    count = transaction.state.count(label)
    if count == 0:
        raise not_found(f"there is no class {label!r}")
    return count


def _replace_lessons(transaction: Transaction, change: Callable[[TaughtRows], TaughtRows]) -> None:
    """Change the rows of all lessons that can be taken back; drop lessons that are left without rows."""
    lessons = transaction.state.lessons
    for name, lesson in list(lessons.items()):
        rows = change(lesson.rows)
        if len(rows):
            lessons[name] = replace(lesson, rows=rows)
        else:
            del lessons[name]


# -- undo ---------------------------------------------------------------------------------------------------


def _undo(transaction: Transaction, request: Undo) -> RevisionResult:
    lesson = transaction.state.lessons.get(request.lesson)
    if lesson is None or lesson.until < transaction.now:
        raise not_found("this lesson is not in memory any more, so it cannot be taken back")
    rows = lesson.rows
    waiting = [piece.serials for piece in transaction.state.waiting()]
    settled = rows.without(np.concatenate(waiting)) if waiting else rows
    numbers = {label: record.number for label, record in transaction.state.classes.items()}
    small = _unlearn(transaction, settled, request)
    del transaction.state.lessons[request.lesson]
    transaction.put(rows, TAKEN_BACK)
    for label in small:
        _move_to_memory(transaction, label, numbers[label])
    for label, pieces in list(transaction.state.pending.items()):
        left = tuple(piece for piece in (each.without(rows.serials) for each in pieces) if len(piece))
        transaction.state.pending[label] = left
        if not left:
            del transaction.state.pending[label]
    counts = {label: transaction.state.count(label) for label in dict.fromkeys(rows.labels)}
    return RevisionResult(counts, tuple(small))


def _unlearn(transaction: Transaction, rows: TaughtRows, request: Undo) -> list[str]:
    """Take rows out of the statistics; return the classes that are now too small to be written."""
    if not len(rows):
        return []
    state = transaction.state
    learner: Any = copy.deepcopy(state.learner)
    if not can_undo(learner):
        raise conflict(f"the learner {state.facts.learner!r} cannot take samples out again")
    leaving = Counter(rows.labels)
    if lost := sorted(leaving.keys() - state.classes.keys()):
        raise not_found(f"the class {lost[0]!r} is not what it was, so the lesson cannot be taken back")
    left = {label: state.classes[label].count - count for label, count in leaving.items()}
    least = state.facts.min_samples
    if stuck := [label for label, count in left.items() if 1 < count < least]:
        raise conflict(
            f"this would leave {stuck[0]!r} with {left[stuck[0]]} samples, and a class of fewer than {least} "
            "is not written; forget the class, or teach it more first"
        )
    others = {label: _remembered(transaction, label, but=request.lesson) for label in left}
    for label in (label for label, count in left.items() if count == 1 and not learner.plain_means):
        # Elsewhere the mean of the class is its one sample; here it is a sample that was transformed.
        if sum(map(len, others[label])) != 1:
            raise conflict(
                f"this would leave {label!r} with one sample, which is not written and not in memory any more; "
                "forget the class, or teach it more first"
            )
    try:
        learner.unlearn(rows.X, list(rows.labels))
    except ValueError as error:
        raise conflict(str(error)) from error
    if alike := [
        label for label, count in left.items() if count > 1 and _alike(learner, label, others[label], count)
    ]:
        raise conflict(
            f"this would leave {alike[0]!r} with one image shown {left[alike[0]]} times, and its mean would be "
            "that image's feature; forget the class, or teach it another image first"
        )
    transaction.state = replace(state, learner=learner)
    for label, count in leaving.items():
        record = state.classes[label].more(-count, transaction.now)
        transaction.set_class(label, record if left[label] >= least else None)
        transaction.note("undo", label, count, request.who)
    return [label for label, count in left.items() if count == 1]


def _alike(learner: Any, label: str, remembered: list[TaughtRows], count: int) -> bool:
    """Tell whether the `count` samples a class has left are all the same, as far as can be known."""
    if not learner.plain_means:
        return sum(map(len, remembered)) == count and len(row_digests(remembered)) == 1
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
    remembered = _remembered(transaction, label)
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


def _remembered(transaction: Transaction, label: str, but: str = "") -> list[TaughtRows]:
    """Return the rows of a class that are in memory because their lessons, `but` one, can be taken back."""
    lessons = transaction.state.lessons.items()
    found = [lesson.rows.of_class(label) for name, lesson in lessons if name != but]
    return [rows for rows in found if len(rows)]
