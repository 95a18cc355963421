"""Ctrl-C waits for the end of a block, in the main thread, and is not lost."""

from __future__ import annotations

import signal
from threading import Thread

import pytest

from i2cansay.image_learner.interrupts import interrupts_deferred


def test_an_interrupt_comes_at_the_end_and_the_handler_is_back() -> None:
    usual, steps = signal.getsignal(signal.SIGINT), list[str]()

    def interrupted() -> None:
        with interrupts_deferred():
            signal.raise_signal(signal.SIGINT)
            steps.append("after")

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert steps == ["after"]
    assert signal.getsignal(signal.SIGINT) is usual


def test_an_error_inside_is_raised_and_the_handler_is_back() -> None:
    usual = signal.getsignal(signal.SIGINT)
    with pytest.raises(ValueError, match="inside"), interrupts_deferred():
        raise ValueError("inside")
    assert signal.getsignal(signal.SIGINT) is usual


def test_other_threads_leave_the_handler_alone() -> None:
    usual, seen = signal.getsignal(signal.SIGINT), list[object]()

    def work() -> None:
        with interrupts_deferred():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = Thread(target=work)
    thread.start()
    thread.join(10)
    assert seen == [usual]
