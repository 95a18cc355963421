"""Revisions of what was taught: a class forgotten or renamed, a lesson taken back or moved to another class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from i2cansay.service.errors import conflict, not_found
from i2cansay.service.model.annotations import annotate
from i2cansay.service.model.move import move
from i2cansay.service.model.requests import (
    Annotate,
    AnnotationResult,
    Forget,
    Move,
    Rename,
    RevisionResult,
    Undo,
)
from i2cansay.service.model.taught_rows import PrequentialScores, TaughtRows
from i2cansay.service.model.undo import undo

if TYPE_CHECKING:
    from i2cansay.service.model.transaction import Transaction


def revise(
    transaction: Transaction,
    request: Forget | Rename | Undo | Move | Annotate,
    tested: PrequentialScores | None = None,
) -> RevisionResult | AnnotationResult:
    """Apply a request to a transaction; raise ServiceError and change nothing."""
    if isinstance(request, Annotate):
        return annotate(transaction, request, tested)
    if isinstance(request, Forget):
        return _forget(transaction, request)
    if isinstance(request, Rename):
        return _rename(transaction, request)
    return undo(transaction, request) if isinstance(request, Undo) else move(transaction, request)


def _forget(transaction: Transaction, request: Forget) -> RevisionResult:
    label = request.label
    count = _count_known(transaction, label)
    waiting = transaction.state.pending.pop(label, None)
    if waiting is None:
        transaction.state.learner.forget(label)
        transaction.drop_class(label)
        transaction.note("forget", label, count, request.who)
    for rows in waiting or ():
        transaction.take_back(rows)
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
