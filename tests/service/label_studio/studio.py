"""A stand-in for Label Studio: it answers what a test tells it to, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from i2cansay.service.label_studio.connection import LabelStudio
from i2cansay.service.label_studio.origin import Origin
from i2cansay.service.limits import Limits

TOKEN = "0123456789abcdef0123456789abcdef01234567"
CONFIG = (
    '<View><Image name="image" value="$image"/><Choices name="choice" toName="image">'
    '<Choice value="red"/><Choice value="green"/><Choice value="blue"/></Choices></View>'
)


@dataclass
class Asked:
    """A request that came in."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Studio:
    """A server on loopback.

    Attributes
    ----------
    answers : dict
        From paths to a status with a body, or with headers and a body; what is not there is answered with 404.
    asked : list of Asked
    pause : float
        Seconds between two bytes of every answer.
    """

    port: int
    answers: dict[str, Any] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    pause: float = 0.0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def paths(self) -> list[str]:
        return [each.path for each in self.asked]

    def connection(self, limits: Limits | None = None, token: str = TOKEN) -> LabelStudio:
        return LabelStudio(Origin.parse(self.address), token, limits or Limits())

    def put(self, path: str, body: bytes | dict[str, Any] | list[Any], status: int = 200) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.answers[path] = status, {}, data

    def redirect(self, path: str, to: str) -> None:
        self.answers[path] = 302, {"location": to, "content-length": "0"}, b""


@contextmanager
def running_studio() -> Iterator[Studio]:
    """Run a stand-in for as long as a test needs it."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("content-length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            studio.asked.append(Asked(self.command, self.path, headers, self.rfile.read(length)))
            status, more, body = studio.answers.get(self.path, (404, {}, b"{}"))
            self.send_response(status)
            for name, value in (more or {"content-length": str(len(body))}).items():
                self.send_header(name, value)
            self.end_headers()
            try:
                for start in range(0, len(body), 1 if studio.pause else len(body) or 1):
                    self.wfile.write(body[start : start + 1] if studio.pause else body)
                    time.sleep(studio.pause)
            except OSError:
                pass  # whoever asked has gone

        do_POST = do_GET

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    studio = Studio(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield studio
    server.shutdown()
    server.server_close()


def result_of(*labels: Any) -> list[dict[str, Any]]:
    """Return the result of an annotation in which these labels were chosen."""
    value = {"choices": list(labels)}
    return [{"from_name": "choice", "to_name": "image", "type": "choices", "value": value}]


def annotation_of(number: int, *labels: Any, at: int = 0, task: int | None = None) -> dict[str, Any]:
    """Return an annotation as Label Studio sends it, changed `at` some second."""
    return {
        "id": number,
        "task": task or number,
        "result": result_of(*labels) if labels else [],
        "was_cancelled": False,
        "updated_at": f"2026-01-01T00:00:{at:02d}.250000Z",
    }


def task_of(number: int) -> dict[str, Any]:
    """Return a task whose image is at Label Studio."""
    return {"id": number, "data": {"image": f"/data/upload/1/{number}.png"}, "project": 1}


def event_of(annotation: dict[str, Any], action: str = "ANNOTATION_CREATED", **more: Any) -> dict[str, Any]:
    """Return an event as a webhook of Label Studio sends it."""
    event = {"action": action, "annotation": annotation, "task": task_of(annotation["task"])}
    return {**event, "project": {"id": 1, "label_config": CONFIG}, **more}
