"""Changing one's mind: forgetting a class, renaming it, taking a lesson back."""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from i2cansay.service.errors import conflict, not_found
from i2cansay.service.model.model_state import stacked
from i2cansay.service.model.requests import Forget, Rename, RevisionResult, Sample, Undo
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


def _forget(transaction: Transaction, request: Forget) -> RevisionResult:
    label = request.label
    count = _known(transaction, label)
    waiting = transaction.state.pending.pop(label, None)
    if waiting is None:
        transaction.state.learner.forget(label)
        transaction.set_class(label, None)
        transaction.note("forget", label, count, request.who)
    for sample in waiting or ():
        transaction.put(sample, TAKEN_BACK)
    _relabel(transaction, label, None)
    return RevisionResult({label: count})


def _rename(transaction: Transaction, request: Rename) -> RevisionResult:
    old, new = request.label, request.new
    count = _known(transaction, old)
    if old == new:
        return RevisionResult({new: count})
    if new in transaction.state.classes or new in transaction.state.pending:
        raise conflict(f"{new!r} is a class already; a new name must be free")
    if old in transaction.state.pending:
        waiting = transaction.state.pending.pop(old)
        transaction.state.pending[new] = tuple(replace(sample, label=new) for sample in waiting)
    else:
        transaction.state.learner.rename(old, new)
        record = transaction.state.classes[old]
        transaction.set_class(old, None)
        transaction.set_class(new, replace(record, label=new))
        transaction.note("rename", f"{old} -> {new}", count, request.who)
    _relabel(transaction, old, new)
    return RevisionResult({new: count})


def _undo(transaction: Transaction, request: Undo) -> RevisionResult:
    lesson = transaction.state.lessons.get(request.lesson)
    if lesson is None or lesson.until < transaction.now:
        raise not_found("this lesson is not in memory any more, so it cannot be taken back")
    waiting = {sample.serial for sample in transaction.state.waiting()}
    settled = [sample for sample in lesson.samples if sample.serial not in waiting]
    numbers = {label: record.number for label, record in transaction.state.classes.items()}
    small = _unlearn(transaction, settled, request.who)
    del transaction.state.lessons[request.lesson]
    for sample in lesson.samples:
        transaction.put(sample, TAKEN_BACK)
    for label in small:
        _lift(transaction, label, numbers[label])
    gone = {sample.serial for sample in lesson.samples}
    for label, samples in list(transaction.state.pending.items()):
        left = tuple(sample for sample in samples if sample.serial not in gone)
        transaction.state.pending[label] = left
        if not left:
            del transaction.state.pending[label]
    labels = Counter(sample.label for sample in lesson.samples)
    return RevisionResult({label: transaction.state.count(label) for label in labels}, tuple(small))


def can_undo(learner: Any) -> bool:
    """Tell whether lessons can be taken back.

    A class left with one sample gives it back from its mean, so means must be of the features as they came.
    """
    return hasattr(learner, "unlearn") and learner.plain_means


def _unlearn(transaction: Transaction, samples: list[Sample], who: str) -> list[str]:
    """Take samples out of the statistics; return the classes that are now too small to be written."""
    if not samples:
        return []
    learner: Any = copy.deepcopy(transaction.state.learner)
    if not can_undo(learner):
        raise conflict(f"the learner {transaction.state.facts.learner!r} cannot take samples out again")
    leaving = Counter(sample.label for sample in samples)
    if lost := sorted(leaving.keys() - transaction.state.classes.keys()):
        raise not_found(f"the class {lost[0]!r} is not what it was, so the lesson cannot be taken back")
    left = {label: transaction.state.classes[label].count - count for label, count in leaving.items()}
    least = transaction.state.facts.min_samples
    if stuck := [label for label, count in left.items() if 1 < count < least]:
        raise conflict(
            f"this would leave {stuck[0]!r} with {left[stuck[0]]} samples, and a class of fewer than {least} "
            "is not written; forget the class, or teach it more first"
        )
    try:
        learner.unlearn(stacked(samples), [sample.label for sample in samples])
    except ValueError as error:
        raise conflict(str(error)) from error
    if alike := [label for label, count in left.items() if count > 1 and _alike(transaction, learner, label)]:
        raise conflict(
            f"this would leave {alike[0]!r} with one image shown {left[alike[0]]} times, and its mean would be "
            "that image's feature; forget the class, or teach it another image first"
        )
    transaction.state = replace(transaction.state, learner=learner)
    for label, count in leaving.items():
        record = transaction.state.classes[label].more(-count, transaction.now)
        transaction.set_class(label, record if left[label] >= least else None)
        transaction.note("undo", label, count, who)
    return [label for label, count in left.items() if count == 1]


def _alike(transaction: Transaction, learner: Any, label: str) -> bool:
    """Tell whether the samples a class has left are all the same, as far as can be known."""
    (row,) = np.flatnonzero(learner.classes_ == label)
    mean = learner.class_means_[row]
    rounding = 1e-6 * float(np.abs(mean).max())
    if hasattr(learner, "class_stds_"):
        return bool((learner.class_stds_[row] <= rounding).all())
    remembered = [
        s.x for lesson in transaction.state.lessons.values() for s in lesson.samples if s.label == label
    ]
    return any(bool((np.abs(x - mean) <= rounding).all()) for x in remembered)


def _lift(transaction: Transaction, label: str, number: int) -> None:
    """Take a class of one sample out of the learner; its mean is that sample."""
    learner: Any = transaction.state.learner
    (row,) = np.flatnonzero(learner.classes_ == label)
    x = learner.class_means_[row].astype(np.float32)
    learner.forget(label)
    # Where the one that stays can itself be taken back, it must be known again when that is asked for.
    remembered = [
        s for lesson in transaction.state.lessons.values() for s in lesson.samples if s.label == label
    ]
    own = (
        remembered[0]
        if len(remembered) == 1
        else Sample(transaction.serial(), x, label, transaction.now, number=number)
    )
    transaction.state.pending[label] = (own,)
    transaction.put(own, NOT_HELD)  # it is on the disk no more


def _known(transaction: Transaction, label: str) -> int:
    count = transaction.state.count(label)
    if count == 0:
        raise not_found(f"there is no class {label!r}")
    return count


def _relabel(transaction: Transaction, old: str, new: str | None) -> None:
    """Let lessons that can be taken back follow a class to its new name, or lose it."""
    for name, lesson in list(transaction.state.lessons.items()):
        samples = tuple(
            sample if sample.label != old else replace(sample, label=new or "")
            for sample in lesson.samples
            if new is not None or sample.label != old
        )
        transaction.state.lessons[name] = replace(lesson, samples=samples)
        if not samples:
            del transaction.state.lessons[name]
