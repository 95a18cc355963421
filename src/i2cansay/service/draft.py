"""One group of requests, applied to a copy of the session; committed as a whole or dropped."""

from __future__ import annotations

import secrets
import time
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from i2cansay.service.database import Changes, Database
from i2cansay.service.errors import conflict, refused
from i2cansay.service.limits import Limits
from i2cansay.service.receipts import Receipt, labels_digest
from i2cansay.service.records import ClassRecord, LogEntry
from i2cansay.service.requests import Answer, Learn, Lesson, Remembered, Request, Sample, Tested
from i2cansay.service.revision import revise
from i2cansay.service.session import Session, different, stacked
from i2cansay.service.size import check_size

BATCH = 50
"""Rows per learning step, as in the paper."""
LESSONS, LESSON_ROWS, LESSON_SECONDS = 64, 2000, 600.0
"""How many lessons, and rows, can be taken back, and for how long their features stay in memory."""


@dataclass(frozen=True)
class OpenLesson:
    """A `Learn` that is not committed yet; a serial per sample, None for one that an earlier request brought."""

    name: str
    labels: tuple[str, ...]
    serials: tuple[int | None, ...]
    fresh: list[Sample]

    def answer(self, session: Session, waiting: set[int]) -> Lesson:
        """Return what to tell the client once the session is committed."""
        asked = [sample for sample in self.fresh if sample.scored]
        return Lesson(
            self.name,
            learnt=len(self.fresh),
            repeated=len(self.labels) - len(self.fresh),
            # What was written once may have been taken off the disk since, with its class.
            durable=tuple(
                label in session.classes if serial is None else serial not in waiting
                for label, serial in zip(self.labels, self.serials, strict=True)
            ),
            counts={label: session.count(label) for label in self.labels},
            scored=len(asked),
            correct=sum(sample.correct for sample in asked),
        )


