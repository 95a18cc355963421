"""A server that passes requests on and remembers them, to record what Label Studio and the service say."""

from __future__ import annotations

import base64
import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

OUTCOME = ("outcome", "durable", "why")
"""What the service answers about an annotation."""
KEPT = {
    "project": ("id", "title", "label_config"),
    "task": ("id", "data", "project", "annotations"),
    "annotation": ("id", "task", "project", "result", "was_cancelled", "created_at", "updated_at", *OUTCOME),
}
"""Of what Label Studio tells of each, the rest is nobody's business and long."""
SECRET = {"access_token", "hostname", "params", "refresh", "access"}


@contextmanager
def recording(to: str, port: int, exchange: list[dict[str, Any]]) -> Iterator[str]:
    """Pass requests on to a port of this machine and note them in `exchange`, as sent to `to`; give the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {
                name: value
                for name, value in self.headers.items()
                if name.lower() not in ("host", "connection")
            }
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
            try:
                connection.request(self.command, self.path, body or None, headers)
                with connection.getresponse() as answer:
                    data, status = answer.read(), answer.status
            except OSError:
                data, status = b"{}", 502  # nobody is there
            finally:
                connection.close()
            entry = {"to": to, "method": self.command, "path": self.path, "body": trimmed(readable(body))}
            exchange.append({**entry, "status": status, "answer": trimmed(readable(data))})
            self.send_response(status)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def readable(data: bytes) -> Any:
    """Return JSON as what it means, and other bytes as base64."""
    if not data:
        return None
    try:
        return json.loads(data)
    except ValueError:
        return {"base64": base64.b64encode(data).decode()}


def trimmed(found: Any, kind: str = "") -> Any:
    """Return what was said without secrets and without what nobody reads."""
    if isinstance(found, list):
        return [trimmed(each, kind) for each in found]
    if not isinstance(found, dict):
        return found
    if not kind and "label_config" in found and "title" in found:
        kind = "project"
    if not kind and "data" in found:
        kind = "task"
    return {
        name: trimmed(value, name.removesuffix("s") if name.removesuffix("s") in KEPT else "")
        for name, value in found.items()
        if name not in SECRET and (kind not in KEPT or name in KEPT[kind])
    }
