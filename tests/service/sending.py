"""Requests as they go over the wire, for tests that do not use the client."""

from __future__ import annotations

import http.client
import io
import json
from typing import Any
from urllib.parse import urlsplit

from tests.service.running import Running


def send(
    running: Running, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
) -> tuple[int, dict[str, str], Any]:
    """Send a request as it stands; return status, headers and content."""
    parts = urlsplit(running.client.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    kind = answer.headers.get_content_type()
    return (
        answer.status,
        dict(answer.headers),
        json.loads(data) if data and kind == "application/json" else data,
    )


def form(files: list[tuple[str, str, bytes]], fields: dict[str, str]) -> tuple[bytes, str]:
    """Return a multipart body and its content type."""
    body = io.BytesIO()
    for name, value in fields.items():
        body.write(f'--cut\r\ncontent-disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode())
    for name, file, data in files:
        head = f'--cut\r\ncontent-disposition: form-data; name="{name}"; filename="{file}"\r\n\r\n'
        body.write(head.encode() + data + b"\r\n")
    body.write(b"--cut--\r\n")
    return body.getvalue(), "multipart/form-data; boundary=cut"
