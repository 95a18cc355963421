"""Low data: a share of every class."""

import numpy as np

from i2cansay.core.types import Rows
from i2cansay.streams.stream import Labels, generator, require


def low_data(y: Labels, fraction: float, seed: int = 0) -> Rows:
    """Draw the same fraction of every class, at least one row of each.

    Parameters
    ----------
    y : array of shape (n,)
        Labels.
    fraction : float
        Share of the rows of each class, above 0 and at most 1; rounded to whole rows.
    seed : int
        Decides which rows. For one seed, the rows of a smaller fraction are among those of a larger one.

    Returns
    -------
    array of shape (m,)
        Row numbers in increasing order.

    Examples
    --------
    >>> y = np.repeat(["common", "rare"], [100, 3])
    >>> rows = low_data(y, 0.1)
    >>> np.unique(y[rows], return_counts=True)[1].tolist()
    [10, 1]
    """
    require(0 < fraction <= 1, "fraction", "above 0 and at most 1", fraction)
    rng = generator(seed, "low_data")
    labels = np.asarray(y)
    kept = []
    for label in np.unique(labels):
        rows = rng.permutation(np.flatnonzero(labels == label))
        kept.append(rows[: max(1, round(fraction * rows.size))])
    return np.sort(np.concatenate(kept)).astype(np.int64)
