"""The noise of a finite test set: how far an accuracy would move on other test images of the same classes.

All seeds of a table are measured on the same test images. What these images happen to favour is in every seed, so
neither more seeds nor the deviation over seeds tell anything about it. It is bounded from the counts of a record.

Symbols: W (k, c) are the weights of a metric on the accuracies of c classes at k checkpoints, m (c,) the test rows
of the classes, p (k, c) the accuracies.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from i2cansay.core.types import Float64
from i2cansay.evaluate import Outcome
from i2cansay.experiments.run.record import Record


def accuracy_weights(outcome: Outcome, metric: str) -> Float64:
    """Return the weights with which a metric sums up the accuracies of the classes at the checkpoints, (k, c).

    `metric` is a name of `i2cansay.experiments.run.metric`. Forgetting is not such a sum and raises ValueError.

    Examples
    --------
    >>> from i2cansay.evaluate import Checkpoint
    >>> outcome = Outcome(
    ...     stream={}, classes=("cat", "dog"), test_counts=(30, 10), new_classes=((1,), (0,)),
    ...     checkpoints=(Checkpoint(0, 50, (0, 9), 0, 0), Checkpoint(1, 90, (27, 7), 0, 0)),
    ...     every_session=True, learning_seconds=0.1, prediction_seconds=0.2, state_bytes=80)
    >>> accuracy_weights(outcome, "last").tolist()
    [[0.0, 0.0], [0.75, 0.25]]
    >>> accuracy_weights(outcome, "average").tolist()
    [[0.0, 0.5], [0.375, 0.125]]
    """
    counts = np.asarray(outcome.test_counts, dtype=np.float64)
    weights = np.zeros((len(outcome.checkpoints), len(counts)))
    kind, _, number = metric.partition(":")
    if kind == "last":
        weights[-1] = _pooled(counts, range(len(counts)))
        return weights
    if kind not in ("average", "average_by_sessions", "session"):
        raise ValueError(f"expected a metric that sums up accuracies, got {metric!r}; it has no interval")
    for place, checkpoint in enumerate(outcome.checkpoints):
        groups = outcome.groups_seen(checkpoint)
        if kind != "average_by_sessions":
            groups = (tuple(index for group in groups for index in group),)
        tested = [group for group in groups if counts[list(group)].sum()]
        for group in tested:
            weights[place] += _pooled(counts, group) / len(tested)
    if kind == "session":
        chosen = np.arange(len(weights)) == int(number) - 1
        return np.where(chosen[:, None], weights, 0.0)
    return weights / len(weights)


def _pooled(counts: Float64, classes: Iterable[int]) -> Float64:
    """Return weights that pool the test rows of some classes; zero if they have none."""
    weights = np.zeros_like(counts)
    chosen = list(classes)
    weights[chosen] = counts[chosen]
    pooled: Float64 = weights / max(weights.sum(), 1.0)
    return pooled


def accuracy_variance(outcome: Outcome, metric: str) -> float:
    """Return a bound on the variance of a metric over test sets with as many rows of each class, in squared shares.

    At one checkpoint this is the binomial variance, class by class: the sum of W² p (1 - p) / m. The same rows are
    predicted at every checkpoint, so deviations of checkpoints are added up and not their variances; that is exact
    where checkpoints agree about every row and too much otherwise. An accuracy of 0 or 1 in a few rows does not mean
    that nothing varies: p is (right + 1) / (m + 2).
    """
    counts = np.asarray(outcome.test_counts, dtype=np.float64)
    right = np.array([checkpoint.correct for checkpoint in outcome.checkpoints], dtype=np.float64)
    accuracy = (right + 1) / (counts + 2)
    by_class = accuracy * (1 - accuracy) / np.maximum(counts, 1)
    deviations = np.sqrt((accuracy_weights(outcome, metric) ** 2 * by_class).sum(axis=1))
    return float(deviations.sum() ** 2)


def difference_variance(first: Record, second: Record, metric: str) -> float:
    """Return a bound on the variance, over test sets, of the difference between two runs, in squared shares.

    The smaller of two bounds. The sum of the two variances: rows that are hard for one run are hard for the other,
    so the covariance that is left out would only make it smaller. And, where the metric is the final accuracy on all
    test rows, McNemar's variance: a row adds -1, 0 or 1, and 0 wherever both predict the same, so that the variance
    per row is at most the share of changed predictions less the squared difference. That share is known from the
    kept predictions; (changed + 1) / (kept + 2) of them, for the reason given at `accuracy_variance`.
    """
    apart = accuracy_variance(first.outcome, metric) + accuracy_variance(second.outcome, metric)
    rows = sum(first.outcome.test_counts)
    if not (_is_final_accuracy(first.outcome, metric) and _is_final_accuracy(second.outcome, metric)):
        return apart
    changed = int(np.count_nonzero(first.predictions != second.predictions))
    share = (changed + 1) / (len(first.predictions) + 2)
    right = [sum(record.outcome.checkpoints[-1].correct) for record in (first, second)]
    difference = abs(right[0] - right[1]) / rows
    return min(apart, (max(share, difference) - difference**2) / rows)


def _is_final_accuracy(outcome: Outcome, metric: str) -> bool:
    """Whether a metric counts every test row once, at the end of the stream."""
    return bool(np.allclose(accuracy_weights(outcome, metric), accuracy_weights(outcome, "last")))
