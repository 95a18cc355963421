"""Access: tokens, origins, hosts, headers, rates."""

from __future__ import annotations

import http.client
import logging
import time
from urllib.parse import urlsplit

import pytest

from i2cansay.service.access.body_limit import FREE
from i2cansay.service.access.middleware import HEADERS, WRONG_TOKENS_AT_ONCE
from i2cansay.service.client import Client, RequestRefused
from i2cansay.service.http.server import Address, check_address
from i2cansay.service.limits import Limits
from tests.service.running import Running, Starter
from tests.service.sending import send


def test_tokens_and_their_scopes(start: Starter) -> None:
    running = start(need_token=True)
    secrets = {
        scope: running.service.tokens.add(f"my {scope}", scope) for scope in ("predict", "teach", "admin")
    }
    clients = {scope: Client(running.client.url, token=secret, tries=1) for scope, secret in secrets.items()}
    for wrong in (Client(running.client.url, tries=1), Client(running.client.url, token="guess", tries=1)):
        with pytest.raises(RequestRefused) as refusal:
            wrong.models()
        assert (refusal.value.status, refusal.value.code) == (401, "no_token")
        wrong.close()
    clients["admin"].create("numbers", encoder=None)
    clients["teach"].model("numbers").learn("a", features=[[1.0], [2.0]])
    assert clients["predict"].model("numbers").predict(features=[[1.0]])[0].label == "a"
    for act in (
        lambda: clients["predict"].model("numbers").learn("a", features=[[1.0]]),
        lambda: clients["teach"].create("more"),
        lambda: clients["teach"].model("numbers").export(),
    ):
        with pytest.raises(RequestRefused) as refusal:
            act()
        assert (refusal.value.status, refusal.value.code) == (403, "not_allowed")
    assert [line["who"] for line in clients["admin"].model("numbers").log()] == ["my teach"]
    running.service.tokens.remove("my predict")
    with pytest.raises(RequestRefused):
        clients["predict"].models()
    stored = (running.folder / "tokens.json").read_text()
    assert not any(secret in stored for secret in secrets.values())
    assert (running.folder / "tokens.json").stat().st_mode & 0o077 == 0
    assert send(running, "GET", "/healthz")[0] == 200
    assert send(running, "GET", "/")[0] == 200
    for client in clients.values():
        client.close()


def test_a_token_that_asks_too_often_is_slowed_down(start: Starter) -> None:
    running = start(need_token=True, limits=Limits(requests_per_second=5))
    client = Client(running.client.url, token=running.service.tokens.add("fast", "admin"), tries=1)
    with pytest.raises(RequestRefused) as refusal:
        [client.models() for _ in range(30)]
    assert refusal.value.status == 429
    assert refusal.value.retry_after == 1
    time.sleep(0.3)
    client.models()
    client.close()


def test_other_addresses_need_a_token(start: Starter) -> None:
    service = start().service
    with pytest.raises(ValueError, match="token add"):
        check_address(service, Address("0.0.0.0"))
    service.tokens.add("me", "admin")
    check_address(service, Address("0.0.0.0"))
    assert Address("0.0.0.0").policy().needs_token
    assert not Address("127.0.0.1").policy().needs_token


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "localhost"}, 200),
        ({"host": "127.0.0.1:1"}, 200),
        ({"host": "[::1]:1"}, 200),
        ({"host": "localhost", "origin": "http://localhost"}, 200),
        ({"host": "localhost", "origin": "http://evil.example"}, 403),
        ({"host": "localhost", "origin": "null"}, 403),
    ],
)
def test_pages_of_other_sites_stay_outside(shared: Running, headers: dict[str, str], status: int) -> None:
    assert send(shared, "GET", "/v1/models", None, headers)[0] == status


