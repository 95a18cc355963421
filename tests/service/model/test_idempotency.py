"""A lesson that is sent again counts once, and its answer says what is true now."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from i2cansay.service.client import Client, RequestRefused
from i2cansay.service.diagnosis import examine
from i2cansay.service.limits import Limits
from i2cansay.service.model.requests import Forget, Learn, Rename, Undo
from i2cansay.service.model.served_model import ServedModel
from i2cansay.service.service_metrics import ServiceMetrics
from i2cansay.service.storage.receipts import key_digest, lesson_digest
from tests.service.material import make_image, new_model, rows, teach
from tests.service.running import Running, Starter

YEAR = 365 * 86400.0


def reopened(model: ServedModel) -> ServedModel:
    model.close()
    return ServedModel(model.path, Limits(), ServiceMetrics())


# -- clocks that are set ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shifts", [(-30 * YEAR, 0.0), (YEAR, 0.0), (0.0, YEAR), (YEAR, -YEAR), (0.0, 0.0)])
def test_a_clock_that_was_wrong_drops_no_receipt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shifts: tuple[float, float]
) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    now = time.time
    for number, shift in enumerate((*shifts, 0.0)):
        monkeypatch.setattr(time, "time", lambda shift=shift: now() + shift)
        model = reopened(model)  # the first commit after opening looks for receipts that are old
        teach(model, ["a", "a"], rng, b"key %d" % number)
    for number in range(3):
        again = teach(model, ["a", "a"], rng, b"key %d" % number)
        assert (again.learnt, again.repeated, again.counts) == (0, 2, {"a": 6})
    model.close()


def test_receipts_go_after_seven_days_of_running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "models").mkdir()
    model = new_model(tmp_path / "models")
    rng = np.random.default_rng(0)
    teach(model, ["a", "a"], rng, b"old")
    started = time.monotonic
    for day in range(1, 9):
        monkeypatch.setattr(time, "monotonic", lambda day=day: started() + day * 86400.0)
        assert teach(model, ["b", "b"], rng, b"day %d" % day).learnt == 2
        if day < 7:
            assert teach(model, ["a", "a"], rng, b"old").learnt == 0
    assert teach(model, ["a", "a"], rng, b"old").learnt == 2
    assert teach(model, ["b", "b"], rng, b"day 2").learnt == 0
    model.close()
    assert next(iter(examine(tmp_path))).well  # what was pruned is not missed


def test_time_between_two_runs_does_not_age_receipts(tmp_path: Path) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    teach(model, ["a", "a"], rng, b"key")
    clock = model._database._clock
    model = reopened(model)
    assert model._database._clock == pytest.approx(clock)
    teach(model, ["a"], rng)
    assert clock < model._database._clock < clock + 60
    model.close()


# -- what has happened to the lesson since ------------------------------------------------------------------------


def test_a_retry_after_undo(tmp_path: Path) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    teach(model, ["a", "b"] * 3, rng)
    lesson = teach(model, ["a", "b"], rng, b"key")
    model.teach(Undo(lesson.lesson)).result()
    for _ in range(2):
        again = teach(model, ["a", "b"], rng, b"key")
        assert (again.learnt, again.repeated, again.taken_back) == (0, 2, 2)
        assert again.durable == (False, False)
        assert again.counts == {"a": 3, "b": 3}
        model = reopened(model)
    assert teach(model, ["a", "b"], rng, b"another key").learnt == 2
    model.close()


def test_a_retry_after_undo_of_what_only_waited(tmp_path: Path) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    lesson = teach(model, ["a"], rng, b"key")
    model.teach(Undo(lesson.lesson)).result()
    teach(model, ["b"], rng, b"other")
    model.teach(Forget("b")).result()
    for _ in range(2):
        for label, key in (("a", b"key"), ("b", b"other")):
            again = teach(model, [label], rng, key)
            assert (again.learnt, again.taken_back, again.durable) == (0, 1, (False,))
            assert again.counts == {label: 0}
        model = reopened(model)
    model.close()


def test_a_retry_after_its_class_was_forgotten_and_taught_again(tmp_path: Path) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    teach(model, ["a", "b"] * 3, rng, b"key")
    model.teach(Forget("a")).result()
    again = teach(model, ["a", "b"] * 3, rng, b"key")
    assert (again.learnt, again.taken_back, again.durable) == (0, 3, (False, True) * 3)
    teach(model, ["a"] * 4, rng, b"new")
    model = reopened(model)
    again = teach(model, ["a", "b"] * 3, rng, b"key")  # the new class of that name is not the old one
    assert (again.learnt, again.taken_back, again.durable) == (0, 3, (False, True) * 3)
    assert again.counts == {"a": 4, "b": 3}
    assert teach(model, ["a"] * 4, rng, b"new").durable == (True,) * 4
    model.close()


def test_a_retry_after_its_class_was_renamed(tmp_path: Path) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    teach(model, ["a", "b"] * 2, rng, b"key")
    model.teach(Rename("a", "z")).result()
    model = reopened(model)
    again = teach(model, ["a", "b"] * 2, rng, b"key")
    assert (again.learnt, again.taken_back, again.durable) == (0, 0, (True,) * 4)
    assert again.counts == {"z": 2, "b": 2}
    model.close()


def test_a_class_forgotten_in_the_same_group(tmp_path: Path) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    teach(model, ["b", "b"], rng)
    answers: Any = model._commit([Learn(rows(["a"] * 2, rng), ("a", "a"), b"key"), Forget("a")])
    assert (answers[0].durable, answers[0].taken_back) == ((False, False), 2)
    model.close()


def test_a_sample_that_went_back_to_memory_is_not_called_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("i2cansay.service.model.transaction.LESSONS", 1)  # only the last can be taken back
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    teach(model, ["c"], rng, b"first")
    second = teach(model, ["c"], rng, b"second")
    model.teach(Undo(second.lesson)).result()
    again = teach(model, ["c"], rng, b"first")
    assert (again.learnt, again.durable, again.taken_back, again.counts) == (0, (False,), 0, {"c": 1})
    teach(model, ["c"], rng, b"third")  # the class is on the disk again, and it is the same one
    assert teach(model, ["c"], rng, b"first").durable == (True,)
    again = teach(model, ["c"], rng, b"second")
    assert (again.durable, again.taken_back) == ((False,), 1)
    model.close()


# -- whose lesson, and which --------------------------------------------------------------------------------------


def test_a_key_is_bound_to_what_was_sent(running: Running) -> None:
    model = running.client.create("numbers", encoder=None)
    rng = np.random.default_rng(0)
    X, other = rows(["a", "a"], rng), rows(["a", "a"], rng)
    assert model.learn("a", features=X, key="key").learnt == 2
    assert model.learn("a", features=X, key="key").repeated == 2
    with pytest.raises(RequestRefused, match="other samples") as refusal:
        model.learn("a", features=other, key="key")
    assert refusal.value.status == 409
    assert model.learn(["b"], features=X[:1], key="waits").durable == (False,)
    with pytest.raises(RequestRefused, match="other samples"):
        model.learn(["b"], features=other[:1], key="waits")
    assert [(line.label, line.count) for line in model.classes()] == [("a", 2), ("b", 1)]


def test_images_are_compared_as_they_were_sent(running: Running) -> None:
    model = running.client.create("images")
    rng = np.random.default_rng(0)
    red = [make_image("red", rng) for _ in range(3)]
    assert model.learn("red", images=red[:2], key="key").learnt == 2
    assert model.learn("red", images=red[:2], key="key").repeated == 2
    for others in (red[1:], [red[1], red[0]]):
        with pytest.raises(RequestRefused, match="other samples"):
            model.learn("red", images=others, key="key")


def test_the_key_of_another_token_is_another_key(start: Starter) -> None:
    running = start(need_token=True)
    secrets = {name: running.service.tokens.add(name, "teach") for name in ("line 1", "line 2")}
    admin = Client(running.client.url, token=running.service.tokens.add("boss", "admin"), tries=1)
    admin.create("numbers", encoder=None)
    rng = np.random.default_rng(0)
    for count, secret in enumerate(secrets.values(), start=1):
        client = Client(running.client.url, token=secret, tries=1)
        X = rows(["a", "a"], rng)
        for learnt in (2, 0):
            answer = client.model("numbers").learn("a", features=X, key="part-113")
            assert (answer.learnt, answer.counts) == (learnt, {"a": 2 * count})
        client.close()
    admin.close()


def test_undo_and_retry_over_http(running: Running) -> None:
    model = running.client.create("numbers", encoder=None)
    rng = np.random.default_rng(0)
    model.learn("a", features=rows(["a"] * 3, rng))
    X = rows(["a"], rng)
    model.undo(model.learn("a", features=X, key="key"))
    again = model.learn("a", features=X, key="key")
    assert (again.learnt, again.durable, again.taken_back, again.counts) == (0, (False,), 1, {"a": 3})


def test_digests_tell_lessons_apart() -> None:
    X = np.arange(6, dtype=np.float32)
    lessons = [
        ("k", ["a"], None, X.reshape(1, 6)),
        ("k", ["b"], None, X.reshape(1, 6)),
        ("l", ["a"], None, X.reshape(1, 6)),
        ("k", ["a"], None, X.reshape(2, 3)),
        ("k", ["a"], [b"12", b"3"], None),
        ("k", ["a"], [b"1", b"23"], None),
    ]
    assert len({lesson_digest(*lesson) for lesson in lessons}) == len(lessons)
    assert len({key_digest("a", ""), key_digest("a", "b"), key_digest("", "a"), key_digest("ab", "")}) == 4
