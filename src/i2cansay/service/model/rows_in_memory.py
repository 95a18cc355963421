"""The rows of lessons that can be taken back, by their classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from i2cansay.service.model.model_state import UndoableLesson
from i2cansay.service.model.taught_rows import TaughtRows


class RowsInMemory:
    """The rows of all lessons in memory; rows are looked up by class, without those of the lesson `but`."""

    def __init__(self, lessons: Mapping[str, UndoableLesson]) -> None:
        self._lessons = lessons
        self._counts: dict[str, dict[str, int]] = {}
        for name, lesson in lessons.items():
            for label, count in Counter(lesson.rows.labels).items():
                self._counts.setdefault(label, {})[name] = count

    def count(self, label: str, *, but: str = "") -> int:
        """Return how many rows of a class are in memory."""
        return sum(count for name, count in self._counts.get(label, {}).items() if name != but)

    def rows(self, label: str, *, but: str = "") -> list[TaughtRows]:
        """Return the rows of a class, lesson by lesson."""
        names = [name for name in self._counts.get(label, {}) if name != but]
        return [self._lessons[name].rows.of_class(label) for name in names]

    def alike(self, label: str, *, but: str = "") -> bool:
        """Tell whether all rows of a class are the same; there must be some."""
        pieces = self.rows(label, but=but)
        first = pieces[0].X[0]
        return all(bool((first == rows.X).all()) for rows in pieces)
