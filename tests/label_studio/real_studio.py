"""A Label Studio that was installed from the package index, started on loopback."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.service.running import free_port
from tests.service.sending import form

START_SECONDS = 1800
USER = "annotator@example.com"
CONFIG = (
    '<View><Image name="image" value="$image"/><Choices name="choice" toName="image" choice="single">'
    '<Choice value="red"/><Choice value="blue"/></Choices></View>'
)


@dataclass(frozen=True)
class RealStudio:
    """A running Label Studio and the legacy token of its one user."""

    port: int
    token: str
    log: Path

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def call(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Any:
        """Send a request to its API; return the content of the answer."""
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        headers = {"authorization": f"Token {self.token}", "content-type": kind}
        request = urllib.request.Request(self.address + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                content = answer.read()
        except urllib.error.HTTPError as error:
            with error:
                raise AssertionError(f"{method} {path}: {error.code} {error.read()[:500]!r}") from None
        return json.loads(content) if content[:1] in (b"{", b"[") else None

    def personal_token(self) -> str:
        """Return a personal access token, made as a person does on the account page; there can be one at a time."""
        kept = self.log.with_name("personal-token")
        if not kept.exists():
            kept.write_text(str(self.call("POST", "/api/token/", {})["token"]))
        return kept.read_text()

    def project(self, title: str) -> int:
        """Make a project in which people say what colour an image has."""
        made = self.call("POST", "/api/projects/", {"title": title, "label_config": CONFIG})
        return int(made["id"])

    def upload(self, project: int, images: dict[str, bytes]) -> None:
        """Import images as files."""
        body, kind = form([(f"file-{name}", name, data) for name, data in images.items()], {})
        self.call("POST", f"/api/projects/{project}/import", body, kind)

    def tasks(self, project: int) -> list[dict[str, Any]]:
        """Return the tasks of a project in the order of their ids."""
        found = self.call("GET", f"/api/tasks/?project={project}&fields=all&page_size=100")["tasks"]
        return sorted(found, key=lambda task: int(task["id"]))

    def connect(self, project: int, address: str, secret: str) -> int:
        """Add an ML back end as its settings do, and give the webhook that comes with it the same secret."""
        login = {"auth_method": "BASIC_AUTH", "basic_auth_user": "i2cansay", "basic_auth_pass": secret}
        body = {"project": project, "url": address, "title": "i2cansay", **login}
        made = self.call("POST", "/api/ml/", body)
        assert made["readable_state"] == "Connected"
        (hook,) = self.call("GET", f"/api/webhooks/?project={project}")
        assert hook["url"] == f"{address}/webhook"
        self.call("PATCH", f"/api/webhooks/{hook['id']}/", {"headers": {"Authorization": f"Bearer {secret}"}})
        return int(made["id"])

    def annotate(self, task: int, *labels: str, skip: bool = False) -> int:
        """Annotate a task, as the editor does; return the id of the annotation."""
        body = {"result": result_of(*labels), "was_cancelled": skip}
        return int(self.call("POST", f"/api/tasks/{task}/annotations/", body)["id"])

    def change(self, annotation: int, *labels: str) -> None:
        self.call("PATCH", f"/api/annotations/{annotation}/", {"result": result_of(*labels)})

    def delete(self, annotation: int) -> None:
        self.call("DELETE", f"/api/annotations/{annotation}/")

    def ask_for_predictions(self, project: int) -> None:
        """Do what "Retrieve Predictions" does for all tasks."""
        chosen = {"selectedItems": {"all": True, "excluded": []}}
        self.call("POST", f"/api/dm/actions/?id=retrieve_tasks_predictions&project={project}", chosen)


def result_of(*labels: str) -> list[dict[str, Any]]:
    if not labels:
        return []
    value = {"choices": list(labels)}
    return [{"from_name": "choice", "to_name": "image", "type": "choices", "value": value}]


@contextmanager
def started(program: Path) -> Iterator[RealStudio]:
    """Start a Label Studio whose data are beside its environment: its first start makes the tables and is slow."""
    data = program.resolve().parents[1] / "label-studio-data"
    data.mkdir(exist_ok=True)
    secret = data / "test-token"
    if not secret.exists():
        secret.write_text(secrets.token_hex(20))
    studio = RealStudio(free_port(), secret.read_text(), data / "label-studio.log")
    settings = {
        "LABEL_STUDIO_BASE_DATA_DIR": str(data),
        # It refuses loopback as the address of a back end and of a webhook unless it is told otherwise.
        "ML_BLOCK_LOCAL_IP": "false",
        "SSRF_PROTECTION_ENABLED": "false",
        "WEBHOOK_TIMEOUT": "30",
        "COLLECT_ANALYTICS": "false",
        "LATEST_VERSION_CHECK": "false",
        "SENTRY_DSN": "",
        "FRONTEND_SENTRY_DSN": "",
    }
    command = [
        *(str(program), "start", "--no-browser", "--internal-host", "127.0.0.1", "--port", str(studio.port)),
        *("--username", USER, "--password", secrets.token_hex(8), "--user-token", studio.token),
        "--enable-legacy-api-token",
    ]
    with studio.log.open("w") as log:
        process = subprocess.Popen(command, env={**os.environ, **settings}, stdout=log, stderr=log)
    try:
        _wait(studio, process)
        yield studio
    finally:
        process.terminate()
        process.wait(timeout=60)


def _wait(studio: RealStudio, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        assert process.poll() is None, f"Label Studio has ended; see {studio.log}"
        try:
            studio.call("GET", "/api/version")
            return
        except OSError:
            time.sleep(1)
    raise AssertionError(f"Label Studio did not start within {START_SECONDS} seconds; see {studio.log}")
