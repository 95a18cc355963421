"""Uploads of every odd kind: refused in words, never an error of the service."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tests.service.material import make_image
from tests.service.running import Running
from tests.service.sending import form, send


def mutated(data: bytes, rng: np.random.Generator) -> bytes:
    """Return bytes with something wrong in them."""
    changed = bytearray(data)
    kind = rng.integers(4)
    if kind == 0:
        return data[: rng.integers(len(data))]
    if kind == 1:
        for place in rng.integers(len(data), size=rng.integers(1, 12)).tolist():
            changed[place] = rng.integers(256)
    elif kind == 2:
        start, length = rng.integers(len(data)), rng.integers(1, 60)
        changed[start : start + length] = rng.bytes(int(rng.integers(0, 60)))
    else:
        changed += rng.bytes(50)
    return bytes(changed)


def test_mutated_forms(shared: Running) -> None:
    shared.client.create("fuzzed")
    rng = np.random.default_rng(0)
    statuses = set()
    for number in range(150):
        kind = ("PNG", "JPEG", "WEBP", "GIF")[number % 4]
        data = make_image("red", rng, kind=kind)
        body, content_type = form(
            [("images", "x", mutated(data, rng) if number % 3 else data)], {"labels": "a"}
        )
        if number % 2:
            body = mutated(body, rng)
        path = f"/v1/models/fuzzed/{('learn', 'predict')[number % 5 == 0]}"
        status, _, answer = send(shared, "POST", path, body, {"content-type": content_type})
        assert status < 500, answer
        assert status == 200 or answer["detail"]
        statuses.add(status)
    assert {200, 422} <= statuses
    shared.client.model("fuzzed").delete()


HEADS: list[dict[str, str]] = [
    {"content-type": "multipart/form-data"},
    {"content-type": "multipart/form-data; boundary="},
    {"content-type": "multipart/form-data; boundary=" + "b" * 5000},
    {"content-type": "multipart/form-data; boundary=cut; charset=nonsense"},
    {"content-type": "application/json; charset=utf-16"},
    {"content-type": "text/plain"},
    {"content-type": ""},
    {"idempotency-key": "k" * 201},
    {"idempotency-key": "\xff\xfe"},
    {"content-length": "0"},
]


@pytest.mark.parametrize("headers", HEADS)
def test_odd_headers(shared: Running, headers: dict[str, str]) -> None:
    body, _ = form([("images", "x", b"abc")], {"labels": "a"})
    if "content-length" in headers:
        body = b""
    status, _, answer = send(shared, "POST", "/v1/models/numbers/learn", body, headers)
    assert 400 <= status < 500, answer


def test_mutated_json(shared: Running) -> None:
    rng = np.random.default_rng(1)
    good = json.dumps({"features": [[0.5, -1e3], [2.0, 3.0]], "labels": ["a", "b"], "top": 3}).encode()
    odd: list[Any] = [None, [], {}, "x", 1e308, -1, True, [[1], 2], {"features": 1}, "\u0000", 2**70, [None]]
    bodies = [mutated(good, rng) for _ in range(100)]
    for field in ("features", "labels", "label", "images", "features_base64", "width", "top"):
        bodies += [json.dumps({"features": [[1.0]], "label": "a", field: value}).encode() for value in odd]
    shared.client.create("fuzzed", encoder=None)
    for number, body in enumerate(bodies):
        path = f"/v1/models/fuzzed/{('learn', 'predict')[number % 2]}"
        status, _, answer = send(shared, "POST", path, body, {"content-type": "application/json"})
        assert status < 500, (body, answer)
    shared.client.model("fuzzed").delete()


def test_mutated_model_files(shared: Running) -> None:
    rng = np.random.default_rng(2)
    shared.client.create("origin", encoder=None).learn(["a", "b"] * 2, features=rng.normal(size=(4, 3)))
    data = shared.client.model("origin").export()
    for _ in range(60):
        status, _, answer = send(shared, "POST", "/v1/models/taken/import", mutated(data, rng))
        assert status in (201, 422), answer
        if status == 201:
            shared.client.model("taken").delete()
    shared.client.model("origin").delete()
