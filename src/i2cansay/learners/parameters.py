"""Checks of a learner's parameters, with the sentences a user gets to read."""

from collections.abc import Iterable
from numbers import Integral, Real

import numpy as np


def check_positive(**parameters: float) -> None:
    """Raise unless every parameter is a finite number above zero.

    Examples
    --------
    >>> check_positive(lr=0.0)
    Traceback (most recent call last):
    ...
    ValueError: lr must be a number above 0, got 0.0
    """
    for name, value in parameters.items():
        if not _is_finite_number(value) or value <= 0:
            raise ValueError(f"{name} must be a number above 0, got {value!r}")


def check_not_negative(**parameters: float) -> None:
    """Raise unless every parameter is a finite number of at least zero."""
    for name, value in parameters.items():
        if not _is_finite_number(value) or value < 0:
            raise ValueError(f"{name} must be a number of at least 0, got {value!r}")


def check_share(**parameters: float) -> None:
    """Raise unless every parameter is a number from 0 to 1.

    Examples
    --------
    >>> check_share(reject_below=50)
    Traceback (most recent call last):
    ...
    ValueError: reject_below must be a number from 0 to 1, got 50
    """
    for name, value in parameters.items():
        if not _is_finite_number(value) or not 0 <= value <= 1:
            raise ValueError(f"{name} must be a number from 0 to 1, got {value!r}")


def check_below_one(**parameters: float) -> None:
    """Raise unless every parameter is a number of at least 0 and below 1.

    Examples
    --------
    >>> check_below_one(momentum=1.0)
    Traceback (most recent call last):
    ...
    ValueError: momentum must be a number of at least 0 and below 1, got 1.0
    """
    for name, value in parameters.items():
        if not _is_finite_number(value) or not 0 <= value < 1:
            raise ValueError(f"{name} must be a number of at least 0 and below 1, got {value!r}")


def check_error_rate(**rates: float) -> None:
    """Raise unless every rate is a number above 0 and below 1.

    Examples
    --------
    >>> check_error_rate(error=5)
    Traceback (most recent call last):
    ...
    ValueError: error must be a share above 0 and below 1, such as 0.05, got 5
    """
    for name, value in rates.items():
        if not _is_finite_number(value) or not 0 < value < 1:
            raise ValueError(f"{name} must be a share above 0 and below 1, such as 0.05, got {value!r}")


def check_whole(*, at_least: int = 0, at_most: float = np.inf, **parameters: int) -> None:
    """Raise unless every parameter is a whole number of at least `at_least`, and at most `at_most`.

    Examples
    --------
    >>> check_whole(batch_size=2.5, at_least=1)
    Traceback (most recent call last):
    ...
    ValueError: batch_size must be a whole number of at least 1, got 2.5
    """
    for name, value in parameters.items():
        if not isinstance(value, Integral) or isinstance(value, bool) or value < at_least:
            raise ValueError(f"{name} must be a whole number of at least {at_least}, got {value!r}")
        if value > at_most:
            raise ValueError(f"{name} must be at most {at_most}, got {value!r}")


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


def _is_finite_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and bool(np.isfinite(float(value)))
