"""A model is deleted while others are at work: nobody is told that the service is shutting down."""

from __future__ import annotations

import gc
import threading
import weakref
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from i2cansay.service.client import Client, RequestRefused
from i2cansay.service.errors import ServiceError
from i2cansay.service.model.requests import Learn, Question
from i2cansay.service.service import Service
from tests.service.material import rows, teach
from tests.service.running import Running


def test_a_request_on_its_way_to_a_model_that_is_deleted(running: Running) -> None:
    remote = running.client.create("numbers", encoder=None)
    model = running.service.model("numbers")
    rng = np.random.default_rng(0)
    teach(model, ["a", "a"], rng)
    remote.delete()
    late: list[Callable[[], object]] = [
        lambda: model.teach(Learn(rows(["a"], rng), ("a",))),
        lambda: model.ask(Question(rows(["a"], rng), 1)),
        lambda: model.log(0, 10),
        model.backup,
    ]
    for request in late:
        with pytest.raises(ServiceError, match="has been deleted") as refusal:
            request()
        assert refusal.value.status == 404


def test_a_service_that_stops_says_so(running: Running) -> None:
    model = running.service.create("numbers", encoder=None)
    running.stop()
    with pytest.raises(ServiceError, match="shutting down") as refusal:
        model.ask(Question(np.zeros((1, 3), np.float32), 1))
    assert refusal.value.status == 503


def test_others_go_on_while_models_come_and_go(running: Running) -> None:
    running.client.create("stays", encoder=None).learn(
        "a", features=rows(["a"] * 2, np.random.default_rng(0))
    )
    ended = threading.Event()
    answers: Counter[tuple[str, int]] = Counter()

    def ask(name: str, seed: int) -> None:
        client = Client(running.client.url, tries=1)
        rng = np.random.default_rng(seed)
        while not ended.is_set():
            try:
                client.model(name).learn("a", features=rows(["a", "a"], rng))
                client.model(name).predict(features=rows(["a"], rng))
                answers[name, 200] += 1
            except RequestRefused as refusal:
                answers[name, refusal.status] += 1
        client.close()

    threads = [threading.Thread(target=ask, args=(name, n)) for n, name in enumerate(("stays", "goes") * 3)]
    for thread in threads:
        thread.start()
    for _ in range(12):
        model = running.client.create("goes", encoder=None)
        model.delete()
    ended.set()
    for thread in threads:
        thread.join()
    assert answers["stays", 200] > 0
    assert {status for name, status in answers if name == "stays"} == {200}
    # 409: it was there again for the second request, and knew no class.
    assert {status for name, status in answers if name == "goes"} <= {200, 404, 409}


def test_a_deleted_model_leaves_the_memory_at_once(tmp_path: Path) -> None:
    service = Service(tmp_path)
    gc.collect()
    gc.disable()  # what hangs in a cycle would wait for it
    try:
        model = service.create("numbers", encoder=None)
        teach(model, ["a", "a"], np.random.default_rng(0))
        model.ask(Question(rows(["a"], np.random.default_rng(0)), 1)).result(20)
        left = weakref.ref(model)
        del model
        service.delete("numbers")
        assert left() is None
    finally:
        gc.enable()
        service.close()
