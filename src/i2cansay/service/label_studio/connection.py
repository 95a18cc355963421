"""Label Studio as it is reached from here: its address, our token, and what is asked of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from i2cansay.service.errors import ServiceError
from i2cansay.service.label_studio.fetching import NoConnection, ask, json_in, unreachable
from i2cansay.service.label_studio.labelling import Labelling
from i2cansay.service.label_studio.origin import Origin
from i2cansay.service.limits import MEGABYTE, Limits

PAGE_TASKS = 50
"""Tasks that are asked for at once."""
PAGE_BYTES = 4 * MEGABYTE
ACCESS_SECONDS = 120.0
"""How long an access token is used. Label Studio gives it five minutes."""


@dataclass
class LabelStudio:
    """A Label Studio.

    Attributes
    ----------
    origin : Origin
    token : str
        Of somebody in Label Studio who can see the projects: a personal access token, or a legacy token of 40
        digits. It is sent to `origin` and to nobody else; it is not in the `repr`.
    limits : Limits
    """

    origin: Origin
    token: str = field(repr=False)
    limits: Limits = field(default_factory=Limits, repr=False)
    _access: tuple[str, float] = field(default=("", 0.0), repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def image(self, reference: object) -> bytes:
        """Return the bytes of the image that a task names; raise ServiceError where they are not at Label Studio."""
        path = self.origin.path_of(reference)
        return self._ask(path, self.limits.label_studio_bytes)

    def task(self, number: int) -> dict[str, Any]:
        """Return a task."""
        return self._object(f"/api/tasks/{number:d}/")

    def has(self, annotation: int) -> bool:
        """Tell whether there is an annotation of this id."""
        try:
            self._object(f"/api/annotations/{annotation:d}/")
        except ServiceError as error:
            if error.status != 404:
                raise
            return False
        return True

    def labelling(self, project: int) -> Labelling:
        """Return the labelling configuration of a project."""
        return Labelling.parse(self._object(f"/api/projects/{project:d}/").get("label_config"))

    def tasks(self, project: int) -> Iterator[dict[str, Any]]:
        """Yield the tasks of a project with their annotations, page by page."""
        page, seen = 1, 0
        while True:
            query = f"project={project:d}&page={page}&page_size={PAGE_TASKS}&fields=all"
            answer = self._object(f"/api/tasks/?{query}")
            found = answer.get("tasks")
            if not isinstance(found, list) or not found:
                return
            yield from (task for task in found if isinstance(task, dict))
            seen += len(found)
            if not isinstance(answer.get("total"), int) or seen >= answer["total"]:
                return
            page += 1

    def _object(self, path: str) -> dict[str, Any]:
        found = json_in(self._ask(self.origin.base + path, PAGE_BYTES))
        if not isinstance(found, dict):
            raise unreachable("answered with something else than was asked for")
        return found

    def _ask(self, path: str, most: int) -> bytes:
        seconds = self.limits.label_studio_seconds
        headers = {"authorization": self._authorization()}
        return ask(self.origin, path, headers=headers, most=most, seconds=seconds)

    def _authorization(self) -> str:
        """Return the header for a legacy token, or for an access token that a personal one gives."""
        if self.token.count(".") != 2:
            return f"Token {self.token}"
        with self._lock:
            access, until = self._access
            if time.monotonic() >= until:
                access, until = self._new_access(), time.monotonic() + ACCESS_SECONDS
                self._access = access, until
        return f"Bearer {access}"

    def _new_access(self) -> str:
        path = f"{self.origin.base}/api/token/refresh/"
        seconds = self.limits.label_studio_seconds
        try:
            answer = ask(
                self.origin,
                path,
                headers={},
                most=PAGE_BYTES,
                seconds=seconds,
                body={"refresh": self.token},
            )
        except ServiceError as error:
            if error.status == 404:
                raise NoConnection(
                    "takes no personal access tokens; give the service a legacy token"
                ) from error
            raise NoConnection(f"gave no access token: {error.sentence}") from error
        access = json_in(answer)
        if not isinstance(access, dict) or not isinstance(access.get("access"), str):
            raise NoConnection("answered with something else than an access token")
        return str(access["access"])
