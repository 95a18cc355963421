"""Requests to Label Studio: no redirects, limits on size and time, and a token that only Label Studio sees."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from i2cansay.service.errors import ServiceError
from i2cansay.service.label_studio.connection import LabelStudio
from i2cansay.service.label_studio.fetching import NoConnection
from i2cansay.service.label_studio.origin import Origin
from i2cansay.service.limits import Limits
from tests.service.label_studio.studio import CONFIG, TOKEN, Studio, running_studio
from tests.service.running import free_port

IMAGE = "/data/upload/1/a.png"
REFRESH = "/api/token/refresh/"


@pytest.fixture
def studio() -> Iterator[Studio]:
    with running_studio() as studio:
        yield studio


def refusal(studio: LabelStudio, reference: object = IMAGE) -> ServiceError:
    with pytest.raises(ServiceError) as refused:
        studio.image(reference)
    assert TOKEN not in str(refused.value)
    return refused.value


def test_an_image_is_asked_for_with_our_token(studio: Studio) -> None:
    studio.put(IMAGE, b"pixels")
    assert studio.connection().image(IMAGE) == b"pixels"
    (asked,) = studio.asked
    assert asked.headers["authorization"] == f"Token {TOKEN}"
    assert asked.headers["accept-encoding"] == "identity"


def test_a_redirect_is_not_followed(studio: Studio) -> None:
    with running_studio() as elsewhere:
        elsewhere.put(IMAGE, b"secret")
        for to in (
            elsewhere.address + IMAGE,
            f"//127.0.0.1:{elsewhere.port}{IMAGE}",
            "/api/users",
            "file:///etc",
        ):
            studio.redirect(IMAGE, to)
            error = refusal(studio.connection())
            assert error.status == 502
            assert "redirect" in error.sentence
        assert elsewhere.asked == []
        assert set(studio.paths) == {IMAGE}


def test_nothing_is_asked_for_elsewhere(studio: Studio) -> None:
    with running_studio() as elsewhere:
        elsewhere.put(IMAGE, b"secret")
        for reference in (
            elsewhere.address + IMAGE,
            f"http://127.0.0.1:{studio.port}@127.0.0.1:{elsewhere.port}{IMAGE}",
            f"//127.0.0.1:{elsewhere.port}{IMAGE}",
            "/data/upload/../../api/users",
        ):
            assert refusal(studio.connection(), reference).code == "wrong_origin"
        assert elsewhere.asked == studio.asked == []


@pytest.mark.parametrize("announced", [True, False])
def test_an_image_has_a_limit(studio: Studio, announced: bool) -> None:
    limits = Limits(label_studio_bytes=1000)
    for size in (1000, 1001, 100_000):
        # Without a length the body ends with the connection.
        length = {"content-length": str(size)} if announced else {"x-without": "length"}
        studio.answers[IMAGE] = 200, length, b"x" * size
        if size == 1000:
            assert len(studio.connection(limits).image(IMAGE)) == size
        else:
            assert refusal(studio.connection(limits)).status == 413


def test_a_length_that_is_not_true_is_noticed(studio: Studio) -> None:
    studio.answers[IMAGE] = 200, {"content-length": "10"}, b"x" * 7
    assert refusal(studio.connection(Limits(label_studio_seconds=1.0))).status == 502


def test_a_slow_drip_ends_at_the_deadline(studio: Studio) -> None:
    studio.put(IMAGE, b"x" * 1000)
    studio.pause = 0.1
    started = time.monotonic()
    error = refusal(studio.connection(Limits(label_studio_seconds=0.5)))
    assert "within 0.5 seconds" in error.sentence
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    ("start", "drop"),
    [
        (b"HTTP/1.1 200 OK\r\nx-long: ", b"x"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", b"0"),
        (b"HTTP/1.1 200 OK\r\n\r\n", b"x"),
    ],
    ids=["headers", "continue", "chunk-size", "body"],
)
def test_whatever_drips_ends_at_the_deadline(start: bytes, drop: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            with server.accept()[0] as accepted, suppress(OSError):
                accepted.sendall(start)
                for _ in range(60):  # six seconds, then it ends by itself
                    accepted.sendall(drop)
                    time.sleep(0.1)

        dripping = threading.Thread(target=drip, daemon=True)
        dripping.start()
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        studio = LabelStudio(Origin.parse(address), TOKEN, Limits(label_studio_seconds=0.5))
        started = time.monotonic()
        error = refusal(studio)
        assert time.monotonic() - started < 4
        dripping.join(10)
    assert isinstance(error, NoConnection)
    assert "within 0.5 seconds" in error.sentence


def test_what_label_studio_says_is_not_passed_on(studio: Studio) -> None:
    for status, expected in ((401, 502), (403, 502), (404, 404), (500, 502), (204, 502)):
        studio.put(IMAGE, b"a secret of another project", status)
        error = refusal(studio.connection())
        assert error.status == expected
        assert "secret" not in error.sentence


def test_a_label_studio_that_is_not_there_is_told() -> None:
    gone = LabelStudio(Origin.parse(f"http://127.0.0.1:{free_port()}"), TOKEN)
    assert refusal(gone).status == 502
    assert TOKEN not in repr(gone)


def test_a_personal_token_is_sent_once_for_an_access_token(studio: Studio) -> None:
    personal = "eyJhbGciOi.eyJ0b2tlbl90.c2lnbmF0dXJl"
    studio.put(REFRESH, {"access": "for-two-minutes"})
    studio.put(IMAGE, b"pixels")
    connection = studio.connection(token=personal)
    for _ in range(2):
        assert connection.image(IMAGE) == b"pixels"
    assert studio.paths == [REFRESH, IMAGE, IMAGE]
    assert json.loads(studio.asked[0].body) == {"refresh": personal}
    assert "authorization" not in studio.asked[0].headers
    assert studio.asked[2].headers["authorization"] == "Bearer for-two-minutes"
    studio.put(REFRESH, b"[]")
    with pytest.raises(ServiceError, match="something else than an access token"):
        studio.connection(token=personal).image(IMAGE)
    del studio.answers[REFRESH]
    with pytest.raises(ServiceError, match="legacy token"):
        studio.connection(token=personal).image(IMAGE)


def test_pages_of_tasks_are_read_to_their_end(studio: Studio) -> None:
    for page, ids in ((1, [1, 2]), (2, [3])):
        path = f"/api/tasks/?project=4&page={page}&page_size=50&fields=all"
        studio.put(path, {"tasks": [{"id": number} for number in ids], "total": 3})
    assert [task["id"] for task in studio.connection().tasks(4)] == [1, 2, 3]
    studio.put("/api/projects/4/", {"label_config": CONFIG})
    assert studio.connection().labelling(4).field == "image"
    for body in (b"not json", b"[1]"):
        studio.put("/api/tasks/9/", body)
        with pytest.raises(ServiceError, match="answered with something"):
            studio.connection().task(9)
