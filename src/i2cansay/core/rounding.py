"""How much rounding is left in statistics from which samples were taken out, and when it is too much.

A sum of squares is rounded in its last digit. If one large sample is taken out of it, the sum of the small ones
still has that rounding: after a value of 1e7 among values of 1, a sum in float64 is known to about 0.02, and after
one of 1e9 not at all. So statistics that samples are taken out of keep a bound of their rounding, in the units of
the sums, and check here whether it is still small compared with what is left. Roundings are independent: two of them
combine like the sides of a right angle (`np.hypot`).

While samples are only added no bound is needed: sums of squares never fall, so the present one is the largest.
"""

import numpy as np
from numpy.typing import NDArray

from i2cansay.core.types import Float64

# Statistics that samples were taken out of equal those of the other samples up to this share: sums of squares
# relative to their mean over the dimensions, means relative to the spread. A spread below this share of the features
# counts as none. A millionth changes no prediction that matters, and allows for outliers 1e5 times as far out.
EXACT = 1e-6
EPSILON = float(np.finfo(np.float64).eps)
# Roundings of one sum and its difference, in units of the last digit; those of many additions partly cancel.
ROUNDINGS = 8


def unit(count: Float64 | float) -> Float64:
    """Return how far a sum of `count` samples may be off, as a share of it.

    Examples
    --------
    >>> bool(unit(100.0) < 1e-14)
    True
    """
    share: Float64 = EPSILON * (ROUNDINGS + np.sqrt(count))
    return share


def check_exact(
    squares_error: Float64,
    sum_error: Float64,
    *,
    count: Float64,
    squares: Float64,
    size: Float64,
    alone: NDArray[np.bool_],
    way_out: str,
) -> None:
    """Raise ValueError where statistics of groups would be rounding rather than what is left of their samples.

    Parameters
    ----------
    squares_error, sum_error : (k,) arrays, or (k, b) for groups of several blocks
        How far the sums of squares, and the sums, of each group may be off.
    count, squares, size : arrays of that shape
        What would be left: samples, mean sum of squares of a dimension, largest absolute value of the mean.
    alone : booleans of that shape
        Where there is known to be one sample left, which has no spread.
    way_out : str
        What to do instead.

    Examples
    --------
    >>> left = {"count": np.array([100.0]), "squares": np.array([90.0]), "size": np.array([0.1])}
    >>> left |= {"alone": np.array([False]), "way_out": "forget the class"}
    >>> check_exact(np.array([1e-9]), np.array([1e-9]), **left)
    >>> check_exact(np.array([0.1]), np.array([1e-9]), **left)
    Traceback (most recent call last):
    ...
    ValueError: these samples cannot be taken out exactly: beside values as large as there have been, too few digits
    of the rest were kept (rounding could be more than 1e-06 of its spread); forget the class
    """
    left = count > 0
    n = np.where(left, count, 1.0)
    known = squares_error <= np.maximum(EXACT * squares, n * (EXACT * size) ** 2)
    known |= alone & (squares <= squares_error)
    spread = np.sqrt(np.maximum(squares - squares_error, 0.0) / n)
    known &= sum_error <= EXACT * n * np.maximum(spread, size)
    if np.any(left & ~known):
        raise ValueError(
            "these samples cannot be taken out exactly: beside values as large as there have been, too few digits "
            f"of the rest were kept (rounding could be more than {EXACT:g} of its spread); {way_out}"
        )
