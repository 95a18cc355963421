"""A person annotates in a real Label Studio, and a model learns."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from i2cansay.service.label_studio.connection import LabelStudio
from i2cansay.service.label_studio.origin import Origin
from tests.label_studio.real_studio import RealStudio
from tests.label_studio.recorder import recording
from tests.service.label_studio.studio import running_studio
from tests.service.material import make_image
from tests.service.running import Running, Starter, free_port

MODEL = "first"


@dataclass
class Together:
    """A Label Studio, a service, a project that both know, and what they say to each other."""

    studio: RealStudio
    starter: Starter
    connection: LabelStudio
    port: int
    running: Running
    secret: str
    project: int = 0
    backend: int = 0
    exchange: list[dict[str, Any]] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        classes = self.running.service.model(MODEL).snapshot.classes
        return {line.label: line.count for line in classes}

    def start(self) -> None:
        self.exchange.append({"to": "service", "method": "RESTART"})
        self.running = self.starter(port=self.port, label_studio=self.connection, need_token=True)

    def said(self, to: str) -> list[str]:
        return [
            f"{each['method']} {each['path']}"
            for each in self.exchange
            if each["to"] == to and "path" in each
        ]


@pytest.fixture
def together(studio: RealStudio, tmp_path: Path) -> Iterator[Together]:
    with ExitStack() as held:
        exchange: list[dict[str, Any]] = []
        origin = Origin.parse(held.enter_context(recording("studio", studio.port, exchange)))
        connection = LabelStudio(origin, studio.personal_token())
        starter = Starter(tmp_path / "data")
        held.callback(starter.stop_all)
        port = free_port()
        running = starter(port=port, label_studio=connection, need_token=True)
        running.service.create(MODEL)
        secret = running.service.tokens.add("label-studio", "teach")
        together = Together(studio, starter, connection, port, running, secret, exchange=exchange)
        together.project = studio.project("colours")
        address = held.enter_context(recording("service", port, exchange))
        rng = np.random.default_rng(0)
        colours = ["red", "blue"] * 6
        images = {f"{n:02d}.png": make_image(colour, rng, side=8) for n, colour in enumerate(colours)}
        studio.upload(together.project, images)
        together.backend = studio.connect(
            together.project, f"{address}/v1/models/{MODEL}/label-studio", secret
        )
        yield together


def test_annotations_are_learnt_changed_and_taken_back(together: Together) -> None:
    studio, project = together.studio, together.project
    tasks = [int(task["id"]) for task in studio.tasks(project)]
    assert len(tasks) == 12
    studio.ask_for_predictions(project)  # of a model that knows nothing
    assert [task["predictions"] for task in studio.tasks(project)] == [[]] * 12

    made = [
        studio.annotate(task, colour) for task, colour in zip(tasks[:8], ["red", "blue"] * 4, strict=True)
    ]
    assert together.counts() == {"blue": 4, "red": 4}
    studio.ask_for_predictions(project)
    for task, colour in zip(studio.tasks(project), ["red", "blue"] * 6, strict=True):
        (prediction,) = task["predictions"]
        assert prediction["result"][0]["value"]["choices"] == [colour]
        assert 0 < prediction["score"] <= 1

    studio.change(made[0], "blue")
    assert together.counts() == {"blue": 5, "red": 3}
    studio.delete(made[0])
    assert together.counts() == {"blue": 4, "red": 3}

    together.running.stop()  # and with it goes what is in memory
    together.start()
    before = len(together.said("studio"))
    studio.delete(made[1])
    assert together.counts() == {"blue": 3, "red": 3}
    fetched = together.said("studio")[before:]
    assert [path.split("/")[1] for path in fetched] in (["api", "api", "data"], ["api", "api", "api", "data"])
    studio.change(made[2], "blue")
    assert together.counts() == {"blue": 4, "red": 2}

    studio.annotate(tasks[8], skip=True)
    studio.annotate(tasks[9])
    assert together.counts() == {"blue": 4, "red": 2}

    together.running.stop()  # what is annotated meanwhile is missed
    studio.annotate(tasks[10], "red")
    studio.delete(made[3])
    together.start()
    assert together.counts() == {"blue": 4, "red": 2}
    studio.call("POST", f"/api/ml/{together.backend}/train", {})
    assert together.counts() == {"blue": 3, "red": 3}
    _record(together)


def test_a_task_that_names_another_address_is_not_followed(together: Together) -> None:
    studio, project = together.studio, together.project
    with running_studio() as elsewhere:
        elsewhere.put("/data/upload/1/a.png", make_image("red", np.random.default_rng(0)))
        images = [
            f"{elsewhere.address}/data/upload/1/a.png",
            "/api/current-user/token",
            "/data/upload/../../api/users",
        ]
        studio.call(
            "POST", f"/api/projects/{project}/import", [{"data": {"image": image}} for image in images]
        )
        hostile = [int(task["id"]) for task in studio.tasks(project)[-3:]]
        before = len(together.said("studio"))
        for task in hostile:
            studio.annotate(task, "red")
        studio.ask_for_predictions(project)
        assert elsewhere.asked == []
        assert all("current-user" not in path for path in together.said("studio")[before:])
    assert together.counts() == {}


def test_a_wrong_secret_teaches_nothing(together: Together) -> None:
    studio = together.studio
    (hook,) = studio.call("GET", f"/api/webhooks/?project={together.project}")
    studio.call("PATCH", f"/api/webhooks/{hook['id']}/", {"headers": {"Authorization": "Bearer wrong"}})
    studio.annotate(int(studio.tasks(together.project)[0]["id"]), "red")
    assert together.counts() == {}
    assert together.exchange[-1]["status"] == 401


def test_a_project_of_another_kind_is_refused(together: Together) -> None:
    studio = together.studio
    config = (
        '<View><Text name="t" value="$t"/><Choices name="c" toName="t"><Choice value="x"/></Choices></View>'
    )
    made = studio.call("POST", "/api/projects/", {"title": "texts", "label_config": config})
    address = f"http://127.0.0.1:{together.port}/v1/models/{MODEL}/label-studio"
    login = {"auth_method": "BASIC_AUTH", "basic_auth_user": "i2cansay", "basic_auth_pass": together.secret}
    body = {"project": made["id"], "url": address, "title": "i2cansay", **login}
    with pytest.raises(AssertionError, match="valid ML backend"):
        studio.call("POST", "/api/ml/", body)


def _record(together: Together) -> None:
    """Write the exchange down where that is asked for, for the tests that have no Label Studio."""
    if place := os.environ.get("I2CANSAY_RECORD"):
        said = [
            entry
            for entry in together.exchange
            if "token" not in entry.get("path", "") and (entry["to"], entry.get("status")) != ("service", 502)
        ]
        text = "[\n" + ",\n".join(json.dumps(entry) for entry in said) + "\n]"
        assert together.secret not in text
        assert together.connection.token not in text
        Path(place).write_text(text + "\n")
