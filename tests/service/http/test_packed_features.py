"""Packed features: they mean what JSON means, and whatever is wrong with them is refused in words."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from starlette.requests import Request

from i2cansay.core.types import Float32
from i2cansay.service.errors import ServiceError
from i2cansay.service.http.packed_features import PACKED, take_packed
from i2cansay.service.limits import Limits
from tests.service.http.test_fuzz import mutated
from tests.service.material import WIDTH, rows
from tests.service.running import Running, Starter
from tests.service.sending import send

LABELS = ["a", "b"] * 3
ROW = np.arange(1, WIDTH + 1, dtype="<f4")


def packed(X: Float32, **fields: Any) -> bytes:
    """Return a body as any program would write it."""
    return json.dumps({"width": X.shape[1], **fields}).encode() + b"\n" + X.astype("<f4").tobytes()


def post(running: Running, path: str, body: bytes, **headers: str) -> tuple[int, Any]:
    """Send a packed body."""
    status, _, answer = send(running, "POST", f"/v1/models/{path}", body, {"content-type": PACKED, **headers})
    return status, answer


def test_the_same_answers_as_json(running: Running) -> None:
    rng = np.random.default_rng(0)
    taught, asked = rows(LABELS, rng), rows(LABELS, rng)
    for name in ("numbers", "text", "packed"):
        running.client.create(name, encoder=None, learner="paper")
    for name in ("numbers", "text"):
        samples: dict[str, Any] = {"features": taught.tolist()}
        if name == "text":
            samples = {"features_base64": base64.b64encode(taught.tobytes()).decode(), "width": WIDTH}
        lesson = json.dumps({**samples, "labels": LABELS}).encode()
        assert send(running, "POST", f"/v1/models/{name}/learn", lesson)[0] == 200
    assert post(running, "packed/learn", packed(taught, labels=LABELS))[0] == 200
    question = {"features": asked.tolist(), "top": 1, "error": 0.2}
    answers = [
        send(running, "POST", f"/v1/models/{n}/predict", json.dumps(question).encode())[2]
        for n in ("numbers", "text", "packed")
    ]
    assert answers[0] == answers[1] == answers[2]
    status, answer = post(running, "packed/predict", packed(asked, top=1, error=0.2))
    assert (status, answer) == (200, answers[0])
    trial = json.dumps({"features": asked.tolist(), "labels": LABELS}).encode()
    expected = send(running, "POST", "/v1/models/packed/test", trial)[2]
    assert post(running, "packed/test", packed(asked, labels=LABELS)) == (200, expected)


def test_a_retry_may_come_in_another_form(running: Running) -> None:
    running.client.create("numbers", encoder=None)
    taught = rows(LABELS, np.random.default_rng(0))
    key = {"idempotency-key": "lesson 1"}
    first = post(running, "numbers/learn", packed(taught, labels=LABELS), **key)[1]
    again = json.dumps({"features": taught.tolist(), "labels": LABELS}).encode()
    status, _, second = send(running, "POST", "/v1/models/numbers/learn", again, key)
    assert (first["learnt"], first["repeated"]) == (6, 0)
    assert (status, second["learnt"], second["repeated"]) == (200, 0, 6)
    other = post(running, "numbers/learn", packed(taught + 1, labels=LABELS), **key)
    assert other[0] == 409


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        (b"", 422, "no line feed"),
        (b'{"width": 40}', 422, "no line feed"),
        (ROW.tobytes(), 422, "no line feed"),
        (b"\n" + ROW.tobytes(), 422, "not JSON"),
        (b"[40]\n" + ROW.tobytes(), 422, "expected a JSON object"),
        (b"{}\n" + ROW.tobytes(), 422, "needs width"),
        (b'{"width": 40}\n', 422, "got 0 bytes"),
        (b'{"width": 40}\n' + ROW.tobytes()[:-1], 422, "got 159 bytes"),
        (b'{"width": 40}\n' + ROW.tobytes() + b"\n", 422, "got 161 bytes"),
        (b'{"width": 40}\r\n' + ROW.tobytes()[:-4], 422, "got 156 bytes"),
        (b'{"width": 39}\n' + ROW.tobytes(), 422, "got 160 bytes and width 39"),
        (b'{"width": 0}\n' + ROW.tobytes(), 422, "width"),
        (b'{"width": -40}\n' + ROW.tobytes(), 422, "width"),
        (b'{"width": 40.0}\n' + ROW.tobytes(), 422, "width"),
        (b'{"width": "40"}\n' + ROW.tobytes(), 422, "width"),
        (b'{"width": 1' + b"0" * 30 + b"}\n" + ROW.tobytes(), 422, "width"),
        (b'{"width": 40, "width": 40}\n' + ROW.tobytes(), 422, "comes twice"),
        (b'{"width": 40, "shape": [1, 40]}\n' + ROW.tobytes(), 422, "no such field"),
        (b'{"width": 40, "features": [[1.0]]}\n' + ROW.tobytes(), 422, "has no images, features"),
        (b'{"width": 40, "features_base64": "AAAA"}\n' + ROW.tobytes(), 422, "has no images, features"),
        (b'{"width": 40, "top": 0}\n' + ROW.tobytes(), 422, "top"),
        (packed(np.full((1, 40), np.nan, np.float32)), 422, "finite"),
        (packed(np.full((1, 40), -np.inf, np.float32)), 422, "finite"),
        (packed(np.full((1, 40), 1e16, np.float32)), 422, "finite and below 1e+15"),
        (packed(np.zeros((1, 20_001), np.float32)), 413, "20000 columns of features"),
        (packed(np.zeros((1001, 40), np.float32)), 413, "1000 rows of features"),
        (b'{"width": 1}\n' + bytes(2**20), 413, "1000 rows of features"),
        (b'{"labels": [' + b'"a",' * 250_000, 413, "250000 values"),
        (b'{"label": "' + b"a" * 2**24, 413, "16777216 bytes"),
        (np.lib.format.MAGIC_PREFIX + b"\x01\x00v\x00{'descr': '<f4'}\n" + ROW.tobytes(), 422, "not JSON"),
        (b"PK\x03\x04" + bytes(30) + b"\n" + ROW.tobytes(), 422, "not JSON"),
    ],
)
def test_a_wrong_body_gets_a_sentence(shared: Running, body: bytes, status: int, sentence: str) -> None:
    got, answer = post(shared, "numbers/predict", body)
    assert (got, sentence in answer["detail"]) == (status, True), answer
    assert len(answer["detail"]) < 300


def test_the_other_order_of_bytes_is_noticed(shared: Running) -> None:
    features = np.random.default_rng(0).normal(size=(2, WIDTH)).astype(">f4")
    status, answer = post(shared, "numbers/predict", b'{"width": 40}\n' + features.tobytes())
    assert (status, "little-endian" in answer["detail"]) == (422, True)


def test_labels_are_checked_as_in_json(shared: Running) -> None:
    X = rows(["a", "b"], np.random.default_rng(0))
    for fields, sentence in (
        ({}, "expected labels, one per sample, or label"),
        ({"labels": ["a"]}, "got 2 samples and 1 labels"),
        ({"label": "a\u200b"}, "U+200B"),
        ({"label": "a", "labels": ["a", "b"]}, "expected labels, one per sample, or label"),
    ):
        status, answer = post(shared, "numbers/learn", packed(X, **fields))
        assert (status, sentence in answer["detail"]) == (422, True), answer


def test_a_body_without_a_width_is_refused_by_its_bytes() -> None:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b'{"top": 1}\n' + bytes(100), "more_body": False}

    request = Request({"type": "http", "headers": []}, receive)
    with pytest.raises(ServiceError, match="one request may have 100 bytes"):
        asyncio.run(take_packed(request, Limits(body_bytes=100)))


def test_too_many_rows_are_refused_before_they_are_sent(start: Starter) -> None:
    running = start(limits=Limits(rows=10))
    running.client.create("numbers", encoder=None)
    parts = urlsplit(running.client.url)
    line = b'{"width": 40, "label": "a"}\n'
    with socket.create_connection((parts.hostname or "", parts.port or 0), 20) as connection:
        head = f"POST /v1/models/numbers/learn HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: {PACKED}\r\n"
        length = len(line) + 4 * 40 * 11
        connection.sendall(f"{head}content-length: {length}\r\n\r\n".encode() + line)  # and no row
        answer = b""
        while b"}" not in answer and (more := connection.recv(65536)):  # head and body may come apart
            answer += more
    assert answer.startswith(b"HTTP/1.1 413")
    assert b"10 rows of features" in answer


def test_a_model_of_another_width_says_so(running: Running) -> None:
    running.client.create("numbers", encoder=None).learn(
        LABELS, features=rows(LABELS, np.random.default_rng(0))
    )
    status, answer = post(running, "numbers/predict", packed(np.zeros((1, 41), np.float32)))
    assert (status, "width 40" in answer["detail"]) == (422, True)


def test_mutated_bodies(running: Running) -> None:
    running.client.create("fuzzed", encoder=None).learn(
        LABELS, features=rows(LABELS, np.random.default_rng(0))
    )
    rng, statuses = np.random.default_rng(1), set()
    for number in range(200):
        body = packed(rows(["a"], rng), **({"label": "a"} if number % 2 else {}))
        if number % 4:
            body = mutated(body, rng)
        status, answer = post(running, f"fuzzed/{('predict', 'learn')[number % 2]}", body)
        assert status < 500, answer
        assert status == 200 or answer["detail"]
        statuses.add(status)
    assert {200, 422} <= statuses
