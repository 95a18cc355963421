"""A model that learns and predicts: one writer commits requests in groups, and readers never wait for it."""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from i2cansay.service.errors import ServiceError, conflict, not_found, not_stored, refused
from i2cansay.service.limits import Limits
from i2cansay.service.model.batcher import Batcher
from i2cansay.service.model.lesson_list import LessonLine, lesson_list
from i2cansay.service.model.model_state import ModelState
from i2cansay.service.model.requests import Answer, Question, Request, lesson_of
from i2cansay.service.model.snapshot import Predictions, Snapshot
from i2cansay.service.model.taught_rows import PrequentialScores
from i2cansay.service.model.transaction import Transaction
from i2cansay.service.model.undo import can_undo
from i2cansay.service.service_metrics import ServiceMetrics
from i2cansay.service.storage.annotation_records import AnnotationRecord
from i2cansay.service.storage.database import Damaged, Database, reading
from i2cansay.service.storage.database_file import copy_of
from i2cansay.service.storage.model_records import LogEntry


class ServedModel:
    """A model of the service.

    Attributes
    ----------
    facts : ModelFacts
    snapshot : Snapshot
        The latest committed state; replaced, never changed.
    read_only : str
        Why the model cannot learn, "" where it can.
    """

    def __init__(self, path: Path, limits: Limits, metrics: ServiceMetrics) -> None:
        """Open the model at `path`; raise Damaged where it cannot be read, for whatever reason."""
        self.path = path
        self.read_only = ""
        self._limits = limits
        self._metrics = metrics
        with reading():
            self._database = self._open_database()
            try:
                self._state = ModelState.read(self._database, path.stem, limits.state_bytes)
                self.snapshot = Snapshot.of(self._state)
                if not self.read_only:
                    self._database.sweep()  # after a crash the log may hold an older state
            except BaseException:
                self._database.close()
                raise
        self.facts = self._state.facts
        self._opened, self._changes = secrets.token_hex(4), 0
        self._listed: tuple[int, list[LessonLine]] = 0, []  # nothing is in memory yet
        self._doubtful = False
        self._deleted = False
        name = f"model {self.facts.name}"
        together, waiting = limits.together, limits.waiting
        self._teaching = Batcher[Request, Answer](name, self._teach, waiting=waiting, together=together)
        self._asking = Batcher[Question, Predictions](
            name,
            self._ask_each,
            waiting=waiting,
            together=limits.rows,
            weight=lambda question: len(question.X),
        )

    def _open_database(self) -> Database:
        try:
            return Database(self.path)
        except sqlite3.OperationalError as error:
            if "readonly" not in str(error) and "unable to open" not in str(error):
                raise
            self.read_only = f"the data folder cannot be written ({error})"
        return Database.in_memory(copy_of(self.path))

    # -- asking ---------------------------------------------------------------------------------------------

    def ask(self, question: Question) -> Future[Predictions]:
        """Queue a question; the future gives its predictions with the snapshot that made them."""
        with self._unless_deleted():
            return self._asking.submit(question)

    def _ask_each(self, questions: list[Question]) -> Sequence[Predictions | Exception]:
        """Answer questions together; where that fails, alone, so that one does not fail the others."""
        try:
            return self._ask(questions)
        except Exception as error:
            if len(questions) == 1:
                return [error]
        return [answer for question in questions for answer in self._ask_each([question])]

    def _ask(self, questions: list[Question]) -> list[Predictions | Exception]:
        snapshot = self.snapshot
        if snapshot.learner is None:
            return [conflict("the model knows no class yet; teach it one")] * len(questions)
        # Rows of another width may have come in before the first lesson set the width.
        fitting = [question for question in questions if question.X.shape[1] == snapshot.width]
        predictions = iter(snapshot.predict(fitting) if fitting else [])
        self._metrics.predicted(sum(len(question.X) for question in fitting))
        return [
            Predictions(next(predictions), snapshot)
            if question.X.shape[1] == snapshot.width
            else refused(f"expected features of width {snapshot.width}, got {question.X.shape[1]}")
            for question in questions
        ]

    # -- teaching -------------------------------------------------------------------------------------------

    def teach(self, request: Request) -> Future[Answer]:
        """Queue a change; the future gives its result once it is on the disk."""
        if self.read_only:
            raise not_stored(self.read_only)
        with self._unless_deleted():
            return self._teaching.submit(request)

    def _teach(self, requests: list[Request]) -> Sequence[Answer | Exception]:
        with self._metrics.committing(len(requests)):
            try:
                return self._commit(requests)
            except ServiceError as error:
                return [error] * len(requests)
            except Exception:
                if len(requests) == 1:
                    raise
        # An unforeseen error in one request must not fail the others.
        return [answer for request in requests for answer in self._teach_alone(request)]

    def _teach_alone(self, request: Request) -> Sequence[Answer | Exception]:
        try:
            return self._commit([request])
        except Exception as error:
            return [error]

    def _commit(self, requests: list[Request]) -> Sequence[Answer | Exception]:
        try:
            self._check_doubtful()
            transaction = Transaction(self._state, self._database, self._limits)
            outcomes: list[Answer | str | Exception] = []
            for request, tested in zip(requests, self._test(requests), strict=True):
                try:
                    outcomes.append(transaction.apply(request, tested))
                except ServiceError as error:
                    outcomes.append(error)
            lessons = transaction.finish()
            state = transaction.state
            # Made before the commit: nothing may fail after it, or the answer would be wrong.
            snapshot = Snapshot.of(state)
            if transaction.changes:  # samples that only wait leave nothing to write
                # Views, not copies: the learner of a committed state is never changed, a transaction copies it.
                arrays = state.learner._whole_state()
                self._database.commit(state.version, arrays, state.notes(), transaction.changes)
        except (sqlite3.Error, Damaged) as error:
            self._doubtful = True
            self._metrics.storage_failed()
            raise not_stored(str(error)) from error
        self._show(state, snapshot)
        self._metrics.learnt(sum(lesson.learnt for lesson in lessons.values()))
        return [lessons[outcome] if isinstance(outcome, str) else outcome for outcome in outcomes]

    def _test(self, requests: list[Request]) -> list[PrequentialScores | None]:
        """Predict all rows that are about to be learnt, in one call."""
        width = self.snapshot.width
        lessons = [lesson_of(request) for request in requests]
        asked = [lesson for lesson in lessons if lesson is not None and lesson.X.shape[1] == width]
        if not asked:
            return [None] * len(requests)
        labels = [label for lesson in asked for label in lesson.labels]
        tested = self.snapshot.test(np.concatenate([lesson.X for lesson in asked]), labels)
        ends = iter(np.cumsum([len(lesson.labels) for lesson in asked]).tolist())
        parts: list[PrequentialScores | None] = []
        for lesson in lessons:
            if lesson is not None and lesson.X.shape[1] == width:
                end = next(ends)
                parts.append(tested.select(slice(end - len(lesson.labels), end)))
            else:
                parts.append(None)
        return parts

    def _check_doubtful(self) -> None:
        """After a failed commit, find out whether it reached the disk after all."""
        if not self._doubtful:
            return
        with reading():
            if self._database.reopen():
                self._doubtful = False
                return
            pending = self._state.pending
            state = ModelState.read(self._database, self.facts.name, self._limits.state_bytes)
            kept = {label: samples for label, samples in pending.items() if label not in state.classes}
            state = replace(state, pending=kept, serial=self._state.serial)
            snapshot = Snapshot.of(state)
        self._show(state, snapshot)
        self._doubtful = False

    def _show(self, state: ModelState, snapshot: Snapshot) -> None:
        self._state, self.snapshot = state, snapshot
        self._changes += 1

    # -- the rest -------------------------------------------------------------------------------------------

    @property
    def waiting(self) -> int:
        """How many requests wait to be learnt."""
        return len(self._teaching)

    @property
    def revision(self) -> str:
        """Tells states apart, those that are not on the disk too: it is never the same for two of them.

        Versions alone would be, after a restart or a commit that failed. Ask for it before the state: then the state
        may be later than its revision, and is asked for once more, but never earlier.
        """
        return f"{self._opened}-{self._changes}"

    @property
    def can_undo(self) -> bool:
        """Whether lessons can be taken back."""
        return can_undo(self._state.learner)

    def state(self) -> ModelState:
        """Return the latest committed state."""
        return self._state

    def lessons(self) -> list[LessonLine]:
        """Return the lessons that can be taken back or moved now, the newest first."""
        change, (listed_at, listed) = self._changes, self._listed
        if change != listed_at:  # a list takes a look at every row in memory
            # Not kept with the state, which would keep features in memory that are to go.
            self._listed = change, (listed := lesson_list(self._state))
        now = time.time()
        return [line for line in listed if line.until >= now]

    def log(self, after: int, limit: int) -> list[tuple[int, LogEntry]]:
        """Return lines of the audit log."""
        with self._unless_deleted():
            return self._database.log(after, limit)

    def annotations(self, column: Literal["id", "project", "task"], number: int) -> list[AnnotationRecord]:
        """Return what was taught of an annotation, or of those of a project or a task."""
        with self._unless_deleted():
            return self._database.annotations(column, number)

    def file_bytes(self) -> int:
        """Return the size of the file."""
        try:
            return self.path.stat().st_size
        except OSError as error:
            raise not_found(f"the model {self.facts.name!r} has been deleted") from error

    def backup(self) -> bytes:
        """Return a consistent copy of the file."""
        with self._unless_deleted():
            return self._database.copy()

    @contextmanager
    def _unless_deleted(self) -> Iterator[None]:
        """Raise not_found where something fails because the model has been deleted."""
        try:
            yield
        except (ServiceError, sqlite3.Error) as error:
            if self._deleted:
                raise not_found(f"the model {self.facts.name!r} has been deleted") from error
            raise

    def close(self, *, deleted: bool = False) -> None:
        """Answer the waiting requests, then close the file; `deleted` is what later requests are told."""
        self._deleted = deleted
        self._asking.close()
        self._teaching.close()
        self._database.close()
