"""The client: retries, and what it refuses to send."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from i2cansay.service.client import Client, RequestRefused
from tests.service.material import rows
from tests.service.running import Running


def test_a_busy_service_is_asked_again_and_a_lesson_counts_once(
    shared: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client(shared.client.url, tries=4)
    real, keys = Client._once, list[str]()

    def once(self: Client, method: str, path: str, body: Any, headers: dict[str, str]) -> Any:
        keys.append(headers.get("idempotency-key", ""))
        if len(keys) == 1:
            raise RequestRefused(429, "busy", "busy", 0.01)
        answer = real(self, method, path, body, headers)
        if len(keys) == 2:
            raise ConnectionResetError("the answer was lost on the way")
        return answer

    monkeypatch.setattr(Client, "_once", once)
    lesson = client.model("numbers").learn(
        ["p", "q"] * 2, features=rows(["p", "q"] * 2, np.random.default_rng(0))
    )
    assert lesson.counts == {"p": 2, "q": 2}
    assert lesson.repeated == 4
    assert len(keys) == 3
    assert len(set(keys)) == 1
    client.close()


def test_a_refusal_is_not_repeated(shared: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = list[str]()
    real = Client._once

    def once(self: Client, method: str, path: str, body: Any, headers: dict[str, str]) -> Any:
        calls.append(path)
        return real(self, method, path, body, headers)

    monkeypatch.setattr(Client, "_once", once)
    client = Client(shared.client.url, tries=4)
    with pytest.raises(RequestRefused, match="no model 'none'"):
        client.model("none").classes()
    assert len(calls) == 1
    client.close()


def test_what_cannot_be_sent() -> None:
    model = Client().model("numbers")
    with pytest.raises(ValueError, match="images or features"):
        model.predict()
    with pytest.raises(ValueError, match=r"\(n, d\)"):
        model.predict(features=[1.0, 2.0])
    with pytest.raises(ValueError, match="expected an address"):
        Client("localhost:8000", tries=1).models()


def test_one_class_of_a_lesson_is_moved_or_taken_back(shared: Running) -> None:
    client = Client(shared.client.url)
    model = client.model("numbers")
    before = {known.label: known.count for known in model.classes()}
    labels = ["v", "w"] * 4
    lesson = model.learn(labels, features=rows(labels, np.random.default_rng(1)))
    model.move(lesson, "u", only="v")
    model.undo(lesson, only="w")
    after = {known.label: known.count for known in model.classes()}
    assert after == {**before, "u": 4}
    client.close()
