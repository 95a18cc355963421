"""One group of requests, applied to a copy of the state; committed as a whole or dropped."""

from __future__ import annotations

import secrets
import time
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from i2cansay.service.errors import conflict, refused
from i2cansay.service.limits import Limits
from i2cansay.service.model.model_state import ModelState, different, stacked
from i2cansay.service.model.requests import (
    Answer,
    Learn,
    LessonResult,
    Request,
    Sample,
    Tested,
    UndoableLesson,
)
from i2cansay.service.model.revision import revise
from i2cansay.service.model.size import check_size
from i2cansay.service.storage.database import Changes, Database
from i2cansay.service.storage.model_records import ClassRecord, LogEntry
from i2cansay.service.storage.receipts import NOT_HELD, Receipt, labels_digest

BATCH = 50
"""Rows per learning step, as in the paper."""
LESSONS, LESSON_ROWS, LESSON_SECONDS = 64, 2000, 600.0
"""How many lessons, and rows, can be taken back, and for how long their features stay in memory."""


@dataclass(frozen=True)
class OpenLesson:
    """A `Learn` that is not committed yet.

    Each sample has a serial where it came in this group or waits in memory, or else the place its receipt names.
    """

    name: str
    labels: tuple[str, ...]
    serials: tuple[int | None, ...]
    places: tuple[int, ...]
    fresh: list[Sample]

    def answer(self, state: ModelState, settled: dict[int | None, int]) -> LessonResult:
        """Return what to tell the client once the state is committed; `settled` maps serials to classes."""
        asked = [sample for sample in self.fresh if sample.scored]
        waiting: dict[int | None, str] = {sample.serial: sample.label for sample in state.waiting()}
        in_memory = {sample.number: sample.label for sample in state.waiting()}
        on_disk = {record.number: label for label, record in state.classes.items()}
        # What was settled may have been taken back since, or its class forgotten or renamed.
        places = [settled.get(s, place) for s, place in zip(self.serials, self.places, strict=True)]
        names = [
            waiting.get(serial) or on_disk.get(place) or in_memory.get(place)
            for serial, place in zip(self.serials, places, strict=True)
        ]
        return LessonResult(
            self.name,
            learnt=len(self.fresh),
            repeated=len(self.labels) - len(self.fresh),
            durable=tuple(place in on_disk for place in places),
            counts={
                present: state.count(present)
                for present in (name or label for name, label in zip(names, self.labels, strict=True))
            },
            scored=len(asked),
            correct=sum(sample.correct for sample in asked),
            taken_back=names.count(None),
        )


