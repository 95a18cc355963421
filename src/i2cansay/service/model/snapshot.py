"""What predictions use: a committed state that is never changed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from i2cansay.core.types import Features, Float64
from i2cansay.learners.base import OnlineClassifier
from i2cansay.service.errors import conflict
from i2cansay.service.model.curve import Curve
from i2cansay.service.model.model_state import ModelState
from i2cansay.service.model.novelty import ClassSpread, Novelty
from i2cansay.service.model.taught_rows import PrequentialScores

NEW = 0.95
"""From this `unknown` score on, the verdict is "new"."""
SURE = 0.6
"""Below this probability, the verdict is "unsure"."""


def finite_scores(learner: OnlineClassifier, X: Features) -> Features:
    """Return the scores, (n, c), of rows `X`, (n, d); raise ServiceError where they are not numbers."""
    with np.errstate(all="ignore"):  # what overflows is refused in a moment
        scores = learner.class_scores(X)
    if not np.isfinite(scores).all():
        raise conflict(
            "the model has no finite score for this sample, which is too far from all it was taught; "
            "forget classes that were taught such samples, or make the model anew"
        )
    return scores


@dataclass(frozen=True)
class ClassProbability:
    """A class and its probability."""

    label: str
    probability: float


@dataclass(frozen=True)
class Prediction:
    """The answer for one sample.

    Attributes
    ----------
    label, probability
        The likeliest class.
    unknown : float
        From 0, as near as any known sample, to 1, farther than all of them.
    verdict : {"sure", "unsure", "new"}
    top : tuple of ClassProbability
        The likeliest classes, the likeliest first.
    """

    label: str
    probability: float
    unknown: float
    verdict: Literal["sure", "unsure", "new"]
    top: tuple[ClassProbability, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the answer as it is sent; `asdict` takes several times as long, and predictions are frequent."""
        return {**self.__dict__, "top": [guess.__dict__ for guess in self.top]}


@dataclass(frozen=True)
class ClassLine:
    """A class as it is listed; `durable` says whether its samples survive a crash."""

    label: str
    count: int
    durable: bool
    first: float
    last: float


@dataclass(frozen=True)
class Snapshot:
    """A model after some commit, with its pending rows."""

    version: int
    learner: OnlineClassifier | None
    classes: tuple[ClassLine, ...]
    curve: Curve
    novelty: Novelty
    width: int | None

    @classmethod
    def of(cls, state: ModelState) -> Snapshot:
        """Freeze a state."""
        lines = [ClassLine(r.label, r.count, True, r.first, r.last) for r in state.classes.values()]
        lines += [
            ClassLine(label, state.count(label), False, pieces[0].source.at, pieces[-1].source.at)
            for label, pieces in state.pending.items()
        ]
        lines.sort(key=lambda line: line.label)
        live = state.live()
        if live is not None:  # learners prepare parts on first use: here, not in a reader
            finite_scores(live, np.zeros((1, live.n_features_in_), dtype=np.float32))
        return cls(state.version, live, tuple(lines), state.curve, state.novelty, width=state.width)

    @cached_property
    def _spread(self) -> ClassSpread | None:
        return None if self.learner is None else ClassSpread.of(self.learner)

    def _strangeness(self, X: Features, scores: Features, probabilities: Float64) -> Float64:
        if self._spread is not None:
            return self._spread.strangeness(X, scores)
        doubt: Float64 = 2 * (1 - probabilities.max(axis=1))
        return doubt

    def predict(self, X: Features, top: list[int]) -> list[Prediction]:
        """Return the answer for each row of `X`, (n, d), with its `top` classes, (n,); some class must be known."""
        assert self.learner is not None
        scores = finite_scores(self.learner, X)
        probabilities = self.learner._temperature.probabilities(scores)
        unknown = self.novelty.unknown(self._strangeness(X, scores, probabilities)).tolist()
        labels = self.learner.classes_.tolist()
        order = (-scores).argsort(axis=1, kind="stable")
        answers = []
        for row, (columns, wanted) in enumerate(zip(order, top, strict=True)):
            guesses = tuple(
                ClassProbability(labels[c], float(probabilities[row, c])) for c in columns[:wanted].tolist()
            )
            best = guesses[0]
            verdict: Literal["sure", "unsure", "new"] = "sure" if best.probability >= SURE else "unsure"
            if unknown[row] >= NEW:
                verdict = "new"
            answers.append(Prediction(best.label, best.probability, unknown[row], verdict, guesses))
        return answers

    def test(self, X: Features, labels: list[str]) -> PrequentialScores:
        """Predict rows, (n, d), that are about to be learnt; only those of known classes count."""
        if self.learner is None:
            return PrequentialScores.nothing(len(X))
        scores = finite_scores(self.learner, X)
        probabilities = self.learner._temperature.probabilities(scores)
        known = np.array([line.label for line in self.classes])
        given = np.array(labels)
        return PrequentialScores(
            np.isin(given, known),
            self.learner.classes_[scores.argmax(axis=1)] == given,
            self._strangeness(X, scores, probabilities),
        )
