"""A queue with one worker that takes all waiting items at once: for predictions and for commits."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from i2cansay.service.errors import busy, stopping

Item = TypeVar("Item")
Answer = TypeVar("Answer")


class Batcher(Generic[Item, Answer]):
    """A bounded queue and one worker, which takes all items that have gathered.

    No timer waits for a batch to fill. While one batch is at work the next one gathers, so a lone request is served
    at once and a crowd is served together. An event loop submits what it has read in one round together: the worker
    would otherwise take the first request alone, at the loop's next system call.

    Parameters
    ----------
    name : str
        Of the thread; named in the error of a full queue.
    work : callable
        Returns an answer or an exception for each of a list of items.
    waiting : int
        Items that may wait.
    together : int
        The largest sum of weights in a batch; a batch has at least one item.
    weight : callable, optional
        Of an item; 1 by default.

    Examples
    --------
    >>> doubler = Batcher("doubling", lambda items: [2 * item for item in items], waiting=9, together=3)
    >>> [doubler.submit(number).result() for number in (1, 2)]
    [2, 4]
    >>> doubler.close()
    """

    def __init__(
        self,
        name: str,
        work: Callable[[list[Item]], Sequence[Answer | Exception]],
        *,
        waiting: int,
        together: int,
        weight: Callable[[Item], int] = lambda _: 1,
    ) -> None:
        self.name = name
        self._work = work
        self._waiting = waiting
        self._together = together
        self._weight = weight
        self._queue: deque[tuple[Item, Future[Answer]]] = deque()
        self._round: list[tuple[Item, Future[Answer]]] = []
        # The event loop that will end the round; weak, as a loop that ended must not stay in memory.
        self._ends_round: weakref.ref[asyncio.AbstractEventLoop] | None = None
        self._wake = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name=f"i2cansay-{name}", daemon=True)
        self._thread.start()

    def __len__(self) -> int:
        return len(self._queue) + len(self._round)

    def submit(self, item: Item) -> Future[Answer]:
        """Queue an item; raise ServiceError where the queue is full or closed."""
        future: Future[Answer] = Future()
        with self._wake:
            if self._closed:
                raise stopping()
            if len(self) >= self._waiting:
                raise busy(self.name)
            self._round.append((item, future))
            loop = _running_loop()
            if loop is None:
                self._queue_round()
            elif self._ends_round is None or self._ends_round() is not loop:
                # A loop that ended, or was stopped, never ends its round: each loop ends what it finds.
                self._ends_round = weakref.ref(loop)
                loop.call_soon(self._end_round)
        return future

    def _end_round(self) -> None:
        with self._wake:
            self._queue_round()

    def _queue_round(self) -> None:
        """Give the worker what was submitted; the lock must be held."""
        self._queue.extend(self._round)
        self._round.clear()
        self._ends_round = None
        self._wake.notify()

    def close(self) -> None:
        """Accept no more items, finish the waiting ones, and end the thread."""
        with self._wake:
            self._closed = True
            self._queue_round()
        self._thread.join()
        # `work` is usually a method of whoever holds this queue. A deleted model would stay in memory, up to a
        # quarter of a gigabyte, until the collector of cycles comes round.
        self._work = _nothing

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._queue and not self._closed:
                    self._wake.wait()
                if not self._queue:
                    return
                taken = self._take()
            # A request that was cancelled in the queue is not begun.
            begun = [(item, future) for item, future in taken if future.set_running_or_notify_cancel()]
            if begun:
                self._serve(begun)

    def _take(self) -> list[tuple[Item, Future[Answer]]]:
        taken = [self._queue.popleft()]
        room = self._together - self._weight(taken[0][0])
        while self._queue and (weight := self._weight(self._queue[0][0])) <= room:
            taken.append(self._queue.popleft())
            room -= weight
        return taken

    def _serve(self, begun: list[tuple[Item, Future[Answer]]]) -> None:
        try:
            answers = self._work([item for item, _ in begun])
        except Exception as error:
            answers = [error] * len(begun)
        for (_, future), answer in zip(begun, answers, strict=True):
            if isinstance(answer, Exception):
                future.set_exception(answer)
            else:
                future.set_result(answer)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _nothing(_: object) -> list[Any]:
    """Stand for the work of a closed queue."""
    return []
