"""The state of a model at one moment: what is on the disk, and what is in memory only."""

from __future__ import annotations

import copy
import json
import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from i2cansay.core.types import State
from i2cansay.learners.base import OnlineClassifier
from i2cansay.service.limits import Limits
from i2cansay.service.model.confusion import Confusion
from i2cansay.service.model.curve import Curve
from i2cansay.service.model.size import check_size
from i2cansay.service.model.taught_rows import Integers, TaughtRows, stacked
from i2cansay.service.storage.database import Contents, Damaged, Database
from i2cansay.service.storage.model_records import ClassRecord, ModelFacts


@dataclass(frozen=True)
class UndoableLesson:
    """The rows of a lesson, kept in memory `until` a time so that the lesson can be taken back.

    Without a name nobody can ask for it: rows are kept because others of their class can be taken back.
    """

    rows: TaughtRows
    until: float
    named: bool = True


@dataclass(frozen=True)
class ModelState:
    """A model between two commits. A state is not changed; a transaction works on a copy.

    Attributes
    ----------
    learner : OnlineClassifier
        Knows only the classes with at least `min_samples` samples. A class of one sample would have that sample as
        its mean, and would leave traces in the weights of other classes.
    pending : dict
        The rows of the other classes, in memory only. A crash loses them, and their clients were told so.
    lessons : dict
        Lessons that can be taken back.
    serial, classes_made : int
        The last numbers that were given to a row and to a class.
    """

    facts: ModelFacts
    learner: OnlineClassifier
    version: int = 0
    classes: dict[str, ClassRecord] = field(default_factory=dict)
    curve: Curve = field(default_factory=Curve)
    confusion: Confusion = field(default_factory=Confusion)
    pending: dict[str, tuple[TaughtRows, ...]] = field(default_factory=dict)
    lessons: dict[str, UndoableLesson] = field(default_factory=dict)
    serial: int = 0
    classes_made: int = 0

    @classmethod
    def read(cls, database: Database, name: str, most: int = Limits().state_bytes) -> ModelState:
        """Return the state in a file called `name`; raise errors that `reading` turns into Damaged.

        A learner that takes more than `most` bytes before its first class is not made.
        """
        facts = database.facts()
        if facts.name != name:
            raise Damaged(f"holds the model {facts.name!r}, whose file has another name")
        # Before the learner is tried: some allocate their matrix at once.
        check_size(facts.untried(), facts.least_width, 1, most)
        return cls.of(facts, database.read())

    @classmethod
    def of(cls, facts: ModelFacts, contents: Contents) -> ModelState:
        """Return the state of a file's contents; raise ValueError where they do not fit together."""
        learner = facts.make()
        learner.set_state(contents.state)
        known = [str(label) for label in getattr(learner, "classes_", ())]
        if sorted(known) != sorted(contents.classes):
            raise ValueError("the classes of the learner are not those of the table")
        if small := [r.label for r in contents.classes.values() if r.count < facts.min_samples]:
            raise ValueError(f"it holds the class {small[0]!r}, which has too few samples to be written")
        for label, count in _own_counts(contents.state).items():
            if contents.classes[label].count != count:
                raise ValueError(
                    f"the class {label!r} has {contents.classes[label].count} samples in the table and "
                    f"{count} in the learner"
                )
        numbers = [record.number for record in contents.classes.values()]
        made = max(numbers, default=0)
        state = cls(facts, learner, contents.version, contents.classes, classes_made=made)
        if notes := contents.notes:  # of earlier versions they have a histogram of novelty too
            state = replace(
                state,
                curve=Curve.from_json(notes["curve"]),
                classes_made=notes["classes_made"],
            )
            if "confusion" in notes:  # files of earlier versions have none
                state = replace(state, confusion=Confusion.from_json(notes["confusion"], numbers))
        if len(set(numbers)) < len(numbers) or made > state.classes_made:
            raise ValueError("the numbers of the classes are not as they were given")
        return state

    def notes(self) -> dict[str, Any]:
        """Return what is written besides the learner's own state."""
        return {
            "curve": self.curve.to_json(),
            "classes_made": self.classes_made,
            "confusion": self.confusion.to_json(),
        }

    @property
    def width(self) -> int | None:
        """The width of the features, None before the first."""
        if (width := getattr(self.learner, "n_features_in_", None)) is not None:
            return int(width)
        waiting = self.waiting()
        return waiting[0].X.shape[1] if waiting else None

    def count(self, label: str) -> int:
        """Return how many samples of a class were taught, durable or not."""
        durable = self.classes[label].count if label in self.classes else 0
        return durable + sum(map(len, self.pending.get(label, ())))

    def numbers(self) -> dict[str, int]:
        """Return the numbers of the classes on the disk."""
        return {label: record.number for label, record in self.classes.items()}

    def waiting(self) -> list[TaughtRows]:
        """Return the rows that are in memory only."""
        return [rows for pieces in self.pending.values() for rows in pieces]

    def waiting_serials(self) -> Integers:
        """Return the serials of the rows that are in memory only."""
        waiting = [rows.serials for rows in self.waiting()]
        return np.concatenate(waiting) if waiting else np.zeros(0, np.int64)

    def next(self) -> ModelState:
        """Return a copy for a transaction: its learner may be changed, the other parts are replaced."""
        return replace(
            self,
            learner=copy.deepcopy(self.learner),
            version=self.version + 1,
            classes=dict(self.classes),
            pending=dict(self.pending),
            lessons=dict(self.lessons),
        )

    def live(self) -> OnlineClassifier | None:
        """Return a learner that knows the pending rows too, None where there is no class at all."""
        if not self.classes and not self.pending:
            return None
        if not self.pending:
            return self.learner
        learner = copy.deepcopy(self.learner)
        learner.partial_fit(*stacked(self.waiting()))
        return learner


def _own_counts(state: State) -> dict[str, int]:
    """Return the class counts in a learner's own state; empty where it does not count."""
    found = [array for name, array in state.items() if name.rpartition(".")[2] == "count"]
    if not found:
        return {}
    labels = json.loads(bytes(state["labels"]).decode())["labels"]
    # Imported models may count by weight, and weights add up to a little less than a whole number.
    return {str(label): math.floor(count + 1e-6) for label, count in zip(labels, found[0], strict=True)}
