"""Lessons over HTTP: listed, moved, and what a hostile client tries."""

from __future__ import annotations

import json
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from i2cansay.service.client import Client, RequestRefused
from i2cansay.service.model.requests import Learn, Question
from i2cansay.service.model.snapshot import Predictions
from tests.service.material import rows
from tests.service.process import Process
from tests.service.running import Running, Starter
from tests.service.sending import send


def test_lessons_are_listed_moved_and_taken_back(running: Running) -> None:
    rng = np.random.default_rng(0)
    model = running.client.create("numbers", encoder=None)
    model.learn(["a", "b"] * 3, features=rows(["a", "b"] * 3, rng))
    lesson = model.learn("a", features=rows(["b"] * 2, rng))
    newest, oldest = model.lessons()
    assert (newest.id, newest.labels, newest.n, newest.reason) == (lesson.lesson, {"a": 2}, 2, None)
    assert model.move(newest, "b").counts == {"a": 3, "b": 5}
    assert model.lessons()[0].labels == {"b": 2}
    assert model.undo(newest).counts == {"b": 3}
    assert model.undo(oldest).counts == {"a": 0, "b": 0}  # not only the last
    _, _, answer = send(running, "GET", "/v1/models/numbers/lessons")
    assert answer["lessons"] == []
    assert "not stored" in answer["older"]
    assert "10 minutes" in answer["older"]


def test_one_class_of_a_lesson_over_http(running: Running) -> None:
    rng = np.random.default_rng(0)
    model = running.client.create("numbers", encoder=None)
    model.learn(["a", "b"] * 3, features=rows(["a", "b"] * 3, rng))
    body = {"labels": ["a", "b"], "features": rows(["a", "b"], rng).tolist()}
    _, _, taught = post(running, "/v1/models/numbers/learn?series=folder", body)
    assert model.lessons()[0].series == "folder"
    undone = {"lesson": taught["lesson"], "only": "a"}
    assert post(running, "/v1/models/numbers/undo", undone)[2]["counts"] == {"a": 3}
    assert post(running, "/v1/models/numbers/undo", undone)[0] == 404  # no samples of it are left
    place = f"/v1/models/numbers/lessons/{taught['lesson']}/move"
    assert post(running, place, {"label": "c", "only": "b"})[2]["counts"] == {"b": 3, "c": 1}
    assert model.lessons()[0].labels == {"c": 1}
    assert post(running, "/v1/models/numbers/learn?series=" + "x" * 65, body)[0] == 422


def post(running: Running, path: str, body: Any) -> tuple[int, Any, Any]:
    """Send JSON."""
    return send(running, "POST", path, json.dumps(body).encode(), {"content-type": "application/json"})


def test_a_teacher_sees_which_lessons_are_their_own_and_an_admin_whose_all_are(start: Starter) -> None:
    running = start(need_token=True)
    admin, teacher, reader = (
        Client(running.client.url, token=running.service.tokens.add(scope, scope), tries=1)
        for scope in ("admin", "teach", "predict")
    )
    admin.create("numbers", encoder=None)
    rng = np.random.default_rng(0)
    lesson = teacher.model("numbers").learn("a", features=rows(["a"] * 2, rng))
    (line,) = teacher.model("numbers").lessons()
    assert (line.who, line.own) == ("teach", True)
    (line,) = admin.model("numbers").lessons()
    assert (line.who, line.own) == ("teach", False)
    for refused in (
        lambda: reader.model("numbers").lessons(),
        lambda: reader.model("numbers").move(lesson, "b"),
    ):
        with pytest.raises(RequestRefused) as refusal:
            refused()
        assert refusal.value.status == 403
    admin.model("numbers").move(lesson, "b")
    (line,) = teacher.model("numbers").lessons()
    assert (line.who, line.own) == ("", False)  # the names of others are for an admin
    for client in (admin, teacher, reader):
        client.close()


BODIES: list[tuple[Any, int]] = [
    ({"label": "b"}, 404),
    ({"label": ""}, 422),
    ({"label": "   "}, 422),
    ({"label": "x" * 201}, 422),
    ({"label": "co\u00adop"}, 422),
    ({"label": 1}, 422),
    ({"label": ["b"]}, 422),
    ({"label": None}, 422),
    ({}, 422),
    ([], 422),
    ({"label": "b", "lesson": "x"}, 422),
    ({"label": "b", "only": "a"}, 404),
    ({"label": "b", "only": ""}, 422),
    ({"label": "b", "only": ["a"]}, 422),
    ({"label": "x" * 70_000}, 413),
]


