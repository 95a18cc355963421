"""The revision of a model: another one after every change, and 304 as long as there is none."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from i2cansay.service.client import RequestRefused
from tests.service.material import rows
from tests.service.running import Running, Starter
from tests.service.sending import send

PATH = "/v1/models/numbers"


def tag_of(running: Running) -> str:
    status, headers, content = send(running, "GET", PATH)
    assert status == 200
    assert headers["etag"] == f'"{content["revision"]}"'
    return headers["etag"]


def test_nothing_new_is_304_and_every_change_is_seen(running: Running) -> None:
    rng = np.random.default_rng(0)
    model = running.client.create("numbers", encoder=None)
    seen = [tag_of(running)]

    def unchanged() -> bool:
        status, headers, content = send(running, "GET", PATH, headers={"if-none-match": seen[-1]})
        if status == 304:
            assert (headers["etag"], content) == (seen[-1], b"")
            return True
        seen.append(headers["etag"])
        return False

    assert unchanged()
    model.learn(["a", "b"] * 3, features=rows(["a", "b"] * 3, rng))
    assert not unchanged()
    model.predict(features=rows(["a"], rng))
    model.test("a", features=rows(["a"], rng))
    model.lessons(), model.map(), model.confusion(), model.accuracy(), model.classes()
    assert unchanged()
    waits = model.learn("c", features=rows(["c"], rng))  # in memory only
    assert not unchanged()
    changes: list[Callable[[], object]] = [
        lambda: model.move(waits, "a"),
        lambda: model.undo(waits),
        lambda: model.rename("a", "z"),
        lambda: model.forget("z"),
    ]
    for change in changes:
        change()
        assert not unchanged()
        assert unchanged()
    assert len(set(seen)) == len(seen)


def test_a_revision_is_not_used_again(start: Starter) -> None:
    rng = np.random.default_rng(0)
    running = start()
    model = running.client.create("numbers", encoder=None)
    model.learn(["a", "b"] * 3, features=rows(["a", "b"] * 3, rng))
    model.learn("c", features=rows(["c"], rng))
    seen = {tag_of(running)}
    running.stop()
    running = start()  # c was in memory only: another state, of a version that was there before
    seen.add(tag_of(running))
    running.client.model("numbers").learn("d", features=rows(["d"], rng))
    seen.add(tag_of(running))
    running.client.model("numbers").delete()
    running.client.create("numbers", encoder=None)
    seen.add(tag_of(running))
    assert len(seen) == 4


def test_a_change_that_was_not_written_gives_no_revision_away(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    model = running.client.create("numbers", encoder=None)
    model.learn(["a", "b"] * 3, features=rows(["a", "b"] * 3, rng))
    seen = [tag_of(running)]
    for label in "cde":  # three states that are in memory only
        model.learn(label, features=rows([label], rng))
        seen.append(tag_of(running))
    served = running.service.model("numbers")

    def full(*_: Any) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(served._database, "commit", full)
        with pytest.raises(RequestRefused, match="full"):
            model.learn("a", features=rows(["a"], rng))
    for label in "fgh":  # after a failed commit the file is read again, and versions begin from there
        model.learn(label, features=rows([label], rng))
        seen.append(tag_of(running))
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ("TAG", 304),
        ("W/TAG", 304),
        ('"x", TAG', 304),
        ("*", 304),
        ('"x"', 200),
        ("", 200),
        (",,,", 200),
        ('"' + "x" * 8000 + '"', 200),
        ("\xff", 200),
    ],
)
def test_what_a_client_may_name(shared: Running, sent: str, status: int) -> None:
    tag = tag_of(shared)
    got, headers, _ = send(shared, "GET", PATH, headers={"if-none-match": sent.replace("TAG", tag)})
    assert (got, headers["etag"]) == (status, tag)
    assert headers["cache-control"] == "no-store"


def test_the_list_of_models_has_the_revision_too(shared: Running) -> None:
    (listed,) = [each for each in shared.client.models() if each["name"] == "numbers"]
    assert f'"{listed["revision"]}"' == tag_of(shared)
    assert shared.client.model("numbers").describe() == listed


def test_a_head_is_answered_with_the_tag(shared: Running) -> None:
    status, headers, content = send(shared, "HEAD", PATH)
    assert (status, headers["etag"], content) == (200, tag_of(shared), b"")


def test_export_says_which_formats_there_are(shared: Running) -> None:
    status, _, answer = send(shared, "GET", f"{PATH}/export?format=pickle")
    assert status == 422
    assert "i2cs" in answer["detail"]
    for query in ("", "?format=i2cs"):
        assert send(shared, "GET", f"{PATH}/export{query}")[0] == 200
    assert send(shared, "GET", "/v1/models/none/export?format=onnx")[0] == 404


def test_an_onnx_file_answers_as_the_model(shared: Running) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    model = shared.client.create("decides", encoder=None, learner="small")
    status, _, answer = send(shared, "GET", "/v1/models/decides/export?format=onnx")
    assert status == 409
    assert "cannot be exported as ONNX" in answer["detail"]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6)) + np.repeat([[0.0], [3.0]], 20, axis=0)
    model.learn(["low"] * 20 + ["high"] * 20, features=X)
    status, headers, content = send(shared, "GET", "/v1/models/decides/export?format=onnx")
    assert status == 200
    assert "decides.onnx" in headers["content-disposition"]
    session = onnxruntime.InferenceSession(content)
    labels = session.run(["label"], {session.get_inputs()[0].name: X.astype(np.float32)})[0]
    assert labels.tolist() == [each.label for each in model.predict(features=X)]
