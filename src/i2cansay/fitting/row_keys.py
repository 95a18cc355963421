"""A random number for each row of a data set, from its number alone.

Rows that are held out, and those that a head is trained on, are chosen by it. So the choice does not depend on how
the rows are divided into parts, nor on which machine asks.

References
----------
Steele, Lea, Flood (2014), Fast splittable pseudorandom number generators, OOPSLA: the finalizer of SplitMix.
"""

import numpy as np

from i2cansay.core.types import Float64, Rows

#: What the numbers are for; those of two purposes are independent of each other.
HELD_OUT, HEAD = 1, 2


def row_keys(rows: Rows, purpose: int) -> Float64:
    """Return a number from 0 up to 1 for each of `rows`, (n,).

    Examples
    --------
    >>> rows = np.arange(100_000)
    >>> keys = row_keys(rows, HELD_OUT)
    >>> bool((row_keys(rows[7:9], HELD_OUT) == keys[7:9]).all()), round(float((keys < 0.3).mean()), 2)
    (True, 0.3)
    """
    golden = np.uint64(0x9E3779B97F4A7C15)
    with np.errstate(over="ignore"):
        mixed = (rows.astype(np.uint64) + np.uint64(1)) * golden + np.uint64(purpose << 48)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    keys: Float64 = (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return keys
