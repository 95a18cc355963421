"""Differences between two rows of a table: paired by seed, with the noise of the seeds and of the test set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, hypot, log, nan, sqrt

import numpy as np
from scipy.optimize import brentq
from scipy.special import stdtrit

from i2cansay.experiments.run.finite_test_set import difference_variance
from i2cansay.experiments.run.metric import metric_of
from i2cansay.experiments.run.record import Record
from i2cansay.experiments.run.seed_statistics import changed_share

CONFIDENCE = 0.95
# Differences of runs are multiples of one test row; what is smaller comes from floating point.
ROUNDED = 1e-9
# Smaller p-values are 0.
TINIEST = 1e-30


@dataclass(frozen=True)
class StandardError:
    """A standard error, in points, and the degrees of freedom of its estimate."""

    size: float
    dof: float


@dataclass(frozen=True)
class Difference:
    """The mean of paired differences, in points, and how uncertain it is.

    Attributes
    ----------
    mean : float
    n : int
        Pairs of runs.
    errors : tuple of StandardError
        Independent sources of error: of the seeds and of the test set.
    share_changed : float
        Share of the kept predictions that differ.
    varies : bool
        Whether the pairs differ among themselves. If not, there is nothing to tell their noise from.

    Examples
    --------
    >>> print(Difference(1.0, 5, (StandardError(0.3, 4), StandardError(0.4, 9999)), 0.1, True))
    +1.00 [-0.14, +2.14], 5 seeds
    """

    mean: float
    n: int
    errors: tuple[StandardError, ...]
    share_changed: float
    varies: bool

    @property
    def low(self) -> float:
        """Lower end of the 95% interval; nan for one pair."""
        return self.mean - self._half

    @property
    def high(self) -> float:
        """Upper end of the 95% interval; nan for one pair."""
        return self.mean + self._half

    @property
    def _half(self) -> float:
        return half_width(self.errors, (1 - CONFIDENCE) / 2) if self.n > 1 else nan

    def p_above(self, bound: float) -> float:
        """Return the one-sided p-value against "the true difference is at most `bound`"; nan for one pair."""
        if self.n < 2:
            return nan
        tail = tail_beyond(abs(self.mean - bound), self.errors)
        return tail if self.mean >= bound else 1 - tail

    def reversed(self) -> Difference:
        """Return the difference the other way round."""
        return Difference(-self.mean, self.n, self.errors, self.share_changed, self.varies)

    def __str__(self) -> str:
        if self.n < 2:
            return f"{self.mean:+.2f} (one seed)"
        return f"{self.mean:+.2f} [{self.low:+.2f}, {self.high:+.2f}], {self.n} seeds"


def half_width(errors: Sequence[StandardError], tail: float) -> float:
    """Return how far an estimate may be off on one side with a probability of at most `tail`, below 0.5.

    Banerjee's interval (1960): the quantile of Student's t for each error, times the error, and these add up as
    squares. For normal errors it misses at most as often as it says, whatever their ratio: it does so exactly where
    one error is all there is, and the distribution of a squared normal variable is concave. Unlike that of
    Satterthwaite it is never narrower than the interval of one error alone.

    >>> round(half_width([StandardError(0.3, 4), StandardError(0.4, 9999)], 0.025), 3)  # 2.776 * 0.3 and 1.960 * 0.4
    1.144
    """
    return hypot(*(float(stdtrit(each.dof, tail)) * each.size for each in errors))


def tail_beyond(distance: float, errors: Sequence[StandardError]) -> float:
    """Return the tail for which `half_width` is `distance`: a one-sided p-value, from 0 to 0.5.

    >>> errors = [StandardError(0.3, 4), StandardError(0.4, 9999)]
    >>> round(tail_beyond(half_width(errors, 0.025), errors), 6)
    0.025
    """
    if distance <= 0:
        return 0.5
    if half_width(errors, TINIEST) < distance:
        return 0.0
    found = brentq(
        lambda exponent: half_width(errors, exp(exponent)) - distance, log(TINIEST), log(0.5), xtol=1e-9
    )
    return exp(found)


def paired_difference(first: Sequence[Record], second: Sequence[Record], metric: str) -> Difference:
    """Return the mean of metric(first) - metric(second) over the common seeds.

    For the same seed both have seen the same order of the stream, so that its effect cancels out. `metric` is a name
    of `i2cansay.experiments.run.metric`.
    """
    ours, theirs = ({record.seed: record for record in records} for records in (first, second))
    seeds = sorted(ours.keys() & theirs.keys())
    if not seeds:
        raise ValueError("the two have no seed in common; play both with the same seeds")
    return difference_of([(ours[seed], theirs[seed]) for seed in seeds], metric)


def difference_of(pairs: Iterable[tuple[Record, Record]], metric: str) -> Difference:
    """Return the mean of metric(a) - metric(b) over pairs of runs, with its errors.

    Runs and test rows are crossed: every pair is measured on the same rows. With s the sample deviation of the n
    differences, the error of the seeds is s / sqrt(n) with n - 1 degrees of freedom; it shrinks with more seeds. The
    error of the test set does not: its variance is the mean over the pairs of `difference_variance`. That is never
    less than the variance, over rows, of the mean of all pairs, so intervals are rather too wide than too narrow.
    """
    listed = list(pairs)
    value = metric_of(metric)
    differences = np.array([value(a) - value(b) for a, b in listed])
    changed = float(np.mean([changed_share(a, b) for a, b in listed]))
    n = len(listed)
    deviation = float(differences.std(ddof=1)) if n > 1 else nan
    rows = sum(listed[0][0].outcome.test_counts)
    variance = float(np.mean([difference_variance(a, b, metric) for a, b in listed]))
    errors = (
        StandardError(deviation / sqrt(n), n - 1),
        StandardError(100 * sqrt(variance), max(rows - 1, 1)),
    )
    return Difference(float(differences.mean()), n, errors, changed, bool(deviation > ROUNDED))
