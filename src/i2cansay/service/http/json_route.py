"""Routes with a small JSON body. The framework would read it at any size, and with repeated keys."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from starlette.exceptions import HTTPException

from i2cansay.service.access.permissions import PermittedRoute
from i2cansay.service.errors import ServiceError
from i2cansay.service.http.json_text import read_json

SMALL = 2**16
"""Bytes of a body that has a name, a label or some parameters, and no samples."""


class SmallJson(Request):
    """A request whose body is small JSON."""

    async def body(self) -> bytes:
        """Return the body; refuse it as soon as it is too large."""
        if not hasattr(self, "_body"):
            data = bytearray()
            async for piece in self.stream():
                data += piece
                if len(data) > SMALL:
                    raise HTTPException(413, f"this request may have {SMALL} bytes, got more")
            self._body = bytes(data)
        return self._body

    async def json(self) -> Any:
        """Return the object in the body."""
        try:
            return read_json(await self.body())
        except ServiceError as error:
            # The framework lets only its own kind of error through while it reads a body.
            raise HTTPException(error.status, error.sentence) from error


class JsonRoute(PermittedRoute):
    """A route that reads its declared body, if it has one, as small and strict JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the function that answers a request."""
        handler = super().get_route_handler()
        if self.body_field is None:
            return handler

        async def bounded(request: Request) -> Response:
            return await handler(SmallJson(request.scope, request.receive))

        return bounded
