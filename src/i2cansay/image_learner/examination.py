"""How often a model is right on labelled samples, which mistakes it makes, and whether it keeps its word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from i2cansay.core.types import Features, Float64, Rows
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.labels import Label, as_labels, same_kind

CALIBRATION_BINS = 10


class Confusion(NamedTuple):
    """How often each label was taken for each class.

    Attributes
    ----------
    labels : ndarray of shape (m,)
        All labels of the samples and all classes of the model, sorted.
    counts : ndarray of shape (m, m), int64
        Row: the label; column: what was predicted.
    """

    labels: NDArray[Any]
    counts: Rows


class ClassResult(NamedTuple):
    """One class in an examination: how many samples of it there were, and how they were taken."""

    label: Label
    samples: int
    recall: float
    precision: float


class Examined(NamedTuple):
    """The answer to one sample: the probability of each class, the classes it may be of, and a verdict."""

    probabilities: Float64
    set: NDArray[np.bool_]
    verdict: str


@dataclass(frozen=True)
class Examination:
    """The answers of a model to labelled samples.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        What the model knows, sorted.
    labels : ndarray of shape (n,)
        The labels of the samples; some may be of no class that was taught.
    probabilities : ndarray of shape (n, n_classes)
    sets : ndarray of shape (n, n_classes), bool
        The classes that each sample may be of, at the stated error.
    verdicts : ndarray of shape (n,)
    indices : ndarray of shape (n,)
        The place of each sample among those that were given.
    skipped : mapping from int to str
        Why others could not be read, by their place.
    error, new_error : float
        What was promised of sets and of sure answers, and of samples called new.

    Examples
    --------
    >>> from i2cansay.learners import make_learner
    >>> learner = make_learner("ncm").partial_fit([[0.0], [1.0], [8.0], [9.0]], ["low", "low", "high", "high"])
    >>> found = Examination.of(learner, np.array([[0.5], [7.0], [2.0]]), ["low", "high", "high"])
    >>> round(found.accuracy, 2), found.confusion.counts.tolist(), found.mistakes().tolist()
    (0.67, [[1, 1], [0, 1]], [2])
    """

    classes: NDArray[Any]
    labels: NDArray[Any]
    probabilities: Float64
    sets: NDArray[np.bool_]
    verdicts: NDArray[np.str_]
    indices: Rows
    skipped: Mapping[int, str] = field(default_factory=dict)
    error: float = 0.05
    new_error: float = 0.05

    @classmethod
    def of(
        cls,
        learner: OnlineClassifier,
        X: Features,
        y: ArrayLike,
        *,
        error: float = 0.05,
        new_error: float = 0.05,
    ) -> Examination:
        """Ask a learner about features, (n, d), with labels (n,)."""
        rows = examined_rows(learner, X, error, new_error) if len(X) else []
        return cls.from_rows(
            learner.classes_, y, rows, indices=np.arange(len(X)), error=error, new_error=new_error
        )

    @classmethod
    def from_rows(
        cls, classes: NDArray[Any], y: ArrayLike, rows: Sequence[Examined], **facts: Any
    ) -> Examination:
        """Put together what was found row by row; `facts` are the other attributes."""
        if not rows:
            raise ValueError("there is no sample to examine the model with")
        labels = as_labels(y)
        if not same_kind(labels.dtype.kind, classes.dtype.kind):
            raise ValueError(
                f"the model's labels are like {classes[0].item()!r}, these are like {labels[0].item()!r}"
            )
        probabilities, sets, verdicts = zip(*rows, strict=True)
        return cls(classes, labels, np.stack(probabilities), np.stack(sets), np.array(verdicts), **facts)

    @cached_property
    def predicted(self) -> NDArray[Any]:
        """What the model takes each sample for, (n,)."""
        best: NDArray[Any] = self.classes[self.probabilities.argmax(axis=1)]
        return best

    @cached_property
    def right(self) -> NDArray[np.bool_]:
        """Whether that is the label, (n,)."""
        right: NDArray[np.bool_] = self.predicted == self.labels
        return right

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Whether the label is of a class that was taught, (n,)."""
        return np.isin(self.labels, self.classes)

    @property
    def accuracy(self) -> float:
        """Share of samples whose label is predicted; one of a class never taught counts as wrong."""
        return float(self.right.mean())

    @cached_property
    def confusion(self) -> Confusion:
        """How often each label was taken for each class."""
        every = np.union1d(self.classes, self.labels)
        counts = np.zeros((len(every), len(every)), dtype=np.int64)
        np.add.at(counts, (np.searchsorted(every, self.labels), np.searchsorted(every, self.predicted)), 1)
        return Confusion(every, counts)

    def by_class(self) -> list[ClassResult]:
        """Return recall and precision of each label; NaN where there is nothing to take a share of."""
        labels, counts = self.confusion
        given, answered, right = counts.sum(axis=1), counts.sum(axis=0), counts.diagonal()
        return [
            ClassResult(label, int(n), _share(hit, n), _share(hit, m))
            for label, n, m, hit in zip(labels.tolist(), given, answered, right, strict=True)
        ]

    def confused(self) -> list[tuple[Label, Label, int]]:
        """Return which label was taken for which class and how often, the most frequent first."""
        labels, counts = self.confusion
        pairs = [
            (labels[row].item(), labels[column].item(), int(counts[row, column]))
            for row, column in zip(*np.nonzero(counts), strict=True)
            if row != column
        ]
        return sorted(pairs, key=lambda pair: -pair[2])

    def mistakes(self) -> Rows:
        """Return the rows of wrong answers, (m,), those given with the highest probability first."""
        wrong = np.flatnonzero(~self.right)
        return wrong[np.argsort(-self.probabilities[wrong].max(axis=1), kind="stable")]

    # -- does it keep its word? -----------------------------------------------------------------------------

    @property
    def calibration_error(self) -> float:
        """Expected calibration error: how far the top probability is from the share of right answers.

        The mean over ten bins of equal width, weighted by their samples, of samples of known classes.
        """
        top, right = self.probabilities.max(axis=1)[self.known], self.right[self.known]
        if not len(top):
            return float("nan")
        bins = np.minimum((top * CALIBRATION_BINS).astype(int), CALIBRATION_BINS - 1)
        gaps = np.bincount(bins, weights=top - right, minlength=CALIBRATION_BINS)
        return float(np.abs(gaps).sum() / len(top))

    def share(self, verdict: str, *, known: bool = True) -> float:
        """Return the share of samples with this verdict, of known classes or of classes never taught."""
        return _mean(self.verdicts[self.known == known] == verdict)

    @property
    def sure_error(self) -> float:
        """Share of wrong answers among those called sure, of known classes; NaN where none is."""
        return _mean(~self.right[self.known & (self.verdicts == "sure")])

    @property
    def coverage(self) -> float:
        """Share of samples of known classes whose label is in their set."""
        rows = np.flatnonzero(self.known)
        return _mean(self.sets[rows, np.searchsorted(self.classes, self.labels[rows])])

    @property
    def set_size(self) -> float:
        """Mean number of classes in a set, of known classes."""
        return _mean(self.sets[self.known].sum(axis=1))


def examined_rows(learner: OnlineClassifier, X: Features, error: float, new_error: float) -> list[Examined]:
    """Return the answer of a learner to each row of `X`, (n, d)."""
    return [
        Examined(*row)
        for row in zip(
            learner.predict_proba(X),
            learner.predict_set(X, error=error),
            learner.verdicts(X, error=error, new_error=new_error).tolist(),
            strict=True,
        )
    ]


def _share(part: Any, whole: Any) -> float:
    return float(part / whole) if whole else float("nan")


def _mean(values: NDArray[Any]) -> float:
    return float(values.mean()) if len(values) else float("nan")
