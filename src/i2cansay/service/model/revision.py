"""Changing one's mind: forgetting a class, renaming it, taking a lesson back."""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from i2cansay.service.errors import conflict, not_found
from i2cansay.service.model.requests import Done, Forget, Rename, Sample, Undo
from i2cansay.service.model.teaching import stacked
from i2cansay.service.storage.receipts import NOT_HELD, TAKEN_BACK

if TYPE_CHECKING:
    from i2cansay.service.model.transaction import Draft


def revise(draft: Draft, request: Forget | Rename | Undo) -> Done:
    """Apply a request to a draft; raise ServiceError and change nothing."""
    if isinstance(request, Forget):
        return _forget(draft, request)
    if isinstance(request, Rename):
        return _rename(draft, request)
    return _undo(draft, request)


def _forget(draft: Draft, request: Forget) -> Done:
    label = request.label
    count = _known(draft, label)
    waiting = draft.session.pending.pop(label, None)
    if waiting is None:
        draft.session.learner.forget(label)
        draft.set_class(label, None)
        draft.note("forget", label, count, request.who)
    for sample in waiting or ():
        draft.put(sample, TAKEN_BACK)
    _relabel(draft, label, None)
    return Done({label: count})


def _rename(draft: Draft, request: Rename) -> Done:
    old, new = request.label, request.new
    count = _known(draft, old)
    if old == new:
        return Done({new: count})
    if new in draft.session.classes or new in draft.session.pending:
        raise conflict(f"{new!r} is a class already; a new name must be free")
    if old in draft.session.pending:
        waiting = draft.session.pending.pop(old)
        draft.session.pending[new] = tuple(replace(sample, label=new) for sample in waiting)
    else:
        draft.session.learner.rename(old, new)
        record = draft.session.classes[old]
        draft.set_class(old, None)
        draft.set_class(new, replace(record, label=new))
        draft.note("rename", f"{old} -> {new}", count, request.who)
    _relabel(draft, old, new)
    return Done({new: count})


def _undo(draft: Draft, request: Undo) -> Done:
    lesson = draft.session.lessons.get(request.lesson)
    if lesson is None or lesson.until < draft.now:
        raise not_found("this lesson is not in memory any more, so it cannot be taken back")
    waiting = {sample.serial for sample in draft.session.waiting()}
    settled = [sample for sample in lesson.samples if sample.serial not in waiting]
    numbers = {label: record.number for label, record in draft.session.classes.items()}
    small = _unlearn(draft, settled, request.who)
    del draft.session.lessons[request.lesson]
    for sample in lesson.samples:
        draft.put(sample, TAKEN_BACK)
    for label in small:
        _lift(draft, label, numbers[label])
    gone = {sample.serial for sample in lesson.samples}
    for label, samples in list(draft.session.pending.items()):
        left = tuple(sample for sample in samples if sample.serial not in gone)
        draft.session.pending[label] = left
        if not left:
            del draft.session.pending[label]
    labels = Counter(sample.label for sample in lesson.samples)
    return Done({label: draft.session.count(label) for label in labels}, tuple(small))


def can_undo(learner: Any) -> bool:
    """Tell whether lessons can be taken back.

    A class left with one sample gives it back from its mean, so means must be of the features as they came.
    """
    return hasattr(learner, "unlearn") and learner.plain_means


def _unlearn(draft: Draft, samples: list[Sample], who: str) -> list[str]:
    """Take samples out of the statistics; return the classes that are now too small to be written."""
    if not samples:
        return []
    learner: Any = copy.deepcopy(draft.session.learner)
    if not can_undo(learner):
        raise conflict(f"the learner {draft.session.facts.learner!r} cannot take samples out again")
    leaving = Counter(sample.label for sample in samples)
    if lost := sorted(leaving.keys() - draft.session.classes.keys()):
        raise not_found(f"the class {lost[0]!r} is not what it was, so the lesson cannot be taken back")
    left = {label: draft.session.classes[label].count - count for label, count in leaving.items()}
    least = draft.session.facts.min_samples
    if stuck := [label for label, count in left.items() if 1 < count < least]:
        raise conflict(
            f"this would leave {stuck[0]!r} with {left[stuck[0]]} samples, and a class of fewer than {least} "
            "is not written; forget the class, or teach it more first"
        )
    try:
        learner.unlearn(stacked(samples), [sample.label for sample in samples])
    except ValueError as error:
        raise conflict(str(error)) from error
    if alike := [label for label, count in left.items() if count > 1 and _alike(draft, learner, label)]:
        raise conflict(
            f"this would leave {alike[0]!r} with one picture shown {left[alike[0]]} times, and its mean would be "
            "that picture's feature; forget the class, or teach it another picture first"
        )
    draft.session = replace(draft.session, learner=learner)
    for label, count in leaving.items():
        record = draft.session.classes[label].more(-count, draft.now)
        draft.set_class(label, record if left[label] >= least else None)
        draft.note("undo", label, count, who)
    return [label for label, count in left.items() if count == 1]


def _alike(draft: Draft, learner: Any, label: str) -> bool:
    """Tell whether the samples a class has left are all the same, as far as can be known."""
    (row,) = np.flatnonzero(learner.classes_ == label)
    mean = learner.class_means_[row]
    rounding = 1e-6 * float(np.abs(mean).max())
    if hasattr(learner, "class_stds_"):
        return bool((learner.class_stds_[row] <= rounding).all())
    remembered = [
        s.x for lesson in draft.session.lessons.values() for s in lesson.samples if s.label == label
    ]
    return any(bool((np.abs(x - mean) <= rounding).all()) for x in remembered)


def _lift(draft: Draft, label: str, number: int) -> None:
    """Take a class of one sample out of the learner; its mean is that sample."""
    learner: Any = draft.session.learner
    (row,) = np.flatnonzero(learner.classes_ == label)
    x = learner.class_means_[row].astype(np.float32)
    learner.forget(label)
    # Where the one that stays can itself be taken back, it must be known again when that is asked for.
    remembered = [s for lesson in draft.session.lessons.values() for s in lesson.samples if s.label == label]
    own = (
        remembered[0] if len(remembered) == 1 else Sample(draft.serial(), x, label, draft.now, number=number)
    )
    draft.session.pending[label] = (own,)
    draft.put(own, NOT_HELD)  # it is on the disk no more


def _known(draft: Draft, label: str) -> int:
    count = draft.session.count(label)
    if count == 0:
        raise not_found(f"there is no class {label!r}")
    return count


def _relabel(draft: Draft, old: str, new: str | None) -> None:
    """Let lessons that can be taken back follow a class to its new name, or lose it."""
    for name, lesson in list(draft.session.lessons.items()):
        samples = tuple(
            sample if sample.label != old else replace(sample, label=new or "")
            for sample in lesson.samples
            if new is not None or sample.label != old
        )
        draft.session.lessons[name] = replace(lesson, samples=samples)
        if not samples:
            del draft.session.lessons[name]
