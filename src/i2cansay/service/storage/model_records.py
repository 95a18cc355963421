"""Records in a model's file besides the learner's state: facts, classes, log entries."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from i2cansay.image_learner.identity import EncoderIdentity
from i2cansay.learners import learner_class, make_learner
from i2cansay.learners.base import OnlineClassifier
from i2cansay.service.errors import refused

# Lower case and no dots: on every file system, two names are two files, and none leaves the folder.
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")

LARGEST_WHOLE = 2**53


def check_name(name: str) -> str:
    """Return a model's name that is safe as a file name.

    Examples
    --------
    >>> check_name("line-3")
    'line-3'
    """
    if not NAME.fullmatch(name):
        raise refused(
            f"a model's name is up to 63 of a-z, 0-9, - and _, beginning with a letter or digit; got {name!r}"
        )
    return name


def model_name(text: str) -> str:
    """Return a valid name for a model that is as near to `text` as can be, as that of a file.

    Examples
    --------
    >>> model_name("Line 3 (new)"), model_name("...")
    ('line-3-new', 'model')
    """
    plain = re.sub(r"[^a-z0-9_]+", "-", text.lower()).strip("-_")
    return check_name(plain[:63] or "model")


@dataclass(frozen=True)
class ModelFacts:
    """The facts of a model, fixed when it is made.

    Attributes
    ----------
    name, learner : str
    parameters : dict
        Of the learner, where they are not its defaults.
    encoder : EncoderIdentity or None
        None for a model that takes features only.
    min_samples : int
        A class of fewer samples is not written.
    created : float
        Seconds since 1970.
    unproven : str
        What an imported file could not prove, "" for a model that was made here.
    """

    name: str
    learner: str
    parameters: dict[str, Any]
    encoder: EncoderIdentity | None
    min_samples: int
    created: float
    unproven: str = ""

    @property
    def least_width(self) -> int:
        """The width of the features as far as it is known before the first: that of their blocks, or 1."""
        return sum(self.parameters.get("blocks") or (1,))

    def untried(self) -> OnlineClassifier:
        """Return the learner without trying its parameters, to ask it for its size."""
        if ":" in self.learner:  # a request must not make the service import a module
            raise refused(f"there is no learner {self.learner!r}; the service takes names without a module")
        for name, value in self.parameters.items():
            if isinstance(value, int) and abs(value) > LARGEST_WHOLE:  # beyond what arrays of numbers hold
                raise refused(
                    f"{name} is a whole number of {len(str(value))} digits, more than a parameter has"
                )
        try:
            return make_learner(self.learner, **self.parameters)
        except ValueError as error:
            raise refused(f"the learner {self.learner!r} cannot be made: {error}") from error

    def make(self) -> OnlineClassifier:
        """Return an untaught learner; raise ServiceError where its parameters are wrong or it may write samples."""
        made = self.untried()
        try:
            # The first batch checks the parameters: a trial now saves an error at the first lesson.
            narrow, rows = dict(self.parameters), np.eye(2)
            if blocks := self.parameters.get(
                "blocks"
            ):  # at their true widths a trial takes as much as a model
                narrow["blocks"], rows = (1,) * len(blocks), np.eye(2, len(blocks))
            trial = make_learner(self.learner, **narrow)
            trial.partial_fit(rows, ["a", "b"]).class_scores(rows)
        except Exception as error:  # a parameter of the wrong type may raise anything
            raise refused(f"the learner {self.learner!r} cannot be made: {error}") from error
        if made.stores_samples or not made.streaming or not learner_class(self.learner).streaming:
            raise refused(
                f"the learner {self.learner!r} stores samples; the service takes only learners that do not"
            )
        if made.needs_boundaries:
            raise refused(
                f"the learner {self.learner!r} has to be told where sessions end, and nobody tells the service"
            )
        if made.fades:
            raise refused(
                f"the learner {self.learner!r} lets samples fade, so that the mean of a class can be its latest "
                "sample, and the service writes no single samples; use forgetting=0"
            )
        return made

    def to_json(self) -> str:
        """Return the facts as text."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> ModelFacts:
        """Return the facts as `to_json` wrote them."""
        stored = json.loads(text)
        encoder = stored.pop("encoder")
        return cls(**stored, encoder=None if encoder is None else EncoderIdentity(**encoder))


@dataclass(frozen=True)
class ClassRecord:
    """A class: how many samples it has, and when the first and the last one were taught.

    `number` identifies the class: it stays when the class is renamed, and is not used again when it is forgotten.
    """

    label: str
    count: int
    first: float
    last: float
    number: int = 0

    def more(self, count: int, at: float) -> ClassRecord:
        """Return the record with `count` more samples, or fewer."""
        return replace(self, count=self.count + count, last=max(self.last, at))


@dataclass(frozen=True)
class LogEntry:
    """A line of the audit log: what was done, when and by whom; never the samples.

    Attributes
    ----------
    action : {"create", "import", "learn", "forget", "rename", "undo", "move"}
        After a "move" there is a "learn" of the same samples, once they are on the disk again.
    label : str
        The class; "old -> new" for a rename or a move.
    count : int
        Samples.
    scored, correct : int
        How many of them were predicted before they were learnt, and how many correctly.
    who : str
        The name of the token, "" without one.
    """

    at: float
    action: str
    label: str
    count: int
    scored: int
    correct: int
    who: str
