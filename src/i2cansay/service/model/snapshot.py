"""What predictions use: a committed state that is never changed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress, islice
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.types import Features, Float64
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.likeliest import likeliest
from i2cansay.service.errors import conflict
from i2cansay.service.model.class_map import ClassMap
from i2cansay.service.model.curve import Curve
from i2cansay.service.model.model_state import ModelState
from i2cansay.service.model.requests import Question
from i2cansay.service.model.taught_rows import Integers, PrequentialScores
from i2cansay.service.storage.model_records import ClassRecord

Verdict: TypeAlias = Literal["sure", "unsure", "new"]


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


# Not frozen, as one that is takes four times as long to make.
@dataclass
class ClassProbability:
    """A class and its probability."""

    label: str
    probability: float


@dataclass
class Prediction:
    """The answer for one sample.

    Attributes
    ----------
    label, probability
        The likeliest class.
    verdict : {"sure", "unsure", "new"}
        What `OnlineClassifier.verdicts` says, at the error rates that were asked for.
    set_size : int
        How many classes are possible: the right one is among them, but for the error rate.
    set : tuple of str
        The likeliest of them, as many as `top` has at most.
    top : tuple of ClassProbability
        The likeliest classes, the likeliest first.
    novelty : float or None
        How little it is like any class, larger is stranger; None where the learner does not tell.
    """

    label: str
    probability: float
    verdict: Verdict
    set_size: int
    set: tuple[str, ...]
    top: tuple[ClassProbability, ...]
    novelty: float | None = None

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
    """A model after some commit, with its pending rows.

    Attributes
    ----------
    records : mapping from str to ClassRecord
        Classes on the disk.
    waiting : tuple of ClassLine
        Classes in memory only.
    """

    version: int
    learner: OnlineClassifier | None
    records: Mapping[str, ClassRecord]
    waiting: tuple[ClassLine, ...]
    curve: Curve
    width: int | None

    @classmethod
    def of(cls, state: ModelState) -> Snapshot:
        """Freeze a state."""
        waiting = tuple(
            ClassLine(label, state.count(label), False, pieces[0].source.at, pieces[-1].source.at)
            for label, pieces in state.pending.items()
        )
        live = state.live()
        if live is not None:  # learners prepare parts on first use: here, not in a reader
            finite_scores(live, np.zeros((1, live.n_features_in_), dtype=np.float32))
        return cls(state.version, live, state.classes, waiting, state.curve, state.width)

    @property
    def n_classes(self) -> int:
        """How many classes there are, on the disk or not."""
        return len(self.records) + len(self.waiting)

    @cached_property
    def classes(self) -> tuple[ClassLine, ...]:
        """The classes by label; listed when they are asked for, as most snapshots are replaced before."""
        lines = [ClassLine(r.label, r.count, True, r.first, r.last) for r in self.records.values()]
        return tuple(sorted([*lines, *self.waiting], key=lambda line: line.label))

    @cached_property
    def tested(self) -> int:
        """On how many samples verdicts rest: predicted before they were learnt; those of long ago count less."""
        return 0 if self.learner is None else round(self.learner._evidence.weight)

    @cached_property
    def class_map(self) -> ClassMap:
        """The classes in two dimensions."""
        if self.learner is None:
            return ClassMap()
        return ClassMap.of(self.learner, {line.label: line.count for line in self.classes})

    def predict(self, questions: Sequence[Question]) -> list[list[Prediction]]:
        """Return the answers to each question, one for each of its rows; some class must be known."""
        assert self.learner is not None
        X = np.concatenate([question.X for question in questions])
        scores = finite_scores(self.learner, X)
        probabilities = self.learner._temperature.probabilities(scores)
        novelty = self.learner.novelty(X) if hasattr(self.learner, "novelty") else None
        return self._answers(questions, scores, probabilities, novelty)

    def _answers(
        self,
        questions: Sequence[Question],
        scores: Features,
        probabilities: Float64,
        novelty: Float64 | None,
    ) -> list[list[Prediction]]:
        """Answer all questions from the scores of their rows, one after the other in (n, c)."""
        assert self.learner is not None
        verdicts, sets = self._verdicts_and_sets(questions, probabilities, novelty)
        names = self.learner.classes_.tolist()
        order = likeliest(scores, max(question.top for question in questions))
        # Lists, for all rows at once: one number at a time out of an array takes longer than the prediction.
        columns = order.tolist()
        shares = np.take_along_axis(probabilities, order, axis=1).tolist()
        possible = np.take_along_axis(sets, order, axis=1).tolist()
        sizes = sets.sum(axis=1).tolist()
        strange = [None] * len(columns) if novelty is None else _finite_or_none(novelty)
        rows = iter(zip(columns, shares, possible, verdicts, sizes, strange, strict=True))
        answers: list[list[Prediction]] = []
        for question in questions:
            answers.append([])
            for places, likely, in_set, verdict, size, novel in islice(rows, len(question.X)):
                labels = [names[place] for place in places[: question.top]]
                guesses = tuple(map(ClassProbability, labels, likely))
                chosen = tuple(compress(labels, in_set))
                answers[-1].append(Prediction(labels[0], likely[0], verdict, size, chosen, guesses, novel))
        return answers

    def _verdicts_and_sets(
        self, questions: Sequence[Question], probabilities: Float64, novelty: Float64 | None
    ) -> tuple[list[Verdict], NDArray[np.bool_]]:
        """Return the verdict, (n,), and the set, (n, c), for each row at the error rates of its question."""
        assert self.learner is not None
        # Not by `verdicts` and `predict_set`: both would compute the scores again.
        evidence = self.learner._evidence
        verdicts = np.empty(len(probabilities), dtype=object)
        sets = np.empty(probabilities.shape, dtype=bool)
        by_rates: dict[tuple[float, float], list[Integers]] = {}
        start = 0
        for question in questions:
            rows = np.arange(start, start := start + len(question.X))
            by_rates.setdefault((question.error, question.new_error), []).append(rows)
        for (error, new_error), parts in by_rates.items():
            rows = np.concatenate(parts)
            shares, strange = probabilities[rows], None if novelty is None else novelty[rows]
            verdicts[rows] = evidence.verdicts(shares, strange, error=error, new_error=new_error)
            sets[rows] = evidence.sets(shares, error)
        return verdicts.tolist(), sets

    def test(self, X: Features, labels: list[str]) -> PrequentialScores:
        """Predict rows, (n, d), that are about to be learnt; only those of known classes count."""
        if self.learner is None:
            return PrequentialScores.nothing(len(X))
        best = self.learner.classes_[finite_scores(self.learner, X).argmax(axis=1)].tolist()
        known = self.records.keys() | {line.label for line in self.waiting}
        return PrequentialScores(
            np.array([label in known for label in labels]),
            np.array([one == other for one, other in zip(best, labels, strict=True)]),
            np.array([self.records[label].number if label in self.records else 0 for label in best]),
        )


def _finite_or_none(values: Float64) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values.tolist()]


class Predictions(list[Prediction]):
    """The predictions of one question, and the snapshot that made them: the model may have learnt since."""

    def __init__(self, found: Iterable[Prediction], snapshot: Snapshot) -> None:
        super().__init__(found)
        self.snapshot = snapshot
