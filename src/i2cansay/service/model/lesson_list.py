"""The lessons that can still be taken back or moved, as a person sees them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from i2cansay.service.model.model_state import ModelState
from i2cansay.service.model.rows_in_memory import RowsInMemory
from i2cansay.service.model.undo import refusal


@dataclass(frozen=True)
class LessonLine:
    """A lesson whose features are in memory.

    Attributes
    ----------
    id : str
        What `Undo` and `Move` name.
    at, until : float
        When it was taught, and when it can no longer be taken back; seconds since 1970.
    who : str
        The name of the token that taught or moved it, "" without one.
    labels : dict
        How many of its samples each class has now.
    n : int
        Its samples.
    reason : str or None
        Why it cannot be taken back now, as far as can be told without trying.
    """

    id: str
    at: float
    who: str
    labels: dict[str, int]
    n: int
    until: float
    reason: str | None


def lesson_list(state: ModelState) -> list[LessonLine]:
    """Return the lessons in memory, the newest first, those that have expired since among them."""
    others, waiting = RowsInMemory(state.lessons), state.waiting_serials()
    lines = []
    for name, lesson in reversed(state.lessons.items()):
        if lesson.named:
            rows = lesson.rows
            error = refusal(state, rows.without(waiting), others, name)
            lines.append(
                LessonLine(
                    name,
                    rows.source.at,
                    rows.source.who,
                    dict(Counter(rows.labels)),
                    len(rows),
                    lesson.until,
                    None if error is None else error.sentence,
                )
            )
    return sorted(lines, key=lambda line: -line.at)
