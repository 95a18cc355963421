"""How many bytes the parts of a learner take, computed without making them.

Each function returns an upper bound for its part, with spare room for further classes (`core.linalg.row_buffer`).
Learners add up their parts in `_state_bytes`, and `i2cansay.testing` compares the sum with what they really take.
"""


def room(n_rows: int) -> int:
    """Return for how many rows `RowBuffer` has room once it has grown to `n_rows`.

    Examples
    --------
    >>> room(1), room(100)
    (16, 125)
    """
    return max(16, n_rows * 5 // 4)


def means_bytes(width: int, n_classes: int) -> int:
    """Return the bytes of `ClassMeans`."""
    return 8 * (room(n_classes) * (width + 1) + width + 1)


def moments_bytes(width: int, n_classes: int) -> int:
    """Return the bytes of `ClassMoments`."""
    return 8 * room(n_classes) * (2 * width + 1)


def triangle_bytes(width: int, item: int = 8) -> int:
    """Return the bytes of half a symmetric matrix of numbers of `item` bytes, as `SymmetricMatrix` keeps it.

    Examples
    --------
    >>> triangle_bytes(3)
    48
    """
    return item * width * (width + 1) // 2


def scatter_bytes(width: int, n_classes: int) -> int:
    """Return the bytes of `SharedScatter`."""
    return means_bytes(width, n_classes) + triangle_bytes(width)


def ridge_bytes(width: int, n_classes: int) -> int:
    """Return the bytes of `RidgeStatistics`."""
    return means_bytes(width, n_classes) + scatter_bytes(width, 1)


def linear_bytes(width: int, n_classes: int) -> int:
    """Return the bytes of `LinearScores`."""
    return 8 * (n_classes + 1) * (width + 1)


def head_bytes(width: int, n_classes: int, *, momentum: float = 0.0) -> int:
    """Return the bytes of `LinearHead`."""
    return 4 * room(n_classes) * (width + 1) * (2 if momentum else 1)


def samples_bytes(width: int, size: int) -> int:
    """Return the bytes of `SampleMemory`."""
    return size * (4 * width + 8)
