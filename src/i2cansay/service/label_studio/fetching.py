"""Requests to Label Studio: to one host, without redirects, limited in size and time."""

from __future__ import annotations

import http.client
import json
import ssl
from socket import create_connection
from socket import socket as Socket
from typing import Any

from i2cansay.service.errors import ServiceError, not_found, too_large
from i2cansay.service.label_studio.deadline import Deadline
from i2cansay.service.label_studio.origin import Origin

CONNECT_SECONDS = 5.0
PIECE = 2**16


class NoConnection(ServiceError):
    """Label Studio does not answer us, whatever we ask for."""

    def __init__(self, why: str) -> None:
        super().__init__(502, "label_studio", f"Label Studio {why}", retry_after=10.0)


def unreachable(why: str) -> ServiceError:
    """Label Studio did not answer as expected; it may answer another question."""
    return ServiceError(502, "label_studio", f"Label Studio {why}", retry_after=10.0)


def ask(
    origin: Origin,
    path: str,
    *,
    headers: dict[str, str],
    most: int,
    seconds: float,
    body: dict[str, Any] | None = None,
) -> bytes:
    """Return the body of an answer of Label Studio of at most `most` bytes, within `seconds`.

    A redirect is an error: where it leads is not ours to fetch. What an answer says is never part of an error, since
    that would show it to whoever named the path. It is a `NoConnection` where other paths would fare no better.
    """
    deadline = Deadline(seconds)
    connection = _connection(origin)
    try:
        data = None if body is None else json.dumps(body).encode()
        sent = {"accept-encoding": "identity", "connection": "close", "user-agent": "i2cansay", **headers}
        if data is not None:
            sent["content-type"] = "application/json"
        # Ours, since the connection lets go of it before the body is read.
        socket = connection.sock = _connect(origin, min(CONNECT_SECONDS, seconds))
        with deadline.of(socket):
            _shake_hands(socket, deadline)
            socket.settimeout(deadline.left())
            connection.request("GET" if data is None else "POST", path, data, sent)
            with connection.getresponse() as answer:
                deadline.left()
                _check_status(answer.status)
                return _read(socket, answer, most, deadline)
    except (OSError, http.client.HTTPException) as error:
        if isinstance(error, TimeoutError) or deadline.is_over:
            raise NoConnection(f"did not answer within {seconds:g} seconds") from None
        raise unreachable(f"cannot be asked: {type(error).__name__}") from None
    finally:
        connection.close()


def _connection(origin: Origin) -> http.client.HTTPConnection:
    kind = http.client.HTTPSConnection if origin.scheme == "https" else http.client.HTTPConnection
    return kind(origin.host, origin.port)


def _connect(origin: Origin, seconds: float) -> Socket:
    """Return a socket to Label Studio; that of TLS has not shaken hands yet."""
    try:
        plain = create_connection((origin.host, origin.port), seconds)
    except TimeoutError:
        raise
    except OSError as error:
        raise NoConnection(f"cannot be reached: {type(error).__name__}") from None
    if origin.scheme != "https":
        return plain
    return ssl.create_default_context().wrap_socket(
        plain, server_hostname=origin.host, do_handshake_on_connect=False
    )


def _shake_hands(socket: Socket, deadline: Deadline) -> None:
    if not isinstance(socket, ssl.SSLSocket):
        return
    try:
        socket.do_handshake()
    except TimeoutError:
        raise
    except OSError as error:
        deadline.left()
        raise NoConnection(f"cannot be trusted: {type(error).__name__}") from None


def _check_status(status: int) -> None:
    if 300 <= status < 400:
        raise unreachable("answered with a redirect, which is not followed")
    if status == 401:
        raise NoConnection("refused our token; give the service a valid one")
    if status == 403:
        raise unreachable("refused our token for this; its owner must see the project")
    if status == 404:
        raise not_found("Label Studio does not have what was asked for any more")
    if status != 200:
        raise unreachable(f"answered with {status}")


def _read(socket: Socket, answer: http.client.HTTPResponse, most: int, deadline: Deadline) -> bytes:
    """Read a body piece by piece: a drop of it now and then must not hold us for longer than the deadline."""
    announced = answer.headers.get("content-length", "")
    data = bytearray()
    while True:
        if len(data) > most or (announced.isdecimal() and int(announced[:20]) > most):
            raise too_large(f"Label Studio sent more than {most} bytes for one image or page")
        socket.settimeout(deadline.left())
        piece = answer.read1(PIECE)
        if not piece:
            deadline.left()  # what looks like the end may be its doing
            break
        data += piece
    if announced.isdecimal() and len(data) < int(announced[:20]):
        raise unreachable("sent less than it had announced")
    return bytes(data)


def json_in(data: bytes) -> Any:
    """Return what an answer of Label Studio holds."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise unreachable("answered with something that is not JSON") from None