class Draft:
    """A session in the making.

    Requests are applied in the order in which they came; `finish` learns what has gathered and gives the answers.
    """

    def __init__(self, before: Session, database: Database, limits: Limits) -> None:
        self.session = before.next()
        self.changes = Changes()
        self._database = database
        self._limits = limits
        self.now = time.time()
        self._gathered: list[Sample] = []
        self._open: list[OpenLesson] = []

    def apply(self, request: Request, tested: Tested | None) -> Answer | str:
        """Apply one request; a `Learn` gives the name of its lesson, under which `finish` gives its answer."""
        if isinstance(request, Learn):
            return self._learn(request, tested or Tested.nothing(len(request.labels)))
        self._flush()
        return revise(self, request)

    # -- learning -------------------------------------------------------------------------------------------

    def _learn(self, request: Learn, tested: Tested) -> str:
        width = self.session.width
        if width is None and self._gathered:
            width = len(self._gathered[0].x)
        if width is not None and request.X.shape[1] != width:
            raise refused(
                f"expected features of width {width}, got {request.X.shape[1]}; was the encoder changed?"
            )
        known = self.session.classes.keys() | self.session.pending.keys()
        if len(known | set(request.labels)) > self._limits.classes:
            raise conflict(
                f"the model may have {self._limits.classes} classes and these would be more; forget one"
            )
        n_classes = len(known | set(request.labels))
        if n_classes > len(known):
            width = request.X.shape[1]
            check_size(self.session.learner, width, n_classes, self._limits.state_bytes)
        receipt = self._receipt(request)
        waiting = self._waiting_under(request.key)
        labels = b"" if request.key is None else labels_digest(request.labels)
        serials: list[int | None] = []
        fresh: list[Sample] = []
        for position in range(len(request.labels)):
            if receipt is not None and position in receipt:
                serials.append(None)
            elif position in waiting:
                serials.append(waiting[position])
            else:
                fresh.append(self._sample(request, position, labels, tested))
                serials.append(fresh[-1].serial)
        for sample in fresh:
            self._take(sample)
        name = secrets.token_hex(8)
        self._remember(name, fresh)
        self._open.append(OpenLesson(name, request.labels, tuple(serials), fresh))
        return name

    def _sample(self, request: Learn, position: int, labels: bytes, tested: Tested) -> Sample:
        return Sample(
            self.serial(),
            request.X[position],
            request.labels[position],
            self.now,
            request.who,
            request.key,
            position,
            len(request.labels),
            labels,
            bool(tested.scored[position]),
            bool(tested.correct[position]),
            float(tested.strangeness[position]),
        )

    def _receipt(self, request: Learn) -> Receipt | None:
        if request.key is None:
            return None
        receipt = self.receipt(request.key)
        waiting = [sample for sample in self.session.waiting() if sample.key == request.key]
        totals = {sample.total for sample in waiting}
        labels = {sample.labels for sample in waiting}
        if receipt is not None:
            totals.add(receipt.total)
            labels.add(receipt.labels)
        if totals - {len(request.labels)}:
            raise conflict(
                f"this idempotency key was used for a request of {totals.pop()} samples, "
                f"this one has {len(request.labels)}; use a new key for a new request"
            )
        if labels - {b"", labels_digest(request.labels)}:
            raise conflict(
                "this idempotency key was used for a request with other labels; use a new key for a new request"
            )
        return receipt

    def receipt(self, key: bytes) -> Receipt | None:
        """Return what was counted under a key, in this group or before."""
        return self.changes.receipts.get(key) or self._database.receipt(key)

    def _waiting_under(self, key: bytes | None) -> dict[int, int]:
        """Return the positions, and serials, of samples that came with this key and still wait."""
        if key is None:
            return {}
        return {sample.position: sample.serial for sample in self.session.waiting() if sample.key == key}

    def _take(self, sample: Sample) -> None:
        """Let a sample wait until its class is large enough, and then the whole class go on."""
        if sample.label in self.session.classes:
            self._settle(sample)
            return
        together = (*self.session.pending.pop(sample.label, ()), sample)
        if different(together) < self.session.facts.min_samples:
            self.session.pending[sample.label] = together
            return
        first = together[0].at
        self.set_class(sample.label, ClassRecord(sample.label, 0, first, first))
        for waited in together:
            self._settle(waited)

    def _settle(self, sample: Sample) -> None:
        """Count a sample as durable; it will be learnt with the others that have gathered."""
        self._gathered.append(sample)
        self.set_class(sample.label, self.session.classes[sample.label].more(1, sample.at))
        if sample.key is not None:
            receipt = self.receipt(sample.key) or Receipt.none(sample.total, sample.labels)
            self.changes.receipts[sample.key] = receipt.plus([sample.position])

    def _flush(self) -> None:
        """Learn what has gathered, and note it."""
        gathered, self._gathered = self._gathered, []
        for start in range(0, len(gathered), BATCH):
            batch = gathered[start : start + BATCH]
            self.session.learner.partial_fit(stacked(batch), [sample.label for sample in batch])
        asked = [sample for sample in gathered if sample.scored]
        right = sum(sample.correct for sample in asked)
        if asked:
            strangeness = np.array([sample.strangeness for sample in asked])
            self.session = replace(
                self.session,
                curve=self.session.curve.add(len(asked), right, self.now),
                novelty=self.session.novelty.add(strangeness),
            )
        lines = Counter((sample.label, sample.who) for sample in gathered)
        scored = Counter((sample.label, sample.who) for sample in asked)
        correct = Counter((sample.label, sample.who) for sample in asked if sample.correct)
        for line, count in lines.items():
            self.note("learn", line[0], count, line[1], scored=scored[line], correct=correct[line])

    def _remember(self, name: str, samples: list[Sample]) -> None:
        lessons = self.session.lessons
        for old in [key for key, lesson in lessons.items() if lesson.until < self.now]:
            del lessons[old]
        if samples:
            lessons[name] = Remembered(tuple(samples), self.now + LESSON_SECONDS)
        while len(lessons) > LESSONS or sum(len(lesson.samples) for lesson in lessons.values()) > LESSON_ROWS:
            del lessons[next(iter(lessons))]

    # -- the end --------------------------------------------------------------------------------------------

    def finish(self) -> dict[str, Lesson]:
        """Learn the rest; return the answers to the lessons by their names."""
        self._flush()
        waiting = {sample.serial for sample in self.session.waiting()}
        return {opened.name: opened.answer(self.session, waiting) for opened in self._open}

    # -- inside ---------------------------------------------------------------------------------------------

    def serial(self) -> int:
        """Return the number of the next sample."""
        self.session = replace(self.session, serial=self.session.serial + 1)
        return self.session.serial

    def set_class(self, label: str, record: ClassRecord | None) -> None:
        """Write down a class, or strike it out."""
        self.changes.classes[label] = record
        if record is None:
            self.session.classes.pop(label, None)
        else:
            self.session.classes[label] = record

    def note(
        self, action: str, label: str, count: int, who: str, *, scored: int = 0, correct: int = 0
    ) -> None:
        """Add a line to the audit log."""
        self.changes.log.append(LogEntry(self.now, action, label, count, scored, correct, who))
