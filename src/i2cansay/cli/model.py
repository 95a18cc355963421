"""A model file of the shell commands: a learner and the columns it was taught."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from i2cansay.learners import learner_class, make_learner
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.lessons import check_takes_lessons
from i2cansay.learners.model_file import load_with_extra, save

if TYPE_CHECKING:
    from i2cansay.features import FeatureFile

COLUMNS = "columns"


@dataclass
class TaughtModel:
    """A learner and, where it was taught from CSV, the names of its columns."""

    learner: OnlineClassifier
    columns: tuple[str, ...] | None = None

    @classmethod
    def new(cls, learner: str, parameters: dict[str, Any]) -> TaughtModel:
        """Return a model that has seen nothing."""
        return cls(make_learner(learner, **parameters))

    @classmethod
    def open(cls, path: Path, own: str | None = None) -> TaughtModel:
        """Read a model file, taught from the shell or saved from Python; `own` names a learner that is not ours."""
        learner, extra = load_with_extra(path, learner_class(own) if own else None)
        if set(extra) - {COLUMNS}:
            raise ValueError(
                f"{path} holds a learner of images; teach and ask it with ImageLearner in Python"
            )
        return cls(learner, tuple(json.loads(extra[COLUMNS])) if COLUMNS in extra else None)

    def learn(self, file: FeatureFile, batch_size: int) -> int:
        """Learn the rows of a file in their order; return how many."""
        check_takes_lessons(self.learner)
        y = file.labels()
        file = file.ordered_as(self.columns)
        if self.learner.label_kind == "U":  # a label 7 among names is the name "7"
            y = y.astype(str)
        for start in range(0, len(y), batch_size):
            self.learner.partial_fit(file.X[start : start + batch_size], y[start : start + batch_size])
        self.columns = self.columns or file.columns
        return len(y)

    def save(self, path: Path) -> None:
        """Write the model file, whole or not at all."""
        save(self.learner, path, extra={COLUMNS: json.dumps(self.columns)} if self.columns else None)
