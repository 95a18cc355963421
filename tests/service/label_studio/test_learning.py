"""Learning at every annotation: through the routes, as Label Studio calls them."""

from __future__ import annotations

import http.client
import json
import logging
import time
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

from i2cansay.service.label_studio import learning
from i2cansay.service.model import transaction
from tests.service.label_studio.conftest import Connected
from tests.service.label_studio.studio import CONFIG, annotation_of, event_of, running_studio, task_of
from tests.service.material import make_image

PAGE = "/api/tasks/?project=1&page=1&page_size=50&fields=all"


def annotate(connected: Connected, number: int, *labels: Any, at: int = 0, updated: bool = False) -> str:
    action = "ANNOTATION_UPDATED" if updated else "ANNOTATION_CREATED"
    ((got, outcome),) = connected.tell(event_of(annotation_of(number, *labels, at=at), action))
    assert got == number
    return outcome


def delete(connected: Connected, *numbers: int) -> list[tuple[int, str]]:
    gone = [{"id": number} for number in numbers]
    return connected.tell({"action": "ANNOTATIONS_DELETED", "annotations": gone, "project": {"id": 1}})


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transaction, "LESSON_SECONDS", -1.0)


def test_an_annotation_is_learnt_changed_and_deleted(connected: Connected) -> None:
    assert annotate(connected, 3, "red") == "learnt"
    assert annotate(connected, 6, "red") == "learnt"
    assert annotate(connected, 9, "blue", at=1) == "learnt"
    assert connected.counts() == {"blue": 1, "red": 2}
    assert annotate(connected, 9, "red", at=2, updated=True) == "moved"
    assert connected.counts() == {"red": 3}
    assert annotate(connected, 9, at=3, updated=True) == "taken_back"
    assert annotate(connected, 9, "red", at=4, updated=True) == "learnt"
    assert delete(connected, 9, 12) == [(9, "taken_back"), (12, "unchanged")]
    assert connected.counts() == {"red": 2}


def test_delivered_twice_or_late_it_counts_once(connected: Connected) -> None:
    event = event_of(annotation_of(3, "red", at=5))
    assert connected.tell(event) == [(3, "learnt")]
    fetched = len(connected.studio.asked)
    assert connected.tell(event) == [(3, "unchanged")]
    assert annotate(connected, 3, "blue", at=4) == "older"
    assert annotate(connected, 6, "red") == "learnt"
    connected.restart()
    assert connected.tell(event) == [(3, "unchanged")]
    assert connected.counts() == {"red": 2}
    assert connected.studio.paths[fetched:].count("/data/upload/1/3.png") == 1  # for what came late only


def test_after_the_window_the_image_is_fetched_again(connected: Connected, later: None) -> None:
    for number in (3, 6, 9, 12):
        annotate(connected, number, "red")
    connected.restart()
    connected.studio.asked.clear()
    assert delete(connected, 9) == [(9, "taken_back")]
    assert connected.studio.paths == ["/api/tasks/9/", "/api/projects/1/", "/data/upload/1/9.png"]
    assert annotate(connected, 6, "blue", at=1, updated=True) == "moved"
    assert connected.counts() == {"red": 2, "blue": 1}


