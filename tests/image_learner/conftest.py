"""Ctrl-C as a terminal has it: a shell that starts tests in the background has it ignored."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def usual_interrupts() -> Iterator[None]:
    """Let SIGINT raise KeyboardInterrupt, and put back what was there."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
