"""Lessons moved to another class: taken back and learnt again, both or neither."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from i2cansay.service.model.requests import Move, RevisionResult
from i2cansay.service.model.taught_rows import PrequentialScores
from i2cansay.service.model.undo import asked_rows, lesson_in_memory, take_out

if TYPE_CHECKING:
    from i2cansay.service.model.transaction import Transaction


def move(transaction: Transaction, request: Move) -> RevisionResult:
    """Learn the samples of a lesson, or of one class of it, under another label; raise and change nothing."""
    lesson = lesson_in_memory(transaction, request.lesson)
    new, leaving = request.label, asked_rows(lesson, request.only).without_class(request.label)
    before = dict.fromkeys((*leaving.labels, new))
    small: tuple[str, ...] = ()
    if len(leaving):
        with transaction.all_or_nothing():
            taken = take_out(transaction, request.lesson, leaving)
            # They were tested under a label that was wrong, and the model has seen them since.
            moved = replace(
                leaving,
                labels=(new,) * len(leaving),
                source=replace(leaving.source, who=request.who),
                tested=PrequentialScores.nothing(len(leaving)),
                class_number=None,
            )
            staying = lesson.rows.without(leaving.serials)
            transaction.relearn(moved, request.lesson, staying, lesson.until)
        for label, count in taken.durable.items():
            transaction.note("move", f"{label} -> {new}", count, request.who)
        small = taken.small
    state = transaction.state
    waiting = (new,) if new in state.pending else ()
    return RevisionResult({label: state.count(label) for label in before}, (*small, *waiting))
