"""Bodies and images that are made to cost much: refused before they do."""

from __future__ import annotations

import base64
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

from i2cansay.encoders.encoder import EncodedImages
from i2cansay.service.access.body_limit import FREE, IncomingBody, Traffic
from i2cansay.service.errors import ServiceError
from i2cansay.service.http import bodies
from i2cansay.service.http.json_route import SMALL
from i2cansay.service.http.json_text import read_json
from i2cansay.service.limits import Limits
from tests.service.material import make_image
from tests.service.running import Running, Starter
from tests.service.sending import form, send

ASK = "/v1/models/numbers/predict"


@pytest.fixture
def no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where JSON is parsed at all."""

    def parsed(_: object) -> None:
        raise AssertionError("a body was parsed")

    monkeypatch.setattr(bodies, "read_json", parsed)


@pytest.mark.usefixtures("no_parser")
@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b'{"features": [[0' + b",0" * 250_000 + b"]]}", "send features packed"),
        (b'{"features": [[0]' + b",[0]" * 250_000 + b"]}", "send features packed"),
        (b'{"images": ["' + b"A" * 2**24 + b'"]}', "send images as a form"),
        (b'{"label": "' + b"a" * 2**24 + b'"}', "may have 16777216 bytes"),
    ],
)
def test_large_json_is_refused_before_it_is_parsed(
    shared: Running, body: bytes, sentence: str, chunked: bool
) -> None:
    parts = urlsplit(shared.client.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    pieces = iter([body[start : start + 2**20] for start in range(0, len(body), 2**20)])
    connection.request("POST", ASK, pieces if chunked else body, encode_chunked=chunked)
    answer = connection.getresponse()
    content = json.loads(answer.read())
    connection.close()
    assert (answer.status, content["code"]) == (413, "too_large")
    assert sentence in content["detail"]


def test_what_the_limits_allow_is_read(running: Running) -> None:
    model = running.client.create("numbers", encoder=None)
    rows = np.random.default_rng(0).normal(size=(1000, 249)).astype(np.float32)
    body = {"features": rows.tolist(), "label": "a"}
    assert send(running, "POST", "/v1/models/numbers/learn", json.dumps(body).encode())[0] == 200
    assert len(model.predict(features=rows)) == 1000
    wide = np.eye(150, 20_000, dtype=np.float32)
    packed = {"features_base64": base64.b64encode(wide.tobytes()).decode(), "width": 20_000, "label": "a"}
    running.client.create("wide", encoder=None)
    assert send(running, "POST", "/v1/models/wide/learn", json.dumps(packed).encode())[0] == 200


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        (b'{"features": [[1' + b"0" * 5000 + b"]]}", 422, "thousands of digits"),
        (b'{"features": [[1' + b"0" * 400 + b"]]}", 422, "features.0.0"),
        (b'{"features": [[0.' + b"1" * 10**6 + b"]], " + b'"top": 0}', 422, "top"),
        (b'{"features": [[1e999]]}', 422, "finite"),
        (b'{"features": ' + b"[" * 10**6, 422, "nested too deeply"),
        (b'{"features": [[1]], "features": [[2]]}', 422, "features: this field comes twice"),
        (b'{"features": [' + b",".join([b"[1]"] * 1001) + b"]}", 413, "1000 rows of features, got 1001"),
        (b'{"images": [' + b",".join([b'""'] * 65) + b"]}", 413, "64 images, got 65"),
        (b'{"features": [[' + b",".join([b'"x"'] * 200_000) + b"]]}", 422, "features.0.0"),
        (b"{" + b",".join(b'"%d": 0' % n for n in range(20_000)) + b"}", 422, "0: there is no such field"),
    ],
)
def test_odd_json_gets_a_sentence(shared: Running, body: bytes, status: int, sentence: str) -> None:
    got, _, answer = send(shared, "POST", ASK, body)
    assert (got, sentence in answer["detail"]) == (status, True), answer
    assert len(answer["detail"]) < 300


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        (b'{"name": "' + b"x" * SMALL + b'"}', 413, f"may have {SMALL} bytes"),
        (b'{"name": "x", "name": "y"}', 422, "name: this field comes twice"),
        (b'{"name": "x", "parameters": {"lr": 1e999}}', 422, "finite"),
        (b'{"name": "x", "parameters": {"lr": NaN}}', 422, "finite"),
        (b'{"name": "x", "parameters": {"\\ud800": 1}}', 422, "surrogate"),
        (b'{"name": ' + b"[" * 50_000, 422, "nested too deeply"),
        (b'{"name": "x", "min_samples": 1' + b"0" * 5000 + b"}", 422, "thousands of digits"),
    ],
)
def test_other_bodies_are_small_and_strict(shared: Running, body: bytes, status: int, sentence: str) -> None:
    got, _, answer = send(shared, "POST", "/v1/models", body, {"content-type": "application/json"})
    assert (got, sentence in answer["detail"]) == (status, True), answer
    assert [model["name"] for model in shared.client.models()] == ["numbers"]


def test_what_parsing_will_take_is_charged_before(start: Starter, monkeypatch: pytest.MonkeyPatch) -> None:
    body = b'{"features": [[0' + b",0" * 100_000 + b"]]}"
    running = start(limits=Limits(bytes_in_flight=len(body) + 1_000_000))
    running.service.create("numbers", encoder=None)
    monkeypatch.setattr(bodies, "read_json", lambda _: pytest.fail("a body was parsed"))
    status, headers, answer = send(running, "POST", ASK, body)  # its bytes have room, its values have not
    assert (status, answer["code"], headers["retry-after"]) == (429, "busy", "1")


@pytest.mark.parametrize(
    ("rows", "line", "in_a_thread"),
    [
        (50, {"width": 1280}, False),
        (300, {"width": 1280}, True),
        (50, {"width": 1280, "x": "y" * 150_000}, True),
    ],
)
def test_rows_are_read_where_they_come_and_long_lines_in_a_thread(
    shared: Running, monkeypatch: pytest.MonkeyPatch, rows: int, line: dict[str, Any], in_a_thread: bool
) -> None:
    threads: list[str] = []
    taken: list[int] = []

    def noted(data: bytearray) -> dict[str, Any]:
        threads.append(threading.current_thread().name)
        return read_json(data)

    def charged(body: IncomingBody, n: int) -> None:
        taken.append(n)
        charge(body, n)

    charge = IncomingBody.charge
    monkeypatch.setattr(bodies, "read_json", noted)
    monkeypatch.setattr(IncomingBody, "charge", charged)
    body = json.dumps(line).encode() + b"\n" + bytes(4 * 1280 * rows)
    status, _, _ = send(shared, "POST", ASK, body, {"content-type": "application/octet-stream"})
    assert status in (409, 422)  # the model has learnt nothing, or has another width
    assert ["parser" in name for name in threads] == [in_a_thread]
    assert max(taken) >= len(body)


def test_traffic_counts_what_came_and_not_what_was_announced(start: Starter) -> None:
    running = start(limits=Limits(bytes_in_flight=FREE))
    running.service.create("numbers", encoder=None)
    parts = urlsplit(running.client.url)
    slow = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    slow.putrequest("POST", ASK)
    slow.putheader("content-length", str(2 * FREE))
    slow.endheaders(b"{")  # and no more
    assert running.client.model("numbers").learn("a", features=np.zeros((50, 300))).learnt == 50  # 80 kB
    slow.close()


def test_traffic_gives_back() -> None:
    traffic = Traffic(10)
    traffic.take(6)
    with pytest.raises(ServiceError):
        traffic.take(5)
    traffic.take(0, "another")  # nothing is always welcome
    traffic.give_back(6)
    traffic.take(10)


def test_one_client_has_a_share_of_the_traffic() -> None:
    traffic = Traffic(10, 6)
    traffic.take(6, "one")
    with pytest.raises(ServiceError):
        traffic.take(1, "one")
    traffic.take(4, "another")
    with pytest.raises(ServiceError):
        traffic.take(1, "another")
    traffic.give_back(6, "one")
    traffic.take(2, "another")


def test_uploads_that_are_held_keep_no_small_request_out(start: Starter) -> None:
    size = 4 * FREE
    running = start(limits=Limits(bytes_in_flight=2 * size, body_bytes=2 * size, seconds=60))
    running.service.create("numbers", encoder=None)
    parts = urlsplit(running.client.url)
    held = []
    for _ in range(2):  # together they leave room for a few bytes
        upload = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
        upload.putrequest("POST", ASK)
        upload.putheader("content-length", str(size + FREE))
        upload.endheaders(bytes(size + FREE - 10))
        held.append(upload)
    large = b"x" * (3 * FREE)
    until = time.monotonic() + 20
    while send(running, "POST", ASK, large)[0] != 429:  # both have come in
        assert time.monotonic() < until
    assert running.client.model("numbers").learn("a", features=np.zeros((4, 300))).learnt == 4
    for upload in held:
        upload.close()


def test_who_holds_uploads_is_one_of_two(start: Starter) -> None:
    running = start(need_token=True, limits=Limits(bytes_in_flight=8 * FREE, body_bytes=2 * FREE, seconds=60))
    running.service.create("numbers", encoder=None)
    secrets = [running.service.tokens.add(name, "teach") for name in ("one", "two")]
    parts = urlsplit(running.client.url)
    held = []
    for _ in range(4):
        upload = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
        upload.putrequest("POST", ASK)
        upload.putheader("authorization", f"Bearer {secrets[0]}")
        upload.putheader("content-length", str(2 * FREE))
        upload.endheaders(bytes(2 * FREE - 10))
        held.append(upload)
    body = b"x" * (FREE + 20_000)

    def status(secret: str) -> int:
        return send(running, "POST", ASK, body, {"authorization": f"Bearer {secret}"})[0]

    until = time.monotonic() + 20
    while status(secrets[0]) != 429:
        assert time.monotonic() < until
        time.sleep(0.1)
    assert status(secrets[1]) == 422  # it came in, and is not JSON
    for upload in held:
        upload.close()


def test_pixels_of_a_request(start: Starter) -> None:
    rng = np.random.default_rng(0)
    running = start(limits=Limits(request_pixels=2 * 24 * 24))
    model = running.client.create("line-3")
    two = [make_image("red", rng) for _ in range(2)]
    assert model.learn("red", images=two).learnt == 2
    body, kind = form([("images", "x", data) for data in (*two, two[0])], {"label": "red"})
    status, _, answer = send(running, "POST", "/v1/models/line-3/learn", body, {"content-type": kind})
    assert (status, "send them in parts" in answer["detail"]) == (413, True)
    assert [line.count for line in model.classes()] == [2]


def test_images_of_a_client_that_has_gone_are_not_encoded(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    model = running.client.create("line-3")
    assert model.learn("red", images=[make_image("red", rng), make_image("red", rng)]).learnt == 2
    queue = running.service.image_queue(running.service.models["line-3"])
    begun, go = threading.Event(), threading.Event()
    encoded: list[int] = []
    real = queue.encoder.encode_each

    def encode_each(images: Iterable[Any]) -> EncodedImages:
        given = list(images)
        encoded.append(len(given))
        begun.set()
        assert go.wait(20)
        return real(given)

    monkeypatch.setattr(queue.encoder, "encode_each", encode_each)
    body, kind = form([("images", "x", make_image("red", rng)) for _ in range(60)], {})
    parts = urlsplit(running.client.url)
    with socket.create_connection((parts.hostname, parts.port)) as leaving:
        head = f"POST /v1/models/line-3/predict HTTP/1.1\r\nhost: localhost\r\ncontent-type: {kind}\r\n"
        leaving.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        assert begun.wait(20)
    deadline = time.monotonic() + 20
    while b'status="499"' not in send(running, "GET", "/metrics")[2]:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    go.set()
    assert model.predict(images=[make_image("red", rng)])[0].label == "red"
    assert encoded == [16, 1]


def test_the_description_says_which_fields_exclude_each_other(shared: Running) -> None:
    _, _, description = send(shared, "GET", "/v1/openapi.json")
    for path, groups in (("learn", 2), ("predict", 1)):
        content = description["paths"][f"/v1/models/{{name}}/{path}"]["post"]["requestBody"]["content"]
        rules = content["application/json"]["schema"]["allOf"]
        choices = [[each["required"] for each in rule["oneOf"]] for rule in rules if "oneOf" in rule]
        expected = [[["images"], ["features"], ["features_base64"]], [["labels"], ["label"]]]
        assert choices == expected[:groups]
        assert {"dependentRequired": {"features_base64": ["width"]}} in rules
