"""Arrays that come from another process may be read-only."""

from typing import Any, TypeVar

from numpy.typing import NDArray

Array = TypeVar("Array", bound=NDArray[Any])


def ensure_writeable(array: Array) -> Array:
    """Return `array`, or a copy where it may only be read.

    joblib gives its workers what is large as read-only memory maps, and LAPACK would write into them all the same,
    which ends the process.

    Examples
    --------
    >>> import numpy as np
    >>> frozen = np.zeros(2)
    >>> frozen.flags.writeable = False
    >>> ensure_writeable(frozen).flags.writeable
    True
    """
    return array if array.flags.writeable else array.copy()
