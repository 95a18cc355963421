"""The routes for Label Studio: who may call them, what they answer, what they keep to themselves."""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from i2cansay.service.errors import ServiceError
from i2cansay.service.limits import Limits
from tests.service.label_studio.conftest import Connected, connect
from tests.service.label_studio.studio import CONFIG, TOKEN, annotation_of, event_of, task_of
from tests.service.material import make_image
from tests.service.running import Running
from tests.service.sending import send

__all__ = ["connect"]
HEALTH = "/v1/models/first/label-studio/health"
COLOURS = ("red", "green", "blue")


@pytest.fixture
def connected(connect: Callable[..., Connected]) -> Connected:
    return connect()


def taught(connected: Connected) -> Connected:
    for number in range(1, 7):
        connected.tell(event_of(annotation_of(number, COLOURS[number % 3])))
    return connected


def setup_body(**more: Any) -> dict[str, Any]:
    return {"project": "1.1700000000", "schema": CONFIG, "hostname": "http://evil.example", **more}


def test_a_project_is_connected(connected: Connected) -> None:
    status, _, answer = send(connected.running, "GET", HEALTH)
    assert (status, answer) == (200, {"status": "UP", "model_class": "i2cansay"})
    body = setup_body(access_token="f" * 40, extra_params=None)
    assert connected.post("setup", body) == (200, {"model_version": "first 0"})
    assert connected.studio.asked == []  # neither its host nor its token is used


def test_the_version_changes_with_every_lesson(connected: Connected) -> None:
    versions = [connected.post("setup", setup_body())[1]["model_version"]]
    for number in (3, 6):
        connected.tell(event_of(annotation_of(number, "red")))
        versions.append(connected.post("setup", setup_body())[1]["model_version"])
    assert len(set(versions)) == 3


@pytest.mark.parametrize("schema", [None, "", "<View/>", "<View>", '<!DOCTYPE x [<!ENTITY a "b">]><View/>'])
def test_a_project_without_a_choice_about_an_image_is_refused(connected: Connected, schema: Any) -> None:
    assert connected.post("setup", setup_body(schema=schema))[0] == 422


def test_tasks_are_predicted_with_scores_and_in_their_order(connected: Connected) -> None:
    taught(connected)
    tasks = [task_of(number) for number in (9, 7, 8, 99, 12)]
    status, answer = connected.post("predict", {"tasks": tasks, "label_config": CONFIG, "project": "1.17"})
    assert status == 200
    found = [each["result"][0]["value"]["choices"] if each else None for each in answer["results"]]
    assert found == [["red"], ["green"], ["blue"], None, ["red"]]
    for each in answer["results"]:
        if each:
            assert 0 < each["score"] <= 1
            assert each["result"][0]["score"] == each["score"]
            assert (each["result"][0]["from_name"], each["result"][0]["to_name"]) == ("choice", "image")
            assert each["model_version"] == "first 6"


def test_only_what_can_be_chosen_is_predicted(connected: Connected) -> None:
    taught(connected)
    config = CONFIG.replace('<Choice value="red"/>', "")
    _, answer = connected.post("predict", {"tasks": [task_of(9)], "label_config": config})
    (found,) = answer["results"]
    assert found["result"][0]["value"]["choices"][0] in ("green", "blue")
    config = CONFIG.replace("green", "pink").replace("blue", "grey").replace("red", "white")
    assert connected.post("predict", {"tasks": [task_of(9)], "label_config": config})[1] == {"results": [[]]}


def test_an_image_that_cannot_be_read_spoils_no_other(connected: Connected) -> None:
    taught(connected)
    connected.studio.put("/data/upload/1/8.png", b"no image")
    connected.studio.put("/data/upload/1/7.png", make_image("green", np.random.default_rng(0))[:60])
    tasks = [task_of(number) for number in (7, 8, 9)]
    _, answer = connected.post("predict", {"tasks": tasks, "label_config": CONFIG})
    assert [bool(each) for each in answer["results"]] == [False, False, True]


def test_more_tasks_than_are_encoded_together(connected: Connected) -> None:
    taught(connected)
    tasks = [task_of(9), task_of(7)] * 20
    _, answer = connected.post("predict", {"tasks": tasks, "label_config": CONFIG})
    found = [each["result"][0]["value"]["choices"][0] for each in answer["results"]]
    assert found == ["red", "green"] * 20


def test_a_request_has_a_limit_of_tasks(connect: Callable[..., Connected]) -> None:
    connected = connect(limits=Limits(label_studio_tasks=3))
    body = {"tasks": [task_of(9)] * 4, "label_config": CONFIG}
    assert connected.post("predict", body)[0] == 413
    assert connected.post("predict", {"tasks": [], "label_config": CONFIG})[0] == 422
    assert connected.post("predict", {"tasks": {"id": 1}, "label_config": CONFIG})[0] == 422
    assert connected.post("predict", {"tasks": [None, 7], "label_config": CONFIG})[1] == {"results": [[], []]}


