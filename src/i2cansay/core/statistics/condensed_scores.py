"""Scores of many rows for many classes, as far as their softmax at any temperature needs them.

A softmax depends on how far scores lie below the highest of their row. Of each row, the highest scores are kept
as they are; those that follow are sorted, and neighbours are joined to their mean. Neighbours are near each other,
so the sum of exponentials hardly changes. For 10,000 or 100,000 scores that are normal, a step of the temperature's
logarithm is within 1e-4 of what it is with all scores where 512 numbers are kept, and within 2e-3 where 128 are.
"""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.paper.head import softmax
from i2cansay.core.score_blocks import SCORES_AT_A_TIME, score_blocks
from i2cansay.core.types import Features, Float64, Rows

# Numbers kept of all rows together, and at least of each row, which then takes as much as 256 features do.
KEPT = SCORES_AT_A_TIME // 2
LEAST_KEPT = 128


class CondensedScores(NamedTuple):
    """Scores of n rows in k columns, each of one class or of several.

    Attributes
    ----------
    offsets : (n, k) array
        Scores less the highest of the row, at most 0; the mean where a column stands for several classes.
    log_sizes : (k,) array
        The logarithm of how many classes a column stands for.
    true : (n,) array
        Scores of the true classes, less the highest of the row.
    right : (n,) array
        Whether the true class has the highest score; of several such, the first counts.
    spreads : (n,) array
        The standard deviation of all scores of the row.

    Examples
    --------
    >>> scores = CondensedScores.of(np.array([[1.0, 3.0, 2.0, 1.5]]), np.array([1]))
    >>> scores.offsets, scores.right
    (array([[-2. ,  0. , -1. , -1.5]]), array([ True]))
    >>> scores.joined(kept=3).offsets, scores.joined(kept=3).log_sizes.round(2)
    (array([[-1.75, -1.  ,  0.  ]]), array([0.69, 0.  , 0.  ]))
    """

    offsets: Float64
    log_sizes: Float64
    true: Float64
    right: NDArray[np.bool_]
    spreads: Float64

    @classmethod
    def of(cls, scores: Features, targets: Rows) -> Self:
        """Take scores, (n, c), of rows of the classes `targets`, (n,), as they are: a column for each class."""
        every, best = np.arange(len(scores)), scores.argmax(axis=1)
        offsets: Float64 = np.subtract(scores, scores[every, best][:, None], dtype=np.float64)
        return cls(
            offsets, np.zeros(offsets.shape[1]), offsets[every, targets], best == targets, offsets.std(axis=1)
        )

    def joined(self, kept: int) -> Self:
        """Return the same in at most `kept` columns; `self`, a column for each class, is used up."""
        if kept >= self.offsets.shape[1]:
            return self
        ends = _ends(self.offsets.shape[1], kept)
        sizes = np.diff(ends, prepend=0)
        self.offsets.sort(axis=1)
        joined: Float64 = np.add.reduceat(self.offsets, ends - sizes, axis=1)
        joined /= sizes
        return self._replace(offsets=joined, log_sizes=np.log(sizes))

    @classmethod
    def together(cls, blocks: list[Self]) -> Self:
        """Return the rows of all blocks, which have the same columns."""
        if len(blocks) == 1:
            return blocks[0]
        offsets, log_sizes, true, right, spreads = zip(*blocks, strict=True)
        return cls(
            np.concatenate(offsets),
            log_sizes[0],
            np.concatenate(true),
            np.concatenate(right),
            np.concatenate(spreads),
        )

    def probabilities(self, temperature: float) -> tuple[Float64, Float64]:
        """Return the probabilities of the likeliest class and of the true one at this temperature, both (n,)."""
        exponentials = self.offsets / temperature
        exponentials += self.log_sizes
        top: Float64 = 1 / np.exp(exponentials, out=exponentials).sum(axis=1)
        return top, top * np.exp(self.true / temperature)

    def slope(self, temperature: float) -> tuple[float, float]:
        """Return what the function `slope` does for these scores over T."""
        gradient = curvature = 0.0
        for some in score_blocks(*self.offsets.shape):
            found = slope(self.offsets[some] / temperature, self.true[some] / temperature, self.log_sizes)
            gradient, curvature = gradient + found[0], curvature + found[1]
        return gradient, curvature


def slope(scaled: Features, true: Features, log_sizes: Float64 | float = 0.0) -> tuple[float, float]:
    """Return d/d log T of -log p(true class), summed, and a positive estimate of its curvature.

    A true class far below its expectation asks for a higher temperature.

    Parameters
    ----------
    scaled : (n, k) scores over T, at most 0
    true : (n,) those of the true classes
    log_sizes : (k,) array, optional
        As in `CondensedScores`.
    """
    probabilities = softmax(scaled + log_sizes)
    expected = (probabilities * scaled).sum(axis=1)
    variance = (probabilities * scaled**2).sum(axis=1) - expected**2
    gradient = true - expected
    return float(gradient.sum()), float((variance + np.abs(gradient)).sum())


def _ends(n_classes: int, kept: int) -> Rows:
    """Return where columns end, (k,), in scores that are sorted from the lowest to the highest.

    The higher half of the columns has one class each; those below have ever more.

    Examples
    --------
    >>> _ends(20, 6)
    array([ 9, 14, 17, 18, 19, 20])
    """
    single = kept // 2
    ranks = np.concatenate(
        [np.arange(single), np.geomspace(single, n_classes, kept - single + 1).round().astype(np.int64)]
    )
    ends: Rows = (n_classes - np.unique(ranks)[:-1])[::-1]
    return ends
