"""Answers on their way to an event loop."""

from __future__ import annotations

import asyncio
import gc
import weakref
from concurrent.futures import Future

from i2cansay.service.http.answers import Answers


def test_a_loop_that_ended_is_not_kept() -> None:
    late: list[Future[int]] = [Future()]

    async def wait() -> int:
        done: Future[int] = Future()
        done.set_result(3)
        _ = Answers.of_this_loop().expect(late[0])
        found: int = await Answers.of_this_loop().expect(done)
        return found

    loop = asyncio.new_event_loop()
    assert loop.run_until_complete(wait()) == 3
    loop.close()
    kept = weakref.ref(loop)
    late.pop().set_result(4)  # nobody waits any more
    del loop
    gc.collect()
    assert kept() is None