@pytest.mark.parametrize("route", ["setup", "predict", "webhook"])
@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"action": 1, "action": 2}', b"\xff", b'{"a": NaN}'])
def test_what_is_no_json_object_is_refused(connected: Connected, route: str, body: bytes) -> None:
    assert connected.post(route, body)[0] == 422


def test_a_model_that_is_not_there_or_takes_features(connected: Connected) -> None:
    connected.running.service.create("numbers", encoder=None)
    for model, expected in (("nobody", 404), ("numbers", 422)):
        assert connected.post("setup", setup_body(), model)[0] == expected
        assert connected.post("webhook", event_of(annotation_of(3, "red")), model)[0] == expected


def test_a_service_that_knows_no_label_studio_says_how_to_tell_it(running: Running) -> None:
    running.client.create("first")
    status, _, answer = send(running, "GET", HEALTH)
    assert status == 409
    assert "--label-studio ADDRESS" in answer["detail"]


class TestSecrets:
    """Label Studio logs in with a password, its webhooks with a header; both carry a token of the service."""

    @pytest.fixture
    def guarded(self, connect: Callable[..., Connected]) -> tuple[Connected, str, str]:
        connected = connect(need_token=True)
        tokens = connected.running.service.tokens
        return connected, tokens.add("studio", "teach"), tokens.add("reader", "predict")

    @staticmethod
    def basic(secret: str, user: str = "i2cansay") -> dict[str, str]:
        return {"authorization": "Basic " + base64.b64encode(f"{user}:{secret}".encode()).decode()}

    def test_a_password_is_a_token_here_and_nowhere_else(self, guarded: tuple[Connected, str, str]) -> None:
        connected, secret, _ = guarded
        running = connected.running
        assert send(running, "GET", HEALTH, headers=self.basic(secret))[0] == 200
        assert send(running, "GET", HEALTH, headers={"authorization": f"Bearer {secret}"})[0] == 200
        assert send(running, "GET", "/v1/models", headers=self.basic(secret))[0] == 401
        running.service.create("label-studio")
        assert send(running, "GET", "/v1/models/label-studio/classes", headers=self.basic(secret))[0] == 401

    def test_without_a_token_nothing_is_answered(self, guarded: tuple[Connected, str, str]) -> None:
        connected, secret, _ = guarded
        for headers in (
            {},
            self.basic("wrong"),
            self.basic(secret + "x"),
            {"authorization": "Basic"},
            {"authorization": "Basic ???"},
            {"authorization": f"Token {secret}"},
            self.basic("", user=secret),
        ):
            assert send(connected.running, "GET", HEALTH, headers=headers)[0] == 401

    def test_a_reader_can_predict_and_not_teach(self, guarded: tuple[Connected, str, str]) -> None:
        connected, _, reader = guarded
        connected.headers = self.basic(reader)
        assert connected.post("setup", setup_body())[0] == 200
        assert connected.post("webhook", event_of(annotation_of(3, "red")))[0] == 403
        assert connected.counts() == {}

    def test_the_log_names_who_taught(self, guarded: tuple[Connected, str, str]) -> None:
        connected, secret, _ = guarded
        connected.headers = {"authorization": f"Bearer {secret}"}
        for number in (3, 6):
            connected.tell(event_of(annotation_of(number, "red")))
        lines = connected.running.service.model("first").log(0, 10)
        assert [(entry.action, entry.who) for _, entry in lines] == [("learn", "studio")]

    def test_no_secret_is_in_the_log_or_in_an_answer(
        self, guarded: tuple[Connected, str, str], caplog: pytest.LogCaptureFixture
    ) -> None:
        connected, secret, _ = guarded
        connected.headers = {"authorization": f"Bearer {secret}"}
        heard = []
        with caplog.at_level(logging.DEBUG):
            heard.append(connected.post("setup", setup_body(access_token="f" * 40)))
            heard.append(connected.post("setup", setup_body(schema="<View/>", access_token="f" * 40)))
            for status in (200, 401, 500):
                connected.studio.put("/data/upload/1/3.png", b"no image", status)
                heard.append(connected.post("webhook", event_of(annotation_of(3, "red"))))
            connected.headers = self.basic("g" * 43)
            heard.append(connected.post("webhook", event_of(annotation_of(3, "red"))))
        for text in (caplog.text, str(heard)):
            assert not any(each in text for each in (TOKEN, secret, "f" * 40, "g" * 43))
        assert "/data/upload" not in caplog.text


def test_the_token_is_in_no_error_of_the_connection(connected: Connected) -> None:
    studio = connected.studio.connection()
    with pytest.raises(ServiceError) as refused:
        studio.task(404)
    assert TOKEN not in repr(refused.value) + repr(studio)
