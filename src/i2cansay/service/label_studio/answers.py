"""Waiting for the queues of a model, in a thread."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TypeVar

from i2cansay.service.errors import ServiceError

Result = TypeVar("Result")


def answer_of(future: Future[Result], seconds: float) -> Result:
    """Return the answer of a queue; give up after `seconds`, so that the queue does not begin it.

    Examples
    --------
    >>> done = Future()
    >>> done.set_result(3)
    >>> answer_of(done, 1.0)
    3
    """
    try:
        return future.result(seconds)
    except TimeoutError:
        future.cancel()
        raise ServiceError(
            503, "timeout", f"no answer within {seconds:g} seconds; try again", retry_after=5.0
        ) from None
