"""A share with the interval in which the true one lies: how far an accuracy of few tests can be trusted."""

from __future__ import annotations

from typing import NamedTuple

Z = 1.96
"""Of a normal distribution 95% lie within so many standard deviations."""


class ShareInterval(NamedTuple):
    """Wilson's interval of a share at 95%."""

    low: float
    high: float


def wilson(share: float, n: float) -> ShareInterval:
    """Return the interval of a share that was observed in `n` independent tests, of which there may be a fraction.

    Examples
    --------
    >>> low, high = wilson(0.9, 10)
    >>> round(low, 3), round(high, 3)
    (0.596, 0.982)
    >>> wilson(1.0, 0)
    ShareInterval(low=0.0, high=1.0)
    """
    if n <= 0:
        return ShareInterval(0.0, 1.0)
    shrink = 1 / (1 + Z**2 / n)
    middle = shrink * (share + Z**2 / (2 * n))
    half = shrink * Z * (share * (1 - share) / n + Z**2 / (4 * n**2)) ** 0.5
    # Rounding may leave the share itself outside by the last digit.
    return ShareInterval(max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half)))
