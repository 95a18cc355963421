"""The lessons that can still be taken back or moved, as a person sees them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from i2cansay.service.model.model_state import ModelState
from i2cansay.service.model.rows_in_memory import RowsInMemory
from i2cansay.service.model.taught_rows import TaughtRows
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
    reasons : dict
        The same for each class of it that cannot be taken back on its own.
    series : str
        What it shares with lessons that were taught together with it, "" where it stands alone.
    own : bool
        Whether the token that asks taught or moved it.
    """

    id: str
    at: float
    who: str
    labels: dict[str, int]
    n: int
    until: float
    reason: str | None
    reasons: dict[str, str] = field(default_factory=dict)
    series: str = ""
    own: bool = True

    def seen_by(self, who: str, scope: str) -> LessonLine:
        """Return what a token may see of it: the names of others are for an admin, as in the log."""
        own = self.who == who
        return replace(self, own=own, who=self.who if own or scope == "admin" else "")


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
                    {} if error is None else _reasons(state, rows.without(waiting), others, name),
                    rows.source.series,
                )
            )
    return sorted(lines, key=lambda line: -line.at)


def _reasons(state: ModelState, rows: TaughtRows, others: RowsInMemory, name: str) -> dict[str, str]:
    found = {
        label: refusal(state, rows.of_class(label), others, name) for label in dict.fromkeys(rows.labels)
    }
    return {label: error.sentence for label, error in found.items() if error is not None}
