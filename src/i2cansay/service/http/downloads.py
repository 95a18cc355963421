"""Copies of models on their way to clients: the memory that all of them take is bounded."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import Response
from fastapi.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send

from i2cansay.service.access.body_limit import Traffic
from i2cansay.service.limits import Limits
from i2cansay.service.model.served_model import ServedModel

COPIES = 3
"""How often a model is in memory while a copy of it is made and sent."""


class Downloads:
    """All downloads of a service; used by its event loop only."""

    def __init__(self, limits: Limits) -> None:
        self._most = limits.download_bytes
        self._traffic = Traffic(self._most)

    async def of(self, model: ServedModel, make: Callable[[], bytes], name: str) -> Response:
        """Return what `make` gives, as a file; raise ServiceError where too much is on its way already."""
        # A model larger than all room can still be sent, alone.
        size = min(COPIES * model.file_bytes(), self._most)
        self._traffic.take(size)
        try:
            data = await run_in_threadpool(make)
        except BaseException:
            self._traffic.give_back(size)
            raise
        return _Download(data, name, lambda: self._traffic.give_back(size))


class _Download(Response):
    """A file to save, and what to do once it was sent or its client has gone."""

    def __init__(self, data: bytes, name: str, ended: Callable[[], None]) -> None:
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        super().__init__(data, media_type="application/octet-stream", headers=headers)
        self._ended = ended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._ended()
