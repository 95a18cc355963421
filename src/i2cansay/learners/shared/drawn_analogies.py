"""Which samples of a batch are moved into which other classes, and how much each row counts in the step."""

from typing import NamedTuple

import numpy as np

from i2cansay.core.paper.head import row_weights
from i2cansay.core.paper.ican import OldClasses, draw_sources, draw_targets
from i2cansay.core.types import Features, Float64, Rows


class DrawnAnalogies(NamedTuple):
    """Of a batch of n samples the rows that are moved, (m,), into the classes `old`, (m,).

    `weights`, (n + m,), are those of the cross-entropy of each sample, then of each analogy.
    """

    sources: Rows
    old: Rows
    weights: Features


def draw_analogies(
    rows: Rows,
    n_classes: int,
    n_pseudo: float,
    old_classes: OldClasses,
    *,
    beta: float,
    weights: Float64 | None,
    rng: np.random.Generator,
) -> DrawnAnalogies:
    """Draw the analogies of a batch of the classes `rows`, (n,), whose samples have these `weights`, (n,).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> drawn = draw_analogies(np.array([0, 1]), 2, n_pseudo=1, old_classes="all", beta=3.0, weights=None, rng=rng)
    >>> drawn.old.tolist(), drawn.weights.tolist()
    ([1, 0], [0.5, 0.5, 1.5, 1.5])
    """
    sources = draw_sources(len(rows), n_pseudo, rng)
    old = draw_targets(old_classes, rows, sources, n_classes, rng)
    groups = [(len(rows), 1.0), (len(old), beta)]
    every_row = row_weights([n for n, _ in groups if n], [w for n, w in groups if n])
    if weights is not None:
        every_row[: len(rows)] = weights / weights.sum()
    return DrawnAnalogies(sources[: len(old)], old, every_row)
