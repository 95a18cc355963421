"""Held-out training samples, on which parameter values are chosen without looking at the test set."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.types import Rows
from i2cansay.streams import low_data

HELD_OUT = ("outside", "chance", "fifth", "by class")
"""5,000 rows outside the draw; or a fifth of the draw: at random, by a fixed permutation, or class by class."""
N_OUTSIDE = 5000


def hold_out(y: NDArray[Any], way: str, *, fraction: float | None, seed: int) -> tuple[Rows, Rows]:
    """Return the rows to learn from and the rows held out, of the training labels `y` (n,).

    Examples
    --------
    >>> learnt, held = hold_out(np.repeat([0, 1], 100), "by class", fraction=0.5, seed=0)
    >>> len(learnt), len(held)
    (80, 20)
    """
    rows = np.arange(len(y)) if fraction is None else low_data(y, fraction, seed)
    if way == "outside":
        outside = np.setdiff1d(np.arange(len(y)), rows)
        return rows, np.sort(np.random.default_rng(seed).choice(outside, N_OUTSIDE, replace=False))
    if way == "chance":
        out = np.random.default_rng(1000 + seed).random(len(rows)) < 0.2
        return rows[~out], rows[out]
    if way == "fifth":
        held, learnt = np.split(np.random.default_rng(1).permutation(len(rows)), [len(rows) // 5])
        return rows[learnt], rows[held]
    if way == "by class":
        learnt = low_data(y[rows], 0.8, seed)
        return rows[learnt], np.delete(rows, learnt)
    raise ValueError(f"samples are held out {', '.join(map(repr, HELD_OUT))}, not {way!r}")
