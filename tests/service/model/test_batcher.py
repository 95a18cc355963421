"""The queue before a worker."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future

import pytest

from i2cansay.service.errors import ServiceError
from i2cansay.service.model.batcher import Batcher


def test_what_gathers_is_done_together_up_to_the_weight() -> None:
    go = threading.Event()
    seen: list[list[int]] = []

    def work(items: list[int]) -> list[int]:
        go.wait(5)
        seen.append(items)
        return [2 * item for item in items]

    batcher = Batcher("test", work, waiting=20, together=10, weight=lambda item: item)
    futures = [batcher.submit(item) for item in (1, 4, 5, 2, 30, 3)]
    go.set()
    assert [future.result(5) for future in futures] == [2, 8, 10, 4, 60, 6]
    batcher.close()
    assert [item for group in seen for item in group] == [1, 4, 5, 2, 30, 3]
    assert all(sum(group) <= 10 or len(group) == 1 for group in seen)


def test_one_failure_is_not_the_others() -> None:
    batcher = Batcher[int, int](
        "test",
        lambda items: [ValueError("odd") if item % 2 else item for item in items],
        waiting=9,
        together=9,
    )
    futures = [batcher.submit(item) for item in range(4)]
    assert [future.result(5) for future in futures[::2]] == [0, 2]
    for future in futures[1::2]:
        with pytest.raises(ValueError, match="odd"):
            future.result(5)
    batcher.close()


def test_closing_answers_what_waits_and_takes_no_more() -> None:
    go = threading.Event()

    def work(items: list[int]) -> list[int]:
        go.wait(5)
        return items

    batcher = Batcher("test", work, waiting=9, together=1)
    futures = [batcher.submit(item) for item in range(5)]
    closing = threading.Thread(target=batcher.close)
    closing.start()
    go.set()
    closing.join(5)
    assert [future.result(0) for future in futures] == list(range(5))
    with pytest.raises(ServiceError) as refusal:
        batcher.submit(9)
    assert refusal.value.status == 503


def test_what_was_given_up_is_not_begun() -> None:
    go, begun = threading.Event(), threading.Event()
    seen: list[int] = []

    def work(items: list[int]) -> list[int]:
        begun.set()
        go.wait(5)
        seen.extend(items)
        return items

    batcher = Batcher("test", work, waiting=9, together=9)
    first = batcher.submit(0)
    begun.wait(5)
    second, third = batcher.submit(1), batcher.submit(2)
    assert second.cancel()
    go.set()
    assert (first.result(5), third.result(5)) == (0, 2)
    batcher.close()
    assert seen == [0, 2]


def test_a_loop_that_ended_before_its_round_does_not_hold_up_others() -> None:
    batcher = Batcher[int, int]("test", lambda items: items, waiting=9, together=9)

    async def submit(item: int) -> Future[int]:
        return batcher.submit(item)

    async def answered(item: int) -> int:
        return await asyncio.wait_for(asyncio.wrap_future(batcher.submit(item)), 5)

    ended = asyncio.new_event_loop()
    waiting = ended.create_task(submit(1))
    ended.call_soon(ended.stop)
    ended.run_forever()  # one turn: the item is submitted, and the end of its round is never reached
    first = waiting.result()
    ended.close()
    assert asyncio.run(answered(2)) == 2
    assert first.result(5) == 1
    batcher.close()
