"""Exports and backups, several at once."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from i2cansay.service.client import RequestRefused
from i2cansay.service.limits import Limits
from i2cansay.service.model.served_model import ServedModel
from tests.service.material import rows
from tests.service.running import Running, Starter
from tests.service.sending import send


def taught(running: Running) -> None:
    labels = ["a", "b"] * 2
    running.client.create("numbers", encoder=None).learn(
        labels, features=rows(labels, np.random.default_rng(0))
    )


def test_copies_of_models_on_their_way_are_bounded(start: Starter, monkeypatch: pytest.MonkeyPatch) -> None:
    running = start(limits=Limits(download_bytes=1))  # less than any model: one at a time
    taught(running)
    begun, go = threading.Event(), threading.Event()
    real = ServedModel.backup

    def slow(self: ServedModel) -> bytes:
        begun.set()
        assert go.wait(20)
        return real(self)

    monkeypatch.setattr(ServedModel, "backup", slow)
    statuses: list[int] = []
    first = threading.Thread(
        target=lambda: statuses.append(send(running, "GET", "/v1/models/numbers/backup", None, {})[0])
    )
    first.start()
    assert begun.wait(20)
    status, headers, answer = send(running, "GET", "/v1/models/numbers/export", None, {})
    assert (status, answer["code"]) == (429, "busy")
    assert "retry-after" in {name.lower() for name in headers}
    go.set()
    first.join()
    assert statuses == [200]
    for _ in range(3):  # each gives its room back
        assert send(running, "GET", "/v1/models/numbers/export", None, {})[0] == 200


def test_a_failed_copy_gives_its_room_back(start: Starter, monkeypatch: pytest.MonkeyPatch) -> None:
    running = start(limits=Limits(download_bytes=1))
    taught(running)

    def broken(_: ServedModel) -> bytes:
        raise OSError("no memory")

    with monkeypatch.context() as patch:
        patch.setattr(ServedModel, "backup", broken)
        assert send(running, "GET", "/v1/models/numbers/backup", None, {})[0] == 500
    assert send(running, "GET", "/v1/models/numbers/backup", None, {})[0] == 200
    with pytest.raises(RequestRefused, match="there is no model"):
        running.client.model("gone").export()
