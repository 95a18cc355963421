"""Checks of a learner's parameters, with the sentences a user gets to read."""

from collections.abc import Iterable

import numpy as np


def check_positive(**parameters: float) -> None:
    """Raise unless every parameter is a finite number above zero.

    Examples
    --------
    >>> check_positive(lr=0.0)
    Traceback (most recent call last):
    ...
    ValueError: lr must be above 0, got 0.0
    """
    for name, value in parameters.items():
        if not np.isfinite(value) or value <= 0:
            raise ValueError(f"{name} must be above 0, got {value!r}")


def check_not_negative(**parameters: float) -> None:
    """Raise unless every parameter is a finite number of at least zero."""
    for name, value in parameters.items():
        if not np.isfinite(value) or value < 0:
            raise ValueError(f"{name} must be at least 0, got {value!r}")


def check_choice(name: str, value: object, allowed: Iterable[object]) -> None:
    """Raise unless `value` is one of those allowed.

    Examples
    --------
    >>> check_choice("metric", "manhattan", ("euclidean", "cosine"))
    Traceback (most recent call last):
    ...
    ValueError: metric must be one of 'euclidean', 'cosine', got 'manhattan'
    """
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}")
