"""A group of requests, applied to a copy of a model's state, and committed as a whole or dropped."""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from i2cansay.core.types import Float32
from i2cansay.service.errors import ServiceError, conflict
from i2cansay.service.limits import MEGABYTE, Limits
from i2cansay.service.model.model_state import ModelState, UndoableLesson
from i2cansay.service.model.requests import Answer, Learn, LessonResult, Request
from i2cansay.service.model.revision import revise
from i2cansay.service.model.size import check_size, check_width
from i2cansay.service.model.taught_rows import (
    Integers,
    LessonSource,
    PrequentialScores,
    TaughtRows,
    row_digests,
    stacked,
)
from i2cansay.service.model.waiting import check_waiting
from i2cansay.service.storage.annotation_records import AnnotationRecord
from i2cansay.service.storage.database import Changes, Database
from i2cansay.service.storage.model_records import ClassRecord, LogEntry
from i2cansay.service.storage.receipts import NOT_HELD, TAKEN_BACK, Receipt, labels_digest

BATCH = 50
"""Rows per learning step, as in the paper."""
LESSONS, LESSON_ROWS, LESSON_SECONDS = 64, 2000, 600.0
"""How many lessons and rows can be taken back, and for how long their features stay in memory."""
LESSON_BYTES = 32 * MEGABYTE
"""How large these features may be."""


@dataclass(frozen=True)
class PresentLabels:
    """The labels that samples have in a state.

    Attributes
    ----------
    waiting : dict
        By serial: samples in memory.
    on_disk, alone : dict
        By class number: classes on the disk, and those of which one sample is left in memory.
    """

    waiting: dict[int, str]
    on_disk: dict[int, str]
    alone: dict[int, str]

    @classmethod
    def of(cls, state: ModelState) -> PresentLabels:
        """Take them from a state."""
        pieces = state.waiting()
        return cls(
            dict(pair for rows in pieces for pair in rows.labels_by_serial()),
            {record.number: label for label, record in state.classes.items()},
            {rows.class_number: rows.labels[0] for rows in pieces if rows.class_number is not None},
        )


@dataclass(frozen=True)
class OpenLesson:
    """A `Learn` that is not committed yet.

    Attributes
    ----------
    name : str
        What an `Undo` names.
    labels : tuple of str
        Of all n rows of the request.
    fresh : TaughtRows
        The rows that are learnt now.
    serials : (n,) array
        Of each row that is fresh or waits in memory; 0 for the others.
    places : (n,) array
        Where the receipt says each row is.
    """

    name: str
    labels: tuple[str, ...]
    fresh: TaughtRows
    serials: Integers
    places: Integers

    def result(self, state: ModelState, labels: PresentLabels, settled: dict[int, int]) -> LessonResult:
        """Return what the client is told once `state` is committed; `settled` maps serials to class numbers."""
        # What was settled may have been taken back since, or its class forgotten or renamed.
        serials = self.serials.tolist()
        places = [settled.get(s, place) for s, place in zip(serials, self.places.tolist(), strict=True)]
        names = [
            labels.waiting.get(serial) or labels.on_disk.get(place) or labels.alone.get(place)
            for serial, place in zip(serials, places, strict=True)
        ]
        tested = self.fresh.tested
        return LessonResult(
            self.name,
            learnt=len(self.fresh),
            repeated=len(self.labels) - len(self.fresh),
            durable=tuple(place in labels.on_disk for place in places),
            counts={
                present: state.count(present)
                for present in (name or label for name, label in zip(names, self.labels, strict=True))
            },
            scored=int(tested.scored.sum()),
            correct=int((tested.scored & tested.correct).sum()),
            taken_back=names.count(None),
        )


