"""Routes that are called directly behave as the others; answers of a group come to the loop together."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future

import numpy as np
import pytest

from i2cansay.service.errors import ServiceError
from i2cansay.service.http.answers import Answers
from i2cansay.service.http.api import wait
from i2cansay.service.model.batcher import Batcher
from tests.service.material import rows
from tests.service.running import Running
from tests.service.sending import send


def test_what_is_not_this_route_is_answered_as_before(shared: Running) -> None:
    assert send(shared, "GET", "/v1/models/numbers/learn")[0] == 405
    assert send(shared, "POST", "/v1/models/numbers/learn/")[0] in (307, 404)
    assert send(shared, "POST", "/v1/models/a%2Fb/predict", b"{}")[0] == 404
    status, headers, answer = send(shared, "POST", "/v1/models/nobody/predict", b"{}")
    assert (status, answer["code"]) == (404, "not_found")
    assert headers["x-content-type-options"] == "nosniff"


def test_a_long_key_is_refused(shared: Running) -> None:
    status, _, answer = send(
        shared, "POST", "/v1/models/numbers/learn", b"{}", {"idempotency-key": "k" * 201}
    )
    assert (status, "at most 200 characters, got 201" in answer["detail"]) == (422, True)


def test_the_metrics_name_the_route(shared: Running) -> None:
    X = rows(["a", "b"], np.random.default_rng(0))
    shared.client.model("numbers").learn(["a", "b"], features=X)
    metrics = send(shared, "GET", "/metrics")[2].decode()
    assert 'route="/v1/models/{name}/learn"' in metrics
    assert "numbers" not in metrics


def test_answers_of_a_group_wake_the_loop_once() -> None:
    async def ask() -> tuple[list[int], int]:
        loop, wakes = asyncio.get_running_loop(), 0
        wake = loop.call_soon_threadsafe

        def counted(*arguments: object) -> asyncio.Handle:
            nonlocal wakes
            wakes += 1
            return wake(*arguments)  # type: ignore[arg-type]

        loop.call_soon_threadsafe = counted  # type: ignore[assignment, method-assign]
        futures: list[Future[int]] = [Future() for _ in range(20)]
        waiting = [asyncio.ensure_future(wait(future, 9.0)) for future in futures]
        await asyncio.sleep(0)
        for number, future in enumerate(futures):
            future.set_result(number)
        return await asyncio.gather(*waiting), wakes

    assert asyncio.run(ask()) == (list(range(20)), 1)


def test_what_takes_too_long_is_given_up_and_cancelled() -> None:
    future: Future[int] = Future()
    with pytest.raises(ServiceError, match=r"no answer within 0\.01 seconds"):
        asyncio.run(wait(future, 0.01))
    assert future.cancelled()


def test_errors_and_cancelled_futures_reach_who_waits() -> None:
    async def ask() -> None:
        failed, dropped = Future[int](), Future[int]()
        failed.set_exception(ServiceError(409, "conflict", "no"))
        dropped.cancel()
        with pytest.raises(ServiceError, match="no"):
            await wait(failed, 9.0)
        with pytest.raises(asyncio.CancelledError):
            await Answers.of_this_loop().expect(dropped)

    asyncio.run(ask())


def test_a_round_of_the_loop_is_one_group() -> None:
    sizes = []

    def work(items: list[int]) -> list[int]:
        sizes.append(len(items))
        return items

    async def ask() -> list[int]:
        return await asyncio.gather(*(wait(queue.submit(number), 9.0) for number in range(12)))

    queue = Batcher[int, int]("round", work, waiting=20, together=20)
    assert asyncio.run(ask()) == list(range(12))
    assert sizes == [12]
    queue.close()
