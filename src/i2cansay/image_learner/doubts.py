"""Labels that may be wrong: those the model doubted most just before it learnt them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.types import Features, Float64
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.labels import Label

# A class says nothing about its samples before it has had this many.
FIRST_SAMPLES = 5
# Scores are asked for anew once the model has grown by this share: learners that solve on demand then solve
# O(log n) times in a lesson of n samples.
GROWTH = 0.1


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
        Of `label`, just before it was learnt.
    """

    index: int
    label: Label
    guess: Label
    probability: float


class Doubts:
    """Collects the samples of a lesson that looked like another class just before they were learnt.

    A class's first samples do not count, nor do samples that the model would have labelled the same way. Only
    indices, labels and probabilities are kept.

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

    def chunk(self, learner: OnlineClassifier, batch_size: int) -> int:
        """Return how many samples may be scored together, before any of them is learnt."""
        seen = learner._n_seen if learner._started else 0
        return batch_size * max(1, int(GROWTH * seen) // batch_size)

    def note(
        self, learner: OnlineClassifier, X: Features, y: NDArray[Any], indices: NDArray[np.int64]
    ) -> None:
        """Score samples, (n, d), that are about to be learnt with labels `y`, (n,)."""
        if not self._keep or not learner._started or len(learner.classes_) < 2:
            return
        classes = learner.classes_
        counts: Float64 = getattr(learner, "class_counts_", np.full(len(classes), np.inf))
        columns = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
        rows = np.flatnonzero((classes[columns] == y) & (counts[columns] >= FIRST_SAMPLES))
        if not len(rows):
            return
        probabilities = learner.predict_proba(X[rows])
        guessed, taught = probabilities.argmax(axis=1), columns[rows]
        for i in np.flatnonzero(guessed != taught).tolist():
            self._found.append(
                Doubt(
                    int(indices[rows[i]]),
                    classes[taught[i]].item(),
                    classes[guessed[i]].item(),
                    float(probabilities[i, taught[i]]),
                )
            )
        self._found = sorted(self._found, key=lambda doubt: doubt.probability)[: self._keep]

    def found(self) -> tuple[Doubt, ...]:
        """Return what was collected, the least likely label first."""
        return tuple(self._found)
