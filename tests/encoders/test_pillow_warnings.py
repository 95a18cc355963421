"""Pillow's warnings are kept away in many threads at once, and nothing is left changed."""

from __future__ import annotations

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

from i2cansay.encoders.pillow_warnings import quiet_pillow_warnings


def warn_as(module: str) -> None:
    warnings.warn_explicit("odd file", UserWarning, "file.py", 1, module=module)


def test_only_pillow_is_quiet() -> None:
    with quiet_pillow_warnings():
        warn_as("PIL.TiffImagePlugin")
        with pytest.raises(UserWarning, match="odd file"):
            warn_as("somewhere.else")
    with pytest.raises(UserWarning, match="odd file"):
        warn_as("PIL.TiffImagePlugin")


def test_overlapping_threads_leave_the_filters_as_they_were() -> None:
    before = list(warnings.filters)
    together = threading.Barrier(4)

    def enter_and_leave(i: int) -> None:
        together.wait()
        for _ in range(200):
            with quiet_pillow_warnings():
                warn_as("PIL.Image")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(enter_and_leave, range(4)))
    assert list(warnings.filters) == before


def test_filters_that_someone_replaced_meanwhile_are_respected() -> None:
    with warnings.catch_warnings():
        with quiet_pillow_warnings():
            warnings.resetwarnings()
        assert list(warnings.filters) == []
