"""How unlike all known classes a sample is.

The answer is a rank: of the samples that came for classes already known, which share lay nearer to its predicted
class than this one does? Distances are in units of the class's own spread, so that one scale serves all classes.
They are multiplied by the ratio of the second highest score to the highest. Ranks need no assumption about how the
features are distributed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.types import Features, Float64
from i2cansay.learners.base import OnlineClassifier

LOWEST, HIGHEST, BINS = -3.0, 5.0, 128
"""Distances from an eighth to 32 times the spread, by their logarithm to base 2."""
# A class of few samples does not know its own spread: it borrows as if this many samples came from all classes.
BORROWED = 5.0
# The prior, worth this many samples: known samples lie around 1.
PRIOR = 10.0
# With one class there is no second; this is the usual ratio where there are several.
ALONE = 0.75
PRIOR_CENTRE, PRIOR_STEEPNESS = 0.35, 5.0


@dataclass(frozen=True)
class ClassSpread:
    """The mean of each class, and how far its samples usually are from it.

    Attributes
    ----------
    means : (c, d) array
    reach : (c,) array
        The distance expected of another sample of the class.
    """

    means: Float64
    reach: Float64

    @classmethod
    def of(cls, learner: OnlineClassifier) -> ClassSpread | None:
        """Return the spread of a learner that keeps class statistics, None for other learners."""
        if not hasattr(learner, "class_means_") or not hasattr(learner, "class_stds_"):
            return None
        counts: Float64 = np.asarray(learner.class_counts_, dtype=np.float64)
        stds: Any = learner.class_stds_
        squares = np.einsum("cd,cd->c", stds, stds, dtype=np.float64) * counts
        freedom = np.maximum(counts - 1, 0.0)
        pooled = squares.sum() / max(float(freedom.sum()), 1.0)
        variance = (squares + BORROWED * pooled) / (freedom + BORROWED)
        return cls(np.array(learner.class_means_), np.sqrt(variance * (1 + 1 / np.maximum(counts, 1.0))))

    def strangeness(self, X: Features, scores: Features) -> Float64:
        """Return, (n,), how far each row of `X`, (n, d), is from the class of its highest score, (n, c)."""
        columns = scores.argmax(axis=1)
        best = scores[np.arange(len(X)), columns].astype(np.float64)
        lead = np.full(len(X), ALONE)
        if scores.shape[1] > 1:
            second = np.partition(scores, -2, axis=1)[:, -2].astype(np.float64)
            lead = np.clip(second / np.where(best > 0, best, 1.0), 0.0, 1.0)
        strangeness: Float64 = self._distances(X, columns) * lead
        return strangeness

    def _distances(self, X: Features, columns: NDArray[np.int64]) -> Float64:
        """Return the distance to the class `columns`, (n,), in units of its reach."""
        offset = X - self.means[columns]
        far: Float64 = np.sqrt(np.einsum("nd,nd->n", offset, offset))
        reach = self.reach[columns]
        return np.where(reach > 0, far / np.where(reach > 0, reach, 1.0), np.where(far > 0, np.inf, 0.0))


@dataclass(frozen=True)
class Novelty:
    """A histogram of the distances of known samples; it keeps nothing of the samples themselves.

    Examples
    --------
    >>> known = Novelty().add(np.full(500, 1.0))
    >>> known.unknown(np.array([0.5, 4.0])).round(2)
    array([0., 1.])
    """

    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(BINS, dtype=np.int64))

    def add(self, distances: Float64) -> Novelty:
        """Return the histogram with more known samples, (n,)."""
        counts = self.counts + np.bincount(_bins(distances), minlength=BINS)
        return Novelty(counts)

    @cached_property
    def _below(self) -> Float64:
        # A sample in the middle of its bin has half of that bin below it.
        return np.cumsum(self.counts) - self.counts / 2

    def unknown(self, distances: Float64) -> Float64:
        """Return, (n,), from 0 (as near as any known sample) to 1 (farther than all of them)."""
        position = np.log2(np.maximum(distances, 2**LOWEST))
        prior = 1 / (1 + np.exp(-PRIOR_STEEPNESS * (np.minimum(position, HIGHEST) - PRIOR_CENTRE)))
        total = float(self.counts.sum())
        return (self._below[_bins(distances)] + PRIOR * prior) / (total + PRIOR)


def _bins(distances: Float64) -> NDArray[np.int64]:
    position = np.log2(np.clip(distances, 2**LOWEST, 2**HIGHEST))
    return np.minimum((position - LOWEST) / (HIGHEST - LOWEST) * BINS, BINS - 1).astype(np.int64)
