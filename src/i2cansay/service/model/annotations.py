"""Annotations of Label Studio: a model is made to hold what each of them says now, and nothing of what it said.

An annotation that is changed or deleted is taken back while its features are in memory, as any lesson is. Later its
image has to be fetched again: it is put in memory as the lesson it was, and that lesson is taken back.
"""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from i2cansay.service.errors import ServiceError
from i2cansay.service.model.model_state import UndoableLesson
from i2cansay.service.model.requests import Annotate, AnnotationResult
from i2cansay.service.model.size import check_width
from i2cansay.service.model.taught_rows import LessonSource, PrequentialScores, TaughtRows
from i2cansay.service.model.undo import take_out
from i2cansay.service.storage.annotation_records import AnnotationRecord
from i2cansay.service.storage.receipts import NOT_HELD

if TYPE_CHECKING:
    from i2cansay.service.model.transaction import Transaction

IMAGE_NEEDED = "image_needed"
"""The code of a refusal: the features are not in memory any more, and the request has none."""


def annotate(
    transaction: Transaction, request: Annotate, tested: PrequentialScores | None
) -> AnnotationResult:
    """Take back what an annotation said, and learn what it says now; raise ServiceError and change nothing."""
    new = request.annotation
    old = transaction.annotation(new.id)
    if old is not None and (old.is_deleted or new.stamp < old.stamp):
        return AnnotationResult("unchanged" if new.is_deleted else "older")
    in_memory = _name_in_memory(transaction, new.id)
    label = None if old is None else _present_label(transaction, old, in_memory)
    # What undo or forget has taken out comes back with another label only; what a crash has lost comes back.
    lost = old is not None and old.place == NOT_HELD and label is None
    if old is not None and new.label == old.label and not lost:
        return _unchanged(transaction, old, new, durable=label is None or label in transaction.state.classes)
    noted = (old or new).deleted() if new.is_deleted else new
    if label is None and not new.label:
        transaction.changes.annotations[new.id] = noted
        return AnnotationResult("unchanged")
    touched = dict.fromkeys(each for each in (label, new.label) if each)
    with transaction.all_or_nothing():
        if label is not None:
            _take_back(transaction, request, label, in_memory)
        transaction.changes.annotations[new.id] = noted
        if new.label:
            if (lesson := request.lesson) is None:
                raise _image_needed()
            # Under a wrong label a test was none, and the model has seen the sample since.
            transaction.learn(lesson, tested if label is None else None)
    counts = {each: transaction.state.count(each) for each in touched}
    durable = not new.label or new.label in transaction.state.classes
    if not new.label:
        return AnnotationResult("taken_back", counts=counts)
    return AnnotationResult("learnt" if label is None else "moved", durable, counts)


def _unchanged(
    transaction: Transaction, old: AnnotationRecord, new: AnnotationRecord, *, durable: bool
) -> AnnotationResult:
    """Note that an annotation says what it said, if that is news."""
    if new.stamp > old.stamp:
        transaction.changes.annotations[new.id] = replace(old, stamp=new.stamp)
    return AnnotationResult("unchanged", durable)


def _name_in_memory(transaction: Transaction, annotation: int) -> str | None:
    """Return the name of the lesson of an annotation, if its features are in memory."""
    for name, lesson in transaction.state.lessons.items():
        if lesson.rows.source.annotation == annotation and lesson.until >= transaction.now:
            return name
    return None


def _present_label(transaction: Transaction, record: AnnotationRecord, in_memory: str | None) -> str | None:
    """Return the class that has the sample of an annotation now, None where the model does not have it."""
    state = transaction.state
    if in_memory is not None:  # classes may have been renamed, or the lesson moved on the page
        return state.lessons[in_memory].rows.labels[0]
    for label, pieces in state.pending.items():
        for rows in pieces:
            if _is_of(rows, record):
                return label
    return next((label for label, known in state.classes.items() if known.number == record.place), None)


def _is_of(rows: TaughtRows, record: AnnotationRecord) -> bool:
    """Tell whether rows in memory are those of an annotation: by its id, or as what its class has left."""
    left_alone = rows.class_number is not None and rows.class_number == record.place
    return rows.source.annotation == record.id or left_alone


def _take_back(transaction: Transaction, request: Annotate, label: str, in_memory: str | None) -> None:
    """Take the sample of an annotation out of the class `label`."""
    state = transaction.state
    record = transaction.annotation(request.annotation.id)
    assert record is not None
    if in_memory is not None:
        rows, name = state.lessons[in_memory].rows, in_memory
    else:
        name = secrets.token_hex(8)
        waiting = [rows for rows in state.pending.get(label, ()) if _is_of(rows, record)]
        rows = waiting[0] if waiting else _fetched_rows(transaction, request, label)
        state.lessons[name] = UndoableLesson(rows, transaction.now, named=False)
    for each, count in take_out(transaction, name, rows).durable.items():
        transaction.note("undo", each, count, request.who)


def _fetched_rows(transaction: Transaction, request: Annotate, label: str) -> TaughtRows:
    """Return the features of an image that was fetched again, as rows of the lesson that was taught with it."""
    if request.X is None:
        raise _image_needed()
    check_width(request.X, transaction.state.width)
    source = LessonSource(transaction.now, request.who, annotation=request.annotation.id)
    serial, place = np.array([transaction.new_serials(1)]), np.zeros(1, np.int64)
    return TaughtRows(source, request.X, (label,), serial, place, PrequentialScores.nothing(1))


def _image_needed() -> ServiceError:
    return ServiceError(
        409, IMAGE_NEEDED, "the features of this annotation are not in memory any more; send its image again"
    )
