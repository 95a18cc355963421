"""Statistics over seeds: means and deviations, and differences paired by seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from i2cansay.experiments.run.record import Record

Metric = Callable[[Record], float]


@dataclass(frozen=True)
class Spread:
    """Mean, population standard deviation and number of runs."""

    mean: float
    std: float
    n: int

    def __str__(self) -> str:
        return f"{self.mean:.1f} ± {self.std:.1f}" if self.n > 1 else f"{self.mean:.1f}"


@dataclass(frozen=True)
class Difference:
    """Mean of paired differences with its confidence interval, nan for one pair.

    `share_changed` is the share of the kept predictions that differ.
    """

    mean: float
    low: float
    high: float
    n: int
    share_changed: float

    def __str__(self) -> str:
        if self.n < 2:
            return f"{self.mean:+.2f} (one seed)"
        return f"{self.mean:+.2f} [{self.low:+.2f}, {self.high:+.2f}], {self.n} seeds"


def spread(values: Iterable[float]) -> Spread:
    """Return mean and sample standard deviation.

    >>> print(spread([59.0, 60.0, 61.0]))
    60.0 ± 1.0
    """
    array = np.fromiter(values, dtype=np.float64)
    if not array.size:
        raise ValueError("there is no value to take the mean of")
    return Spread(float(array.mean()), float(array.std(ddof=1)) if array.size > 1 else 0.0, int(array.size))


def paired_difference(
    first: Sequence[Record], second: Sequence[Record], metric: Metric, confidence: float = 0.95
) -> Difference:
    """Return the mean over the common seeds of metric(first) - metric(second), with a t interval.

    For the same seed both have seen the same order of the stream, so that its effect cancels out.
    """
    ours, theirs = _by_seed(first), _by_seed(second)
    seeds = sorted(ours.keys() & theirs.keys())
    if not seeds:
        raise ValueError("the two have no seed in common; play both with the same seeds")
    differences = np.array([metric(ours[seed]) - metric(theirs[seed]) for seed in seeds])
    changed = np.mean([changed_share(ours[seed], theirs[seed]) for seed in seeds])
    low, high = confidence_interval(differences, confidence)
    return Difference(float(differences.mean()), low, high, len(seeds), float(changed))


def confidence_interval(
    values: Sequence[float] | np.ndarray, confidence: float = 0.95
) -> tuple[float, float]:
    """Return Student's interval for the mean; nan for a single value.

    >>> low, high = confidence_interval([1.0, 2.0, 3.0])
    >>> round(low, 2), round(high, 2)
    (-0.48, 4.48)
    """
    array = np.asarray(values, dtype=np.float64)
    if array.size < 2:
        return float("nan"), float("nan")
    half = float(student.ppf((1 + confidence) / 2, array.size - 1)) * array.std(ddof=1) / np.sqrt(array.size)
    return float(array.mean() - half), float(array.mean() + half)


def changed_share(first: Record, second: Record) -> float:
    """Return the share of the kept test predictions on which two records differ."""
    if first.predictions.shape != second.predictions.shape:
        raise ValueError("the two records have predictions of different test rows; they cannot be compared")
    return float(np.mean(first.predictions != second.predictions))


def _by_seed(records: Sequence[Record]) -> Mapping[int, Record]:
    return {record.seed: record for record in records}
