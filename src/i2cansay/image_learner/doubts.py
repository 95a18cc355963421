"""Labels that may be wrong: those the model doubted most just before it learnt them."""

from __future__ import annotations

from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.types import Features, Float64, Rows
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.labels import Label

# A class says nothing about its samples before it has had this many.
FIRST_SAMPLES = 5
# Scores are asked for anew once the model has grown by this share: learners that solve on demand then solve
# O(log n) times in a lesson of n samples.
GROWTH = 0.1
# So many samples at most are scored at the end of the lesson, in so many groups.
MOST_AT_THE_END, GROUPS = 512, 4


@dataclass(frozen=True)
class Doubt:
    """A sample whose label the model held for unlikely.

    Attributes
    ----------
    index : int
        Its place among the samples that were given.
    label : label
        What it was taught as.
    guess : label
        What the model held it for.
    probability : float
        Of `label`, before it was learnt.
    """

    index: int
    label: Label
    guess: Label
    probability: float


class Doubts:
    """Collects the samples of a lesson that looked like another class just before they were learnt.

    A class's first samples have no score, as the model does not know the class yet. At the end of the lesson some of
    them are scored after all, if the learner can unlearn and does not depend on the order of the samples: a copy of
    it unlearns a group of them, and is asked about that group. What was found is kept as indices, labels and
    probabilities.

    Parameters
    ----------
    keep : int
        How many to keep, those of the least likely labels; 0 asks the model nothing.

    Examples
    --------
    >>> from i2cansay.learners import make_learner
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]] * 5)
    >>> learner, doubts = make_learner("slda").partial_fit(X, ["low", "low", "high", "high"] * 5), Doubts(3)
    >>> doubts.note(learner, np.array([[0.5], [8.5]]), np.array(["low", "low"]), np.array([0, 1]))
    >>> [(doubt.index, doubt.label, doubt.guess) for doubt in doubts.found()]
    [(1, 'low', 'high')]
    """

    def __init__(self, keep: int) -> None:
        if keep < 0:
            raise ValueError(f"expected a number of doubts of at least 0, got {keep}")
        self._keep = keep
        self._found: list[Doubt] = []
        self._first: list[tuple[Features, NDArray[Any], Rows]] = []

    def chunk(self, learner: OnlineClassifier, batch_size: int) -> int:
        """Return how many samples may be scored together, before any of them is learnt."""
        seen = learner._n_seen if learner._started else 0
        return batch_size * max(1, int(GROWTH * seen) // batch_size)

    def note(self, learner: OnlineClassifier, X: Features, y: NDArray[Any], indices: Rows) -> None:
        """Score samples, (n, d), that are about to be learnt with labels `y`, (n,)."""
        if not self._keep:
            return
        scored = self._score(learner, X, y, indices)
        room = MOST_AT_THE_END - sum(len(rows) for *_, rows in self._first)
        if room > 0 and not scored.all():
            rest = np.flatnonzero(~scored)[:room]
            self._first.append((X[rest], y[rest], indices[rest]))

    def finish(self, learner: OnlineClassifier) -> None:
        """Score what could not be scored before, by a learner that has learnt everything."""
        if not self._first or not learner.order_free or not hasattr(learner, "unlearn"):
            return
        X, y, indices = (np.concatenate(parts) for parts in zip(*self._first, strict=True))
        self._first = []
        for group in (np.arange(start, len(X), GROUPS) for start in range(min(GROUPS, len(X)))):
            without = deepcopy(learner)
            with suppress(ValueError):  # where samples cannot be taken out exactly, they stay without a score
                without.unlearn(X[group], y[group])
                self._score(without, X[group], y[group], indices[group])

    def _score(
        self, learner: OnlineClassifier, X: Features, y: NDArray[Any], indices: Rows
    ) -> NDArray[np.bool_]:
        """Note what the learner doubts, and return which samples it could score, (n,)."""
        scored: NDArray[np.bool_] = np.zeros(len(X), dtype=bool)
        if not learner._started or len(learner.classes_) < 2:
            return scored
        classes = learner.classes_
        counts: Float64 = getattr(learner, "class_counts_", np.full(len(classes), np.inf))
        columns = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
        scored = (classes[columns] == y) & (counts[columns] >= FIRST_SAMPLES)
        if not scored.any():
            return scored
        probabilities, taught = learner.predict_proba(X[scored]), columns[scored]
        guessed = probabilities.argmax(axis=1)
        self._found += [
            Doubt(int(index), classes[label].item(), classes[guess].item(), float(row[label]))
            for index, label, guess, row in zip(indices[scored], taught, guessed, probabilities, strict=True)
            if label != guess
        ]
        self._found = sorted(self._found, key=lambda doubt: doubt.probability)[: self._keep]
        return scored

    def found(self) -> tuple[Doubt, ...]:
        """Return what was collected, the least likely label first."""
        return tuple(self._found)
