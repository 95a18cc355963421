"""Holm's correction: many tests at once, with one chance of error for all of them together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(p_values: Sequence[float], *, most_true: int | None = None) -> list[float]:
    """Return adjusted p-values: rejecting those up to alpha errs anywhere with a probability of at most alpha.

    This is so whatever the tests have in common (Holm 1979). The smallest of m p-values is multiplied by m, the next
    by m - 1, and so on; none gets smaller than the one before it, nor larger than 1.

    Parameters
    ----------
    p_values : sequence of float
    most_true : int, optional
        How many of the hypotheses can be true together, if not all: no factor is larger (Shaffer 1986).

    Examples
    --------
    >>> [round(p, 3) for p in holm([0.04, 0.01, 0.5])]
    [0.08, 0.03, 0.5]

    "It is true" and "it is false" are two hypotheses, of which one is wrong:

    >>> [round(p, 3) for p in holm([0.01, 0.99], most_true=1)]
    [0.01, 0.99]
    """
    p = np.asarray(p_values, dtype=np.float64)
    if not np.all((p >= 0) & (p <= 1)):
        raise ValueError("expected p-values between 0 and 1; leave out what was not tested")
    order = np.argsort(p, kind="stable")
    factors = np.minimum(np.arange(len(p), 0, -1), len(p) if most_true is None else most_true)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1.0)
    return [float(value) for value in adjusted]
