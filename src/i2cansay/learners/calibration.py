"""Calibration on the way: rows are scored before they are learnt, and the temperature is fitted to the scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.types import Features

if TYPE_CHECKING:
    from i2cansay.learners.base import OnlineClassifier

# Up to this many rows of a batch, and about one row in a hundred of the stream, so that it costs next to nothing.
CALIBRATION_ROWS = 16
CALIBRATION_SHARE = 1 / 100
# Learners that solve on demand are scored for it only when the stream has grown by this share.
CALIBRATION_GROWTH = 0.3
# For them only rows of classes with at least this share of the mean number of samples per class count.
CALIBRATION_COUNT = 0.5


def calibrate(learner: OnlineClassifier, X: Features, labels: NDArray[Any]) -> None:
    """Fit the temperature, if it is time, to rows of a batch, (n, d) with labels (n,), before it is learnt."""
    if learner._n_seen < learner._calibrate_at or not learner.streaming or len(learner._labels) < 2:
        return
    rows = learner._labels.rows(labels)
    known = np.flatnonzero(rows >= 0)
    if learner.lazy and hasattr(learner, "class_counts_"):
        # The scores of a class with one or two samples say nothing about the others; the next batch may do.
        counts = np.empty(len(learner._labels))
        counts[learner._labels.order] = learner.class_counts_
        known = known[counts[rows[known]] >= CALIBRATION_COUNT * counts.mean()]
        if not len(known):
            return
    # Spread over the batch: a batch in the order of a folder begins with one class.
    limit = len(known) if learner.lazy else CALIBRATION_ROWS
    chosen = known[:: -(-len(known) // limit)] if len(known) > limit else known
    if len(chosen):
        learn = learner._temperature.refit if learner.lazy else learner._temperature.update
        learn(learner._scores(X[chosen]), rows[chosen])
    pause = CALIBRATION_GROWTH * learner._n_seen
    if not learner.lazy:
        pause = min(pause, len(chosen) / CALIBRATION_SHARE)
    learner._calibrate_at = learner._n_seen + int(pause)
