"""Statistics over seeds: means and sample deviations, and how many predictions change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from i2cansay.experiments.run.record import Record


@dataclass(frozen=True)
class Spread:
    """Mean, sample standard deviation and number of runs."""

    mean: float
    std: float
    n: int

    def __str__(self) -> str:
        return f"{self.mean:.1f} ± {self.std:.1f}" if self.n > 1 else f"{self.mean:.1f}"


def spread(values: Iterable[float]) -> Spread:
    """Return mean and sample standard deviation.

    >>> print(spread([59.0, 60.0, 61.0]))
    60.0 ± 1.0
    """
    array = np.fromiter(values, dtype=np.float64)
    if not array.size:
        raise ValueError("there is no value to take the mean of")
    return Spread(float(array.mean()), float(array.std(ddof=1)) if array.size > 1 else 0.0, int(array.size))


def changed_share(first: Record, second: Record) -> float:
    """Return the share of the kept test predictions on which two records differ."""
    if first.predictions.shape != second.predictions.shape:
        raise ValueError("the two records have predictions of different test rows; they cannot be compared")
    return float(np.mean(first.predictions != second.predictions))