def test_no_cors_unless_it_is_asked_for(start: Starter) -> None:
    running = start(origins=("https://plant.example",))
    headers = {"origin": "https://plant.example", "access-control-request-method": "POST"}
    _, answer, _ = send(running, "OPTIONS", "/v1/models", None, headers)
    assert answer["access-control-allow-origin"] == "https://plant.example"
    status, answer, _ = send(running, "GET", "/v1/models", None, {"origin": "https://other.example"})
    assert status == 403
    assert "access-control-allow-origin" not in answer


@pytest.mark.parametrize("path", ["/", "/page.js", "/v1/models", "/nowhere", "/v1/models/none"])
def test_every_answer_has_the_security_headers(shared: Running, path: str) -> None:
    _, headers, _ = send(shared, "GET", path)
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert "server" not in headers
    assert "access-control-allow-origin" not in headers


def test_an_unforeseen_error_tells_nothing(
    shared: Running, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_: str) -> None:
        raise RuntimeError("the secret of the house")

    monkeypatch.setattr(shared.service, "model", broken)
    with caplog.at_level(logging.ERROR):
        status, _, answer = send(shared, "GET", "/v1/models/numbers")
    assert (status, answer["code"]) == (500, "internal")
    assert "secret" not in str(answer)
    assert "secret of the house" in caplog.text
    assert answer["detail"].split()[-1] in caplog.text


