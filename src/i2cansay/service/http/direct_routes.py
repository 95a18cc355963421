"""Routes that are called directly: for one sample the framework's own way takes longer than the prediction."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from fastapi import Request, Response
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from i2cansay.service.access.permissions import PermittedRoute

Endpoint = TypeVar("Endpoint", bound=Callable[..., Awaitable[Response]])


def direct(endpoint: Endpoint) -> Endpoint:
    """Mark a function of a route that is called directly, with the parts of its path and the request.

    Everything else it reads from the request. The framework describes the route as any other, but does not run it.

    Examples
    --------
    >>> @direct
    ... async def learn(name: str, request: Request, key: str) -> Response: ...
    Traceback (most recent call last):
    TypeError: learn is called with parts of its path and the request; it takes key too
    """
    for name, parameter in inspect.signature(endpoint).parameters.items():
        if name not in ("name", "id", "request") or parameter.default is not parameter.empty:
            raise TypeError(
                f"{endpoint.__name__} is called with parts of its path and the request; it takes {name} too"
            )
    endpoint.direct = True  # type: ignore[attr-defined]
    return endpoint


class DirectRoutes:
    """ASGI middleware that answers the routes marked with `direct` and leaves the others to the application.

    It stands behind `AccessMiddleware`, which has checked the permission of the route and answers a `ServiceError`.

    Parameters
    ----------
    app : ASGI application
    routes : sequence of routes
        Of the whole application; those that are not marked are left alone.
    on_http_error : callable
        Turns the framework's own error, which a body that is too large or too late raises, into an answer.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        routes: Sequence[PermittedRoute],
        on_http_error: Callable[[Request, HTTPException], Awaitable[Response]],
    ) -> None:
        self._app = app
        self._routes = [route for route in routes if getattr(route.endpoint, "direct", False)]
        self._on_http_error = on_http_error

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        found = self._find(scope)
        if found is None:
            await self._app(scope, receive, send)
            return
        route, parts = found
        scope["route"] = route  # its pattern is the label of the metrics
        request = Request(scope, receive, send)
        try:
            response = await route.endpoint(**parts, request=request)
        except HTTPException as error:
            response = await self._on_http_error(request, error)
        await response(scope, receive, send)

    def _find(self, scope: Scope) -> tuple[PermittedRoute, dict[str, Any]] | None:
        if scope["type"] != "http":
            return None
        for route in self._routes:
            if scope["method"] in (route.methods or ()) and (match := route.path_regex.match(scope["path"])):
                return route, match.groupdict()
        return None