class Transaction:
    """A group of requests, applied to a copy of the state in the order in which they came.

    `finish` learns the rows that have gathered and returns the results of the lessons.
    """

    def __init__(self, before: ModelState, database: Database, limits: Limits) -> None:
        self.state = before.next()
        self.changes = Changes()
        self._database = database
        self._limits = limits
        self.now = time.time()
        self._gathered: list[TaughtRows] = []
        self._open: list[OpenLesson] = []
        self._settled: dict[int, int] = {}

    def apply(self, request: Request, tested: PrequentialScores | None) -> Answer | str:
        """Apply one request; a `Learn` gives the name of its lesson, under which `finish` gives its result."""
        if isinstance(request, Learn):
            return self.learn(request, tested)
        self._flush()
        return revise(self, request, tested)

    # -- learning -------------------------------------------------------------------------------------------

    def learn(self, request: Learn, tested: PrequentialScores | None) -> str:
        """Take a lesson in; return its name."""
        tested = tested or PrequentialScores.nothing(len(request.labels))
        self._check_room(request.X, request.labels)
        content = request.content or labels_digest(request.labels)
        n_rows = len(request.labels)
        source = LessonSource(
            self.now, request.who, request.key, content, n_rows, request.series, request.annotation
        )
        places, serials = self._held(source)
        fresh = self._fresh(source, request, tested, np.flatnonzero((places == NOT_HELD) & (serials == 0)))
        check_waiting(self.state, fresh, self._limits)
        serials[fresh.positions] = fresh.serials
        self._take(fresh)
        name = secrets.token_hex(8)
        self._remember(name, fresh)
        self._open.append(OpenLesson(name, request.labels, fresh, serials, places))
        return name

    def _check_room(self, X: Float32, labels: Sequence[str]) -> None:
        # The edge has checked the width too, but two first lessons may come together.
        width = self._gathered[0].X.shape[1] if self._gathered else self.state.width
        check_width(X, width)
        known = self.state.classes.keys() | self.state.pending.keys()
        n_classes = len(known | set(labels))
        if n_classes > self._limits.classes:
            raise conflict(
                f"the model may have {self._limits.classes} classes and these would be more; forget one"
            )
        if n_classes > len(known):
            check_size(self.state.learner, X.shape[1], n_classes, self._limits.state_bytes)

    def _held(self, source: LessonSource) -> tuple[Integers, Integers]:
        """Return where each row of a request is already: places by its receipt, and serials of rows that wait."""
        places = np.full(source.n_rows, NOT_HELD, dtype=np.int64)
        serials = np.zeros(source.n_rows, dtype=np.int64)
        if source.key is None:
            return places, serials
        receipt = self.receipt(source.key)
        waiting = [rows for rows in self.state.waiting() if rows.source.key == source.key]
        known = {rows.source.content for rows in waiting} | ({receipt.content} if receipt else set())
        if known - {source.content}:
            raise conflict(
                "this idempotency key was used for a request with other labels or other samples; "
                "use a new key for a new request"
            )
        if receipt is not None:
            places[:] = receipt.all_places()
        for rows in waiting:
            serials[rows.positions] = rows.serials
        serials[places >= 0] = 0  # what was moved and waits has a place that says it was taken back
        return places, serials

    def _fresh(
        self, source: LessonSource, request: Learn, tested: PrequentialScores, positions: Integers
    ) -> TaughtRows:
        first = self.new_serials(len(positions))
        everything = len(positions) == source.n_rows
        return TaughtRows(
            source,
            request.X if everything else request.X[positions],
            request.labels if everything else tuple(request.labels[position] for position in positions),
            np.arange(first, first + len(positions)),
            positions,
            tested.select(positions),
        )

    def _take(self, rows: TaughtRows) -> None:
        """Settle rows of classes on the disk; let others wait until their class is large enough, then settle all."""
        ready: list[int] = []
        different: dict[str, set[bytes]] = {}
        for index, label in enumerate(rows.labels):
            if label in self.state.classes:
                ready.append(index)
                continue
            waiting, row = self.state.pending.pop(label, ()), rows.select([index])
            if label not in different:  # once: for each of a thousand rows it would take a million digests
                different[label] = row_digests(waiting)
            different[label] |= row_digests([row])
            together = (*waiting, row)
            if len(different[label]) < self.state.facts.min_samples:
                self.state.pending[label] = together
                continue
            self._settle(rows.select(ready))
            ready = []
            self._add_class(label, together)
            self._keep_in_memory([each for each in waiting if each.source is not rows.source])
            for piece in together:
                self._settle(piece)
        self._settle(rows.select(ready))

    def _add_class(self, label: str, together: tuple[TaughtRows, ...]) -> None:
        number = next((rows.class_number for rows in together if rows.class_number is not None), None)
        if number is None:
            number = self.state.classes_made + 1
            self.state = replace(self.state, classes_made=number)
        first = together[0].source.at
        self.set_class(label, ClassRecord(label, 0, first, first, number))

    def _settle(self, rows: TaughtRows) -> None:
        """Count rows as durable; they are learnt with the others that have gathered."""
        if not len(rows):
            return
        self._gathered.append(rows)
        for label, count in Counter(rows.labels).items():
            self.set_class(label, self.state.classes[label].more(count, rows.source.at))
        numbers = [self.state.classes[label].number for label in rows.labels]
        self._settled.update(zip(rows.serials.tolist(), numbers, strict=True))
        self.put(rows, numbers)

    def receipt(self, key: bytes) -> Receipt | None:
        """Return what was counted under a key, in this group or before."""
        return self.changes.receipts.get(key) or self._database.receipt(key)

    def annotation(self, number: int) -> AnnotationRecord | None:
        """Return what is known of an annotation, by this group or before."""
        return self.changes.annotations.get(number) or self._database.annotation(number)

    def put(self, rows: TaughtRows, places: list[int] | int) -> None:
        """Note where rows are now: on the receipt of their key, or on the record of their annotation."""
        source = rows.source
        if source.annotation and (record := self.annotation(source.annotation)) is not None:
            place = places if isinstance(places, int) else places[0]  # an annotation has one row
            self.changes.annotations[record.id] = record.put(place)
        if source.key is not None:
            receipt = self.receipt(source.key) or Receipt.none(source.n_rows, source.content)
            self.changes.receipts[source.key] = receipt.put(rows.positions, places)

    def _flush(self) -> None:
        """Learn the rows that have gathered, and note them in the log."""
        gathered, self._gathered = self._gathered, []
        if not gathered:
            return
        X, labels = stacked(gathered)
        for start in range(0, len(X), BATCH):
            self.state.learner.partial_fit(X[start : start + BATCH], labels[start : start + BATCH])
        scored = np.concatenate([rows.tested.scored for rows in gathered])
        correct = np.concatenate([rows.tested.correct for rows in gathered]) & scored
        if scored.any():
            numbers = self.state.numbers()
            tests = (pair for rows in gathered for pair in rows.tests(numbers))
            on_disk = set(numbers.values())  # a class may have gone since the test
            known = ((taught, each if each in on_disk else 0) for taught, each in tests)
            self.state = replace(
                self.state,
                curve=self.state.curve.add(int(scored.sum()), int(correct.sum()), self.now),
                confusion=self.state.confusion.add(known),
            )
        who = [rows.source.who for rows in gathered for _ in range(len(rows))]
        lines = list(zip(labels, who, strict=True))
        n_scored, n_correct = Counter(compress(lines, scored)), Counter(compress(lines, correct))
        for line, count in Counter(lines).items():
            self.note("learn", line[0], count, line[1], scored=n_scored[line], correct=n_correct[line])

    def _keep_in_memory(self, waited: list[TaughtRows]) -> None:
        """Keep rows of earlier lessons that have waited for as long as the lesson that completes their class.

        If that lesson is taken back, they wait again, and from some learners they cannot be had back.
        """
        lessons, until = self.state.lessons, self.now + LESSON_SECONDS
        for rows in waited:
            held = [
                name for name, lesson in lessons.items() if np.isin(rows.serials, lesson.rows.serials).any()
            ]
            for name in held:
                lessons[name] = replace(lessons[name], until=until)
            if not held:  # nobody knows its name, so it cannot be taken back itself
                lessons[secrets.token_hex(8)] = UndoableLesson(rows, until, named=False)

    def _remember(self, name: str, rows: TaughtRows) -> None:
        """Keep rows so that their lesson can be taken back."""
        if len(rows):
            self.state.lessons[name] = UndoableLesson(rows, self.now + LESSON_SECONDS)

    def _drop_oldest(self) -> None:
        """Drop the lessons whose time is over, and the oldest where there are too many, or too many rows.

        Once for a group: its lessons would each look at all others. A series counts as one lesson: a person takes it
        back as a whole.
        """
        lessons = self.state.lessons
        for old in [key for key, lesson in lessons.items() if lesson.until < self.now]:
            del lessons[old]
        if not lessons:
            return
        row = next(iter(lessons.values())).rows.X[0]
        most = min(LESSON_ROWS, LESSON_BYTES // row.nbytes)
        n_rows = sum(len(lesson.rows) for lesson in lessons.values())
        together = Counter(lesson.rows.source.series or name for name, lesson in lessons.items())
        while len(together) > LESSONS or n_rows > most:
            name = next(iter(lessons))
            oldest = lessons.pop(name).rows
            n_rows -= len(oldest)
            key = oldest.source.series or name
            together[key] -= 1
            if not together[key]:
                del together[key]

    # -- the end --------------------------------------------------------------------------------------------

    def finish(self) -> dict[str, LessonResult]:
        """Learn the rest; return the results of the lessons by their names."""
        self._flush()
        self._drop_oldest()
        labels = PresentLabels.of(self.state)
        return {opened.name: opened.result(self.state, labels, self._settled) for opened in self._open}

    # -- parts that `revise` uses too -----------------------------------------------------------------------

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Run several steps of one request; where one raises ServiceError, none of them has happened.

        The learner needs no copy: `take_out` changes one of its own, and rows are learnt when all steps are done.
        """
        state = replace(
            self.state,
            classes=dict(self.state.classes),
            pending=dict(self.state.pending),
            lessons=dict(self.state.lessons),
        )
        changes, settled = self.changes.copy(), dict(self._settled)
        try:
            yield
        except ServiceError:
            self.state, self.changes, self._settled, self._gathered = state, changes, settled, []
            raise

    def relearn(self, moved: TaughtRows, name: str, staying: TaughtRows, until: float) -> None:
        """Learn rows that were taken out, as those of the lesson `name`, beside its rows that are `staying`."""
        self._check_room(moved.X, moved.labels)
        check_waiting(self.state, moved, self._limits)
        self.state.lessons[name] = UndoableLesson(moved.beside(staying), until)
        self._take(moved)

    def take_back(self, rows: TaughtRows) -> None:
        """Note that rows were taken out of the model."""
        self.put(rows, TAKEN_BACK)
        self._settled.update(dict.fromkeys(rows.serials.tolist(), TAKEN_BACK))

    def new_serials(self, n: int) -> int:
        """Return the first of `n` new serials."""
        first = self.state.serial + 1
        self.state = replace(self.state, serial=self.state.serial + n)
        return first

    def set_class(self, label: str, record: ClassRecord | None) -> None:
        """Write down a class, or strike it out."""
        self.changes.classes[label] = record
        if record is None:
            self.state.classes.pop(label, None)
        else:
            self.state.classes[label] = record

    def drop_class(self, label: str) -> None:
        """Strike a class out with what was counted of it."""
        confusion = self.state.confusion.without(self.state.classes[label].number)
        self.set_class(label, None)
        self.state = replace(self.state, confusion=confusion)

    def note(
        self, action: str, label: str, count: int, who: str, *, scored: int = 0, correct: int = 0
    ) -> None:
        """Add a line to the audit log."""
        self.changes.log.append(LogEntry(self.now, action, label, count, scored, correct, who))