def test_what_cannot_be_taken_back_yet_is_tried_again_when_catching_up(connected: Connected) -> None:
    annotate(connected, 3, "red")
    annotate(connected, 6, "red")
    connected.restart()
    gone = {"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 6}], "project": {"id": 1}}
    status, answer = connected.post("webhook", gone)
    assert status == 409
    assert "would leave 'red' with one sample" in answer["annotations"][0]["why"]
    assert connected.counts() == {"red": 2}
    annotate(connected, 9, "red")
    listed = [{**task_of(number), "annotations": [annotation_of(number, "red")]} for number in (3, 9)]
    connected.studio.put(PAGE, {"tasks": listed, "total": 2})
    assert connected.tell({"action": "START_TRAINING", "project": {"id": 1}}) == [(6, "taken_back")]
    assert connected.counts() == {"red": 2}


def test_where_the_image_is_gone_the_answer_says_so_and_nothing_changes(
    connected: Connected, later: None
) -> None:
    for number in (3, 6, 9):
        annotate(connected, number, "red")
    connected.restart()
    del connected.studio.answers["/api/tasks/9/"]
    body = {"action": "TASKS_DELETED", "tasks": [{"id": 9}], "project": {"id": 1}}
    status, answer = connected.post("webhook", body)
    ((outcome),) = answer["annotations"]
    assert status == 404
    assert outcome["outcome"] == "failed"
    assert "does not have" in outcome["why"]
    assert connected.counts() == {"red": 3}


def test_deleted_tasks_take_their_annotations_with_them(connected: Connected) -> None:
    for number in (3, 6, 9):
        annotate(connected, number, "red")
    event = {"action": "TASKS_DELETED", "tasks": [{"id": 9}, {"id": 11}], "project": {"id": 1}}
    assert connected.tell(event) == [(9, "taken_back")]
    assert connected.counts() == {"red": 2}


@pytest.mark.parametrize(
    ("labels", "why"),
    [((), "nothing was chosen"), (("red", "blue"), "2 labels"), (("pink",), "none of the choices")],
)
def test_without_one_known_choice_nothing_is_learnt_or_fetched(
    connected: Connected, labels: tuple[str, ...], why: str
) -> None:
    status, answer = connected.post("webhook", event_of(annotation_of(3, *labels)))
    assert status == 200
    assert why in answer["annotations"][0]["why"]
    assert connected.counts() == {}
    assert connected.studio.asked == []


def test_several_annotations_in_one_event(connected: Connected) -> None:
    event = {
        "action": "ANNOTATIONS_CREATED",
        "annotation": [annotation_of(1, "red", task=3), annotation_of(2, "red", task=6)],
        "task": [task_of(6), task_of(3)],
        "project": {"id": 1, "label_config": CONFIG},
    }
    assert connected.tell(event) == [(1, "learnt"), (2, "learnt")]
    assert connected.counts() == {"red": 2}
    most = connected.running.service.limits.label_studio_tasks
    event["annotation"] = [annotation_of(n + 1, "red", task=3) for n in range(most + 1)]
    assert connected.post("webhook", event)[0] == 413


@pytest.mark.parametrize(
    "action", ["PROJECT_UPDATED", "TASKS_CREATED", "LABEL_LINK_CREATED", "UNHEARD_OF", None]
)
def test_other_events_are_ignored(connected: Connected, action: str | None) -> None:
    assert connected.tell({"action": action, "tasks": [{"id": 1}], "project": {"id": 1}}) == []


@pytest.mark.parametrize(
    "event",
    [
        {"action": "ANNOTATION_CREATED"},
        {"action": "ANNOTATIONS_DELETED"},  # how Label Studio tells of annotations that become drafts
        {"action": "ANNOTATIONS_DELETED", "annotations": [7]},
        {"action": "TASKS_DELETED", "tasks": []},
        {"action": "START_TRAINING"},
        event_of(annotation_of(3, "red"), project={"id": 1}),
        {**event_of(annotation_of(3, "red")), "annotation": {"id": 3}},
        event_of({**annotation_of(3, "red"), "id": "3"}),
        event_of({**annotation_of(3, "red"), "updated_at": None}),
    ],
)
def test_events_without_their_content_are_refused(connected: Connected, event: dict[str, Any]) -> None:
    status, answer = connected.post("webhook", event)
    assert status == 422
    assert answer["detail"]
    assert connected.counts() == {}


def test_a_hostile_task_makes_the_service_fetch_nothing(
    connected: Connected, caplog: pytest.LogCaptureFixture
) -> None:
    with running_studio() as elsewhere:
        elsewhere.put("/data/upload/1/3.png", make_image("red", np.random.default_rng(0)))
        for image in (
            f"{elsewhere.address}/data/upload/1/3.png",
            f"//127.0.0.1:{elsewhere.port}/data/upload/1/3.png",
            f"http://127.0.0.1:{connected.studio.port}@127.0.0.1:{elsewhere.port}/data/upload/1/3.png",
            "/api/current-user/token",
            "/data/upload/../../api/users",
            "file:///etc/passwd",
        ):
            task = {"id": 3, "data": {"image": image}}
            with caplog.at_level(logging.INFO):
                status, answer = connected.post("webhook", event_of(annotation_of(3, "red"), task=task))
            assert status == 422
            assert answer["annotations"][0]["outcome"] == "failed"
            status, answer = connected.post("predict", {"tasks": [task], "label_config": CONFIG})
            assert (status, answer) == (200, {"results": [[]]})
        assert elsewhere.asked == connected.studio.asked == []
    assert connected.counts() == {}
    assert "127.0.0.1" not in caplog.text


def test_a_config_chooses_the_field_and_not_the_address(connected: Connected) -> None:
    config = CONFIG.replace("$image", "http://evil.example/a.png")
    status, _ = connected.post(
        "webhook", event_of(annotation_of(3, "red"), project={"id": 1, "label_config": config})
    )
    assert status == 422
    assert connected.studio.asked == []


def test_an_image_is_under_the_limits_of_all_images(connected: Connected) -> None:
    connected.studio.put("/data/upload/1/3.png", b"\x89PNG\r\n\x1a\n" + 11 * b"\x00\x00\x00\x00iCCP....")
    status, answer = connected.post("webhook", event_of(annotation_of(3, "red")))
    assert status == 422
    assert "compressed texts" in answer["annotations"][0]["why"]
    connected.studio.put("/data/upload/1/3.png", b"no image")
    assert connected.post("webhook", event_of(annotation_of(3, "red")))[0] == 422
    assert connected.counts() == {}


def test_start_training_catches_up_with_what_was_missed(connected: Connected) -> None:
    annotate(connected, 3, "red")
    annotate(connected, 6, "red")
    annotate(connected, 9, "blue", at=1)
    tasks = [
        {**task_of(3), "annotations": [annotation_of(3, "red")]},
        {**task_of(9), "annotations": [annotation_of(9, "red", at=2)]},
        {
            **task_of(12),
            "annotations": [annotation_of(12, "red"), {**annotation_of(13, task=12), "was_cancelled": True}],
        },
    ]
    connected.studio.put(PAGE, {"tasks": tasks, "total": 3})
    connected.studio.asked.clear()
    event = {"action": "START_TRAINING", "project": {"id": 1}}
    found = connected.tell(event)
    assert found == [(9, "moved"), (12, "learnt"), (13, "unchanged"), (6, "taken_back")]
    assert "/data/upload/1/3.png" not in connected.studio.paths  # nothing is new about it
    assert connected.counts() == {"red": 3}
    assert connected.tell(event) == []  # there is nothing new


def test_a_label_that_the_project_offers_only_now_is_learnt_when_catching_up(connected: Connected) -> None:
    assert annotate(connected, 3, "pink") == "unchanged"
    tasks = [{**task_of(3), "annotations": [annotation_of(3, "pink")]}]
    connected.studio.put(PAGE, {"tasks": tasks, "total": 1})
    config = CONFIG.replace("green", "pink")
    connected.studio.put("/api/projects/1/", {"id": 1, "label_config": config})
    assert connected.tell({"action": "START_TRAINING", "project": {"id": 1}}) == [(3, "learnt")]
    assert connected.counts() == {"pink": 1}


def test_it_is_learnt_though_label_studio_does_not_wait_for_the_answer(connected: Connected) -> None:
    connected.studio.pause = 0.001  # a byte of the image a millisecond
    parts = urlsplit(connected.running.client.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=0.2)
    body = json.dumps(event_of(annotation_of(3, "red")))
    connection.request("POST", "/v1/models/first/label-studio/webhook", body)
    with pytest.raises(TimeoutError):
        connection.getresponse()
    connection.close()
    assert connected.counts() == {}
    until = time.monotonic() + 60
    while not connected.counts() and time.monotonic() < until:
        time.sleep(0.05)
    assert connected.counts() == {"red": 1}


def test_catching_up_does_not_delete_what_only_its_page_has_lost(connected: Connected) -> None:
    annotate(connected, 3, "red")
    connected.studio.put(PAGE, {"tasks": [], "total": 0})
    connected.studio.put("/api/annotations/3/", {"id": 3})
    assert connected.tell({"action": "START_TRAINING", "project": {"id": 1}}) == []
    assert connected.counts() == {"red": 1}


def test_catching_up_brings_back_what_a_restart_has_lost(connected: Connected) -> None:
    annotate(connected, 3, "red")
    connected.restart()
    assert connected.counts() == {}
    connected.studio.put(
        PAGE, {"tasks": [{**task_of(3), "annotations": [annotation_of(3, "red")]}], "total": 1}
    )
    assert connected.tell({"action": "START_TRAINING", "project": {"id": 1}}) == [(3, "learnt")]
    assert connected.counts() == {"red": 1}


def test_catching_up_stops_when_time_is_up(connected: Connected, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "CATCH_UP_SECONDS", -1.0)
    connected.studio.put(
        PAGE, {"tasks": [{**task_of(3), "annotations": [annotation_of(3, "red")]}], "total": 1}
    )
    assert connected.tell({"action": "START_TRAINING", "project": {"id": 1}}) == [(3, "left")]


def test_a_label_studio_that_does_not_answer_is_told(connected: Connected) -> None:
    connected.studio.put("/data/upload/1/3.png", b"", 500)
    status, answer = connected.post("webhook", event_of(annotation_of(3, "red")))
    assert status == 502
    assert answer["annotations"][0]["outcome"] == "failed"
