"""The classes of the highest scores, in order."""

import numpy as np

from i2cansay.core.types import Features, Rows

# Up to this many, one pass over the scores for each of them is faster than sorting all.
FEW = 16


def likeliest(scores: Features, k: int) -> Rows:
    """Return the columns of the `k` highest of each row of scores, (n, c), as (n, min(k, c)), the highest first.

    Of equal scores the first column comes first, as `argmax` has it.

    Examples
    --------
    >>> likeliest(np.array([[1.0, 3.0, 2.0, 3.0]]), 3)
    array([[1, 3, 2]])
    """
    k = min(k, scores.shape[1])
    if k > FEW or not np.isfinite(scores.min(initial=0.0)):
        # Minus the scores, and stable: of equal ones the first stays first.
        sorted_all: Rows = (-scores).argsort(axis=1, kind="stable")[:, :k]
        return sorted_all
    left, every = scores.copy() if k > 1 else scores, np.arange(len(scores))
    found = np.empty((len(scores), k), dtype=np.int64)
    for rank in range(k):
        found[:, rank] = left.argmax(axis=1)
        if rank + 1 < k:
            left[every, found[:, rank]] = -np.inf
    return found
