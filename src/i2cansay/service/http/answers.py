"""Answers of the queues on their way to the event loop: a whole group wakes the loop once."""

from __future__ import annotations

import asyncio
from collections import deque
from concurrent.futures import Future
from typing import Any
from weakref import WeakKeyDictionary, ref


class Answers:
    """What worker threads have done for one event loop.

    `asyncio.wrap_future` wakes the loop for each future by a system call, and gives Python's lock away in it. The
    answers of a group come together, so one call is enough.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        # Weak: the loop is the key under which these answers are kept.
        self._loop = ref(loop)
        self._done: deque[tuple[Future[Any], asyncio.Future[Any]]] = deque()
        self._woken = False

    @classmethod
    def of_this_loop(cls) -> Answers:
        """Return those of the running event loop."""
        loop = asyncio.get_running_loop()
        if loop not in _by_loop:
            _by_loop[loop] = cls(loop)
        return _by_loop[loop]

    def expect(self, future: Future[Any]) -> asyncio.Future[Any]:
        """Return what to wait for."""
        waiter: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        future.add_done_callback(lambda done: self._arrived(done, waiter))
        return waiter

    def _arrived(self, done: Future[Any], waiter: asyncio.Future[Any]) -> None:
        """In a worker's thread, or in the loop's own where the future is done already."""
        self._done.append((done, waiter))
        if not self._woken:
            self._woken = True
            loop = self._loop()
            if loop is None:  # and with it whoever waited
                self._done.clear()
                return
            try:
                loop.call_soon_threadsafe(self._deliver)
            except RuntimeError:  # the loop is closed: nobody waits any more
                self._done.clear()

    def _deliver(self) -> None:
        self._woken = False  # first: what arrives from now on wakes the loop again
        while self._done:
            done, waiter = self._done.popleft()
            if waiter.done():
                continue
            if done.cancelled():
                waiter.cancel()
            elif (error := done.exception()) is not None:
                waiter.set_exception(error)
            else:
                waiter.set_result(done.result())


_by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, Answers] = WeakKeyDictionary()