@pytest.mark.parametrize(("body", "status"), BODIES)
def test_an_odd_move_is_refused_in_words(shared: Running, body: Any, status: int) -> None:
    got, _, answer = send(
        shared,
        "POST",
        "/v1/models/numbers/lessons/257ab10b54a1cc62/move",
        json.dumps(body).encode(),
        {"content-type": "application/json"},
    )
    assert (got, bool(answer["detail"])) == (status, True)


@pytest.mark.parametrize("name", ["none", "%00", "..", "%2e%2e%2f", "x" * 101, "a b", "%F0%9F%92%A5"])
def test_an_unknown_lesson_is_not_found(shared: Running, name: str) -> None:
    path = f"/v1/models/numbers/lessons/{name.replace(' ', '%20')}/move"
    status, _, answer = send(shared, "POST", path, b'{"label": "b"}', {"content-type": "application/json"})
    assert status in (404, 422)
    assert answer["detail"]
    status, _, _ = send(shared, "GET", "/v1/models/none/lessons")
    assert status == 404


def test_many_that_move_and_undo_one_lesson_leave_no_half(running: Running) -> None:
    rng = np.random.default_rng(0)
    model = running.client.create("numbers", encoder=None)
    model.learn(["a", "b", "c"] * 3, features=rows(["a", "b", "c"] * 3, rng))
    lesson = model.learn("a", features=rows(["a"] * 2, rng))
    statuses: list[int] = []

    def go(number: int) -> None:
        client = Client(running.client.url, tries=1)
        for label in "bca":
            try:
                if number == 3 and label == "a":
                    client.model("numbers").undo(lesson)
                else:
                    client.model("numbers").move(lesson, label)
                statuses.append(200)
            except RequestRefused as refusal:
                statuses.append(refusal.status)
        client.close()

    threads = [threading.Thread(target=go, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(statuses) <= {200, 404}
    assert {line.label: line.count for line in model.classes()} == {"a": 3, "b": 3, "c": 3}


@pytest.mark.parametrize("learner", ["paper", "best"])
def test_a_move_that_is_killed_has_happened_or_not(process: Process, learner: str) -> None:
    rng = np.random.default_rng(0)
    process.start()
    model = process.client.create("tested", encoder=None, learner=learner)
    model.learn(["a", "b"] * 4, features=rows(["a", "b"] * 4, rng))
    X = rows(["a"] * 3, rng)
    lesson = model.learn(["a"] * 3, features=X, key="key")
    acknowledged: list[str] = ["a"]
    first = threading.Event()

    def go() -> None:
        client = Client(process.client.url, tries=1, timeout=10)
        try:
            for number in range(1000):
                client.model("tested").move(lesson, "ab"[1 - number % 2])
                acknowledged.append("ab"[1 - number % 2])
                first.set()
        except Exception:
            client.close()

    mover = threading.Thread(target=go)
    mover.start()
    assert first.wait(60)
    first.clear()
    first.wait(rng.uniform(0.0, 0.2))
    process.kill()
    mover.join()
    process.start()
    counts = {line.label: line.count for line in process.client.model("tested").classes()}
    last = acknowledged[-1]
    other = "ab".replace(last, "")
    # The last acknowledged move, or the one after it, of which nobody was told.
    assert counts in ({last: 7, other: 4}, {last: 4, other: 7})
    retried = process.client.model("tested").learn(["a"] * 3, features=X, key="key")
    where = "a" if counts["a"] == 7 else "b"
    assert (retried.learnt, retried.durable, retried.counts) == (0, (True,) * 3, {where: 7})


def test_an_answer_has_the_version_that_gave_it(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    client = running.client.create("numbers", encoder=None)
    client.learn(["a", "b"] * 3, features=rows(["a", "b"] * 3, rng))
    model = running.service.model("numbers")
    ask = model.ask

    def ask_and_learn(question: Question) -> Future[Predictions]:
        """Let the model learn between the answer and its way out."""
        with ThreadPoolExecutor(1) as other:  # the loop would gather its round first
            future = other.submit(ask, question).result(5)
            future.result(5)
            other.submit(model.teach, Learn(rows(["b"], rng), ("b",))).result(5).result(5)
        return future

    monkeypatch.setattr(model, "ask", ask_and_learn)
    features = rows(["a"], rng).tolist()
    for route, body in (("predict", {}), ("test", {"label": "a"})):
        before = model.snapshot
        _, _, answer = post(running, f"/v1/models/numbers/{route}", {"features": features, **body})
        assert answer["version"] == before.version < model.snapshot.version
        assert answer.get("tested", 0) in (0, before.tested)