def test_too_much_at_once_is_asked_to_come_back(start: Starter) -> None:
    running = start(limits=Limits(bytes_in_flight=1000))
    running.client.create("numbers", encoder=None)
    status, headers, answer = send(running, "POST", "/v1/models/numbers/learn", b"x" * (FREE + 2000))
    assert (status, answer["code"], headers["retry-after"]) == (429, "busy", "1")
    parts = urlsplit(running.client.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    connection.request(
        "POST", "/v1/models/numbers/learn", iter([b"x" * (FREE // 2 + 600)] * 3), encode_chunked=True
    )
    chunked = connection.getresponse()
    assert (chunked.status, chunked.headers["retry-after"]) == (429, "1")
    connection.close()
    assert (
        running.client.model("numbers").learn("a", features=[[1.0]]).learnt == 1
    )  # counted bytes are given back


def guess(running: Running, secret: str, **headers: str) -> tuple[int, dict[str, str], dict[str, str]]:
    """Ask with a token."""
    return send(running, "GET", "/v1/models", None, {"authorization": f"Bearer {secret}", **headers})


def test_wrong_tokens_are_slowed_down_and_right_ones_never(start: Starter) -> None:
    running = start(need_token=True, limits=Limits(wrong_tokens_per_second=0.001))
    right = running.service.tokens.add("me", "predict")
    answers = [guess(running, f"guess {number}") for number in range(WRONG_TOKENS_AT_ONCE + 5)]
    assert [status for status, _, _ in answers] == [401] * WRONG_TOKENS_AT_ONCE + [429] * 5
    _, headers, content = answers[-1]
    assert content["code"] == "too_many_wrong_tokens"
    assert 900 <= int(headers["retry-after"]) <= 1000
    assert guess(running, right)[0] == 200  # from the same address
    assert send(running, "GET", "/v1/models")[0] == 401  # no token at all is no guess
    _, _, metrics = send(running, "GET", "/metrics", None, {"authorization": f"Bearer {right}"})
    assert b"i2cansay_wrong_tokens_total 25" in metrics
    assert b"i2cansay_wrong_tokens_refused_total 5" in metrics


@pytest.mark.parametrize(
    ("proxies", "last"),
    [
        ((), 429),  # nobody is believed: all come from this machine
        (("127.0.0.1",), 401),  # each client has guesses of its own
        (("127.0.0.0/8",), 401),
        (("10.0.0.0/8",), 429),
    ],
)
def test_only_a_trusted_proxy_says_who_asks(start: Starter, proxies: tuple[str, ...], last: int) -> None:
    running = start(need_token=True, limits=Limits(wrong_tokens_per_second=0.001), proxies=proxies)
    running.service.tokens.add("me", "predict")
    for _ in range(WRONG_TOKENS_AT_ONCE):
        guess(running, "guess", **{"x-forwarded-for": "192.0.2.1"})
    assert guess(running, "guess", **{"x-forwarded-for": "192.0.2.2"})[0] == last
    # What a client writes itself stands before what the proxy adds.
    assert guess(running, "guess", **{"x-forwarded-for": "192.0.2.3, 192.0.2.1"})[0] == 429


def test_a_proxy_is_named_by_its_address(start: Starter) -> None:
    service = start().service
    with pytest.raises(ValueError, match="an address or a network"):
        check_address(service, Address(proxies=("my-proxy",)))


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("PUT", "/v1/models", "GET, HEAD, OPTIONS, POST"),
        ("POST", "/v1/models/numbers", "DELETE, GET, HEAD, OPTIONS"),
        ("GET", "/v1/models/numbers/learn", "OPTIONS, POST"),
        ("DELETE", "/v1/models/numbers/log", "GET, HEAD, OPTIONS"),
        ("POST", "/healthz", "GET, HEAD, OPTIONS"),
        ("POST", "/page.js", "GET, HEAD, OPTIONS"),
        ("TRACE", "/v1/openapi.json", "GET, HEAD, OPTIONS"),
        ("BREW", "/", "GET, HEAD, OPTIONS"),
    ],
)
def test_a_wrong_method_is_told_the_right_ones(shared: Running, method: str, path: str, allow: str) -> None:
    status, headers, content = send(shared, method, path)
    assert (status, content["code"], headers["allow"]) == (405, "wrong_method", allow)
    assert allow in content["detail"]
    status, headers, _ = send(shared, "OPTIONS", path)
    assert (status, headers["allow"]) == (204, allow)
    if "HEAD" in allow:
        status, headers, body = send_head(shared, path)
        assert (status, body) == (200, b"")
        assert headers["content-type"] == send(shared, "GET", path)[1]["content-type"]


def send_head(running: Running, path: str) -> tuple[int, dict[str, str], bytes]:
    """Ask for a head."""
    parts = urlsplit(running.client.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    connection.request("HEAD", path)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, dict(answer.headers), body


@pytest.mark.parametrize(
    "path", ["/nowhere", "/v1/nowhere", "/v1/models/numbers/nowhere", "//", "/%2e%2e/etc"]
)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_what_is_not_there_is_said_in_json(shared: Running, method: str, path: str) -> None:
    status, headers, content = send(shared, method, path)
    assert (status, content["code"]) == (404, "not_found")
    assert headers["content-type"] == "application/json"


def test_a_browser_of_a_welcome_site_may_go_on(start: Starter) -> None:
    running = start(origins=("https://plant.example",), need_token=True)
    headers = {"origin": "https://plant.example", "access-control-request-method": "POST"}
    assert send(running, "OPTIONS", "/v1/models", None, headers)[0] == 204
    assert send(running, "OPTIONS", "/v1/models")[0] == 401


def test_an_error_has_one_name_however_often_it_happens(
    shared: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(name: str) -> None:
        raise RuntimeError(name)

    monkeypatch.setattr(shared.service, "model", broken)
    answers = [send(shared, "GET", f"/v1/models/{name}")[2]["detail"] for name in ("a", "b")]
    other = send(shared, "GET", "/v1/models/a/classes")[2]["detail"]
    assert answers[0] == answers[1] != other


def test_every_answer_has_the_headers_once_and_a_route_may_have_its_own(start: Starter) -> None:
    running = start()
    running.client.create("numbers", encoder=None)
    calls = [
        ("GET", "/healthz", 200, {}),
        ("POST", "/v1/models/numbers/predict", 422, {}),
        ("POST", "/v1/models/nobody/predict", 404, {}),
        ("DELETE", "/healthz", 405, {}),
        ("GET", "/page.js", 200, {"cache-control": "no-cache"}),
    ]
    for method, path, status, own in calls:
        parts = urlsplit(running.client.url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
        connection.request(method, path)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        assert answer.status == status
        for name, value in {**HEADERS, **own}.items():
            assert answer.headers.get_all(name) == [value], (path, name)
