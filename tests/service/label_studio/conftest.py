"""A service that knows a stand-in for Label Studio."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from i2cansay.service.limits import Limits
from tests.service.label_studio.studio import CONFIG, Studio, running_studio, task_of
from tests.service.material import make_image
from tests.service.running import Running, Starter
from tests.service.sending import send

COLOURS = ("red", "green", "blue")


@dataclass
class Connected:
    """A service, its model `first`, and a stand-in that has images: task n is of colour n modulo 3."""

    running: Running
    studio: Studio
    restart: Callable[[], Running]
    headers: dict[str, str]

    def post(self, route: str, body: Any, model: str = "first") -> tuple[int, Any]:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"content-type": "application/json", **self.headers}
        path = f"/v1/models/{model}/label-studio/{route}"
        status, _, answer = send(self.running, "POST", path, data, headers)
        return status, answer

    def tell(self, event: dict[str, Any]) -> list[tuple[int, str]]:
        """Send an event; return what became of its annotations."""
        status, answer = self.post("webhook", event)
        assert status == 200, answer
        return [(each["id"], each["outcome"]) for each in answer["annotations"]]

    def counts(self) -> dict[str, int]:
        classes = self.running.service.model("first").snapshot.classes
        return {line.label: line.count for line in classes}


@pytest.fixture
def connect(start: Starter) -> Iterator[Callable[..., Connected]]:
    """Start a service that knows a stand-in."""
    with running_studio() as studio:
        rng = np.random.default_rng(0)
        for number in range(1, 13):
            task = task_of(number)
            studio.put(task["data"]["image"], make_image(COLOURS[number % 3], rng))
            studio.put(f"/api/tasks/{number}/", task)
        studio.put("/api/projects/1/", {"id": 1, "label_config": CONFIG})

        def connect(limits: Limits | None = None, **options: Any) -> Connected:
            def restart() -> Running:
                connected.running.stop()
                connected.running = begin()
                return connected.running

            def begin() -> Running:
                return start(limits=limits, label_studio=studio.connection(limits), **options)

            connected = Connected(begin(), studio, restart, {})
            if "first" not in connected.running.service.models:
                connected.running.service.create("first")
            return connected

        yield connect


@pytest.fixture
def connected(connect: Callable[..., Connected]) -> Connected:
    """One with the usual settings."""
    return connect()