class Transaction:
    """A state in the making.

    Requests are applied in the order in which they came; `finish` learns what has gathered and gives the answers.
    """

    def __init__(self, before: ModelState, database: Database, limits: Limits) -> None:
        self.state = before.next()
        self.changes = Changes()
        self._database = database
        self._limits = limits
        self.now = time.time()
        self._gathered: list[Sample] = []
        self._open: list[OpenLesson] = []
        self._settled: dict[int | None, int] = {}

    def apply(self, request: Request, tested: Tested | None) -> Answer | str:
        """Apply one request; a `Learn` gives the name of its lesson, under which `finish` gives its answer."""
        if isinstance(request, Learn):
            return self._learn(request, tested or Tested.nothing(len(request.labels)))
        self._flush()
        return revise(self, request)

    # -- learning -------------------------------------------------------------------------------------------

    def _learn(self, request: Learn, tested: Tested) -> str:
        width = self.state.width
        if width is None and self._gathered:
            width = len(self._gathered[0].x)
        if width is not None and request.X.shape[1] != width:
            raise refused(
                f"expected features of width {width}, got {request.X.shape[1]}; was the encoder changed?"
            )
        known = self.state.classes.keys() | self.state.pending.keys()
        if len(known | set(request.labels)) > self._limits.classes:
            raise conflict(
                f"the model may have {self._limits.classes} classes and these would be more; forget one"
            )
        n_classes = len(known | set(request.labels))
        if n_classes > len(known):
            width = request.X.shape[1]
            check_size(self.state.learner, width, n_classes, self._limits.state_bytes)
        receipt = self._receipt(request)
        waiting = self._waiting_under(request.key)
        serials: list[int | None] = []
        places: list[int] = []
        fresh: list[Sample] = []
        for position in range(len(request.labels)):
            places.append(NOT_HELD if receipt is None else receipt.place(position))
            if places[-1] != NOT_HELD:
                serials.append(None)
            elif position in waiting:
                serials.append(waiting[position])
            else:
                fresh.append(self._sample(request, position, tested))
                serials.append(fresh[-1].serial)
        for sample in fresh:
            self._take(sample)
        name = secrets.token_hex(8)
        self._remember(name, fresh)
        self._open.append(OpenLesson(name, request.labels, tuple(serials), tuple(places), fresh))
        return name

    def _sample(self, request: Learn, position: int, tested: Tested) -> Sample:
        return Sample(
            self.serial(),
            request.X[position],
            request.labels[position],
            self.now,
            request.who,
            request.key,
            position,
            len(request.labels),
            _content(request),
            bool(tested.scored[position]),
            bool(tested.correct[position]),
            float(tested.strangeness[position]),
        )

    def _receipt(self, request: Learn) -> Receipt | None:
        if request.key is None:
            return None
        receipt = self.receipt(request.key)
        known = {sample.content for sample in self.state.waiting() if sample.key == request.key}
        if receipt is not None:
            known.add(receipt.content)
        if known - {_content(request)}:
            raise conflict(
                "this idempotency key was used for a request with other labels or other samples; "
                "use a new key for a new request"
            )
        return receipt

    def receipt(self, key: bytes) -> Receipt | None:
        """Return what was counted under a key, in this group or before."""
        return self.changes.receipts.get(key) or self._database.receipt(key)

    def _waiting_under(self, key: bytes | None) -> dict[int, int]:
        """Return the positions, and serials, of samples that came with this key and still wait."""
        if key is None:
            return {}
        return {sample.position: sample.serial for sample in self.state.waiting() if sample.key == key}

    def _take(self, sample: Sample) -> None:
        """Let a sample wait until its class is large enough, and then the whole class go on."""
        if sample.label in self.state.classes:
            self._settle(sample)
            return
        together = (*self.state.pending.pop(sample.label, ()), sample)
        if different(together) < self.state.facts.min_samples:
            self.state.pending[sample.label] = together
            return
        first = together[0].at
        number = next((s.number for s in together if s.number is not None), None)
        if number is None:
            number = self.state.classes_made + 1
            self.state = replace(self.state, classes_made=number)
        self.set_class(sample.label, ClassRecord(sample.label, 0, first, first, number))
        for waited in together:
            self._settle(waited)

    def _settle(self, sample: Sample) -> None:
        """Count a sample as durable; it will be learnt with the others that have gathered."""
        self._gathered.append(sample)
        record = self.state.classes[sample.label].more(1, sample.at)
        self.set_class(sample.label, record)
        self._settled[sample.serial] = record.number
        self.put(sample, record.number)

    def put(self, sample: Sample, place: int) -> None:
        """Write down where a sample is now, where it came with a key."""
        if sample.key is not None:
            receipt = self.receipt(sample.key) or Receipt.none(sample.total, sample.content)
            self.changes.receipts[sample.key] = receipt.put(sample.position, place)

    def _flush(self) -> None:
        """Learn what has gathered, and note it."""
        gathered, self._gathered = self._gathered, []
        for start in range(0, len(gathered), BATCH):
            batch = gathered[start : start + BATCH]
            self.state.learner.partial_fit(stacked(batch), [sample.label for sample in batch])
        asked = [sample for sample in gathered if sample.scored]
        right = sum(sample.correct for sample in asked)
        if asked:
            strangeness = np.array([sample.strangeness for sample in asked])
            self.state = replace(
                self.state,
                curve=self.state.curve.add(len(asked), right, self.now),
                novelty=self.state.novelty.add(strangeness),
            )
        lines = Counter((sample.label, sample.who) for sample in gathered)
        scored = Counter((sample.label, sample.who) for sample in asked)
        correct = Counter((sample.label, sample.who) for sample in asked if sample.correct)
        for line, count in lines.items():
            self.note("learn", line[0], count, line[1], scored=scored[line], correct=correct[line])

    def _remember(self, name: str, samples: list[Sample]) -> None:
        lessons = self.state.lessons
        for old in [key for key, lesson in lessons.items() if lesson.until < self.now]:
            del lessons[old]
        if samples:
            lessons[name] = UndoableLesson(tuple(samples), self.now + LESSON_SECONDS)
        while len(lessons) > LESSONS or sum(len(lesson.samples) for lesson in lessons.values()) > LESSON_ROWS:
            del lessons[next(iter(lessons))]

    # -- the end --------------------------------------------------------------------------------------------

    def finish(self) -> dict[str, LessonResult]:
        """Learn the rest; return the answers to the lessons by their names."""
        self._flush()
        return {opened.name: opened.answer(self.state, self._settled) for opened in self._open}

    # -- inside ---------------------------------------------------------------------------------------------

    def serial(self) -> int:
        """Return the number of the next sample."""
        self.state = replace(self.state, serial=self.state.serial + 1)
        return self.state.serial

    def set_class(self, label: str, record: ClassRecord | None) -> None:
        """Write down a class, or strike it out."""
        self.changes.classes[label] = record
        if record is None:
            self.state.classes.pop(label, None)
        else:
            self.state.classes[label] = record

    def note(
        self, action: str, label: str, count: int, who: str, *, scored: int = 0, correct: int = 0
    ) -> None:
        """Add a line to the audit log."""
        self.changes.log.append(LogEntry(self.now, action, label, count, scored, correct, who))


def _content(request: Learn) -> bytes:
    return request.content or labels_digest(request.labels)
