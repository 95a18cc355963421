"""When samples are scored before they are learnt, and which: for the temperature, and as evidence for verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.score_blocks import score_blocks
from i2cansay.core.statistics.condensed_scores import KEPT, LEAST_KEPT, CondensedScores
from i2cansay.core.types import Features, Rows
from i2cansay.learners.verdicts.evidence import Answers

if TYPE_CHECKING:
    from i2cansay.learners.base import OnlineClassifier

# Of learners that do not solve: up to this many rows of a batch, and this share of the stream once there is evidence
# enough, so that it costs next to nothing. Before that a larger share, and all of lessons of a few samples.
MOST_ROWS = 16
SHARE, EARLY_SHARE = 1 / 100, 1 / 3
FEW_ROWS = 4
ENOUGH = 300.0
# Learners that solve on demand are scored when the stream has grown by this share, or when they answer at once.
GROWTH = 0.3
# Only rows of classes with at least this share of the mean number of samples per class count: those of a class with
# one or two samples say nothing about the others.
LEAST_COUNT = 0.5
# Of one class at most this many rows of a batch are evidence: fifty say much about that class, and little about
# the others. A stream in the order of its classes would be sure after a few of them.
MOST_OF_A_CLASS = 5


def score_before_learning(learner: OnlineClassifier, X: Features, labels: NDArray[Any]) -> None:
    """Score rows of a batch, (n, d) with labels (n,), before it is learnt, if it is time."""
    due = learner._n_seen >= learner._calibrate_at
    if not (due or learner._answers_at_once) or not learner.streaming or len(learner._labels) < 2:
        return
    rows = learner._labels.rows(labels)
    known = _of_settled_classes(learner, rows)
    if learner.lazy and not len(known):
        return  # the next batch may do
    limit = len(known) if learner.lazy else MOST_ROWS
    # Spread over the batch: a batch in the order of a folder begins with one class.
    chosen = known[:: -(-len(known) // limit)] if len(known) > limit else known
    if len(chosen):
        take_scores(learner, X[chosen], rows[chosen])
    pause = GROWTH * learner._n_seen
    if not learner.lazy:
        share = SHARE
        if learner._evidence.weight < ENOUGH:
            share = 1.0 if len(X) <= FEW_ROWS else EARLY_SHARE
        pause = min(pause, len(chosen) / share)
    learner._calibrate_at = learner._n_seen + int(pause)


def _of_settled_classes(learner: OnlineClassifier, rows: Rows) -> Rows:
    known: Rows = np.flatnonzero(rows >= 0)
    if not hasattr(learner, "class_counts_"):
        return known
    counts = np.empty(len(learner._labels))
    counts[learner._labels.order] = learner.class_counts_
    settled: Rows = known[counts[rows[known]] >= LEAST_COUNT * counts.mean()]
    return settled


def take_scores(learner: OnlineClassifier, X: Features, rows: Rows) -> None:
    """Learn from the scores of samples, (n, d), of classes `rows`, (n,), just before they are learnt."""
    few = _a_few_of_each(rows)
    # Counted before the temperature learns from them: they are to show how far its probabilities can be trusted.
    if not learner.lazy:
        scores = learner._scores(X)
        _count(learner, X[few], Answers.of(learner._temperature.probabilities(scores[few]), rows[few]))
        learner._temperature.update(scores, rows)
        return
    answers, condensed = [], []
    for block, scores, kept in _scored(learner, X):
        some = few[few.searchsorted(block.start) : few.searchsorted(block.stop)]
        probabilities = learner._temperature.probabilities(scores[some - block.start])
        answers.append(Answers.of(probabilities, rows[some]))
        condensed.append(CondensedScores.of(scores, rows[block]).joined(kept))
    _count(learner, X[few], Answers.together(answers))
    learner._temperature.refit_condensed(CondensedScores.together(condensed))


def _a_few_of_each(rows: Rows) -> Rows:
    """Return the places of the first `MOST_OF_A_CLASS` of each class.

    Examples
    --------
    >>> _a_few_of_each(np.array([7, 7, 7, 7, 7, 7, 3, 7]))
    array([0, 1, 2, 3, 4, 6])
    """
    order = np.argsort(rows, kind="stable")
    _, starts, counts = np.unique(rows[order], return_index=True, return_counts=True)
    rank = np.arange(len(rows)) - np.repeat(starts, counts)
    few: Rows = np.sort(order[rank < MOST_OF_A_CLASS])
    return few


def take_calibration(learner: OnlineClassifier, X: Features, rows: Rows) -> None:
    """Learn from the scores of samples, (n, d), of classes `rows`, (n,), that are not going to be learnt."""
    blocks = [CondensedScores.of(scores, rows[b]).joined(kept) for b, scores, kept in _scored(learner, X)]
    condensed = CondensedScores.together(blocks)
    # First: all of them come at once, and probabilities are asked for at the temperature that follows from them.
    learner._temperature.refit_condensed(condensed)
    _count(learner, X, Answers(*condensed.probabilities(learner._temperature.value), condensed.right))


def _scored(learner: OnlineClassifier, X: Features) -> Iterator[tuple[slice, Features, int]]:
    """Yield rows, their scores, and how many numbers of each row to keep: all where there is one block."""
    blocks = list(score_blocks(len(X), len(learner._labels)))
    for block in blocks:
        scores = learner._scores(X[block])
        yield block, scores, scores.shape[1] if len(blocks) == 1 else max(LEAST_KEPT, KEPT // len(X))


def _count(learner: OnlineClassifier, X: Features, answers: Answers) -> None:
    novelty = learner.novelty(X) if hasattr(learner, "novelty") else None
    if np.isfinite(answers.top).all():
        learner._evidence.count(answers, novelty, size=learner._n_seen)
