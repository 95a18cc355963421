"""What is told of an address before Ray tries it, and of a cluster that takes long."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from i2cansay.engines import ray_cluster

HTTP1_ANSWER = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"
HTTP2_SETTINGS = b"\0\0\x06\4\0\0\0\0\0\0\3\0\0\0\x64"


@contextmanager
def listening(answer: bytes | None) -> Iterator[str]:
    """Lend the address of a server that gives this answer to whatever comes; None: it gives none, and stays."""
    done = threading.Event()

    def serve() -> None:
        opened, _ = server.accept()
        with opened:
            opened.recv(64)
            if answer is None:
                done.wait(60)
            else:
                opened.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(20)
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}"
        finally:
            done.set()
            thread.join()


@pytest.mark.parametrize("answer", [HTTP1_ANSWER, b"", b"\0\0"])
def test_a_server_that_is_not_ray_is_told_at_once(answer: bytes) -> None:
    with listening(answer) as address, pytest.raises(ConnectionError) as told:
        ray_cluster._check_answers(address)
    assert f"there is no Ray cluster at {address} (what listens there is not Ray)" in str(told.value)
    assert "port 6379 (8265 is the dashboard)" in str(told.value)


def test_a_server_that_stays_silent_is_told_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster, "SECONDS_TO_ANSWER", 0.1)
    with listening(None) as address, pytest.raises(ConnectionError, match="timed out"):
        ray_cluster._check_answers(address)


@pytest.mark.parametrize("scheme", ["", "ray://"])
def test_a_server_that_speaks_http2_may_be_ray(scheme: str) -> None:
    with listening(HTTP2_SETTINGS) as address:
        ray_cluster._check_answers(scheme + address)


def test_an_encrypted_cluster_is_left_to_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_USE_TLS", "1")
    with listening(HTTP1_ANSWER) as address:
        ray_cluster._check_answers(address)


def test_what_takes_long_is_told_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with ray_cluster._silent("not told"):
        os.write(2, b"noise of Ray\n")
    monkeypatch.setattr(ray_cluster, "SECONDS_TO_ANSWER", 0.01)
    with ray_cluster._silent("waiting for Ray at 10.0.0.1:6379"):
        os.write(2, b"noise of Ray\n")
        time.sleep(0.5)
    assert capfd.readouterr().err == "waiting for Ray at 10.0.0.1:6379\n"
