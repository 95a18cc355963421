"""Permissions: every route states, where it is declared, which token it needs.

The middleware asks for the permission before the body of a request is read, so a route cannot be reached without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from fastapi import Depends, Security
from fastapi.params import Depends as DependsParameter
from fastapi.params import Security as SecurityParameter
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from starlette.routing import Match
from starlette.types import Scope

from i2cansay.service.access.tokens import Scope as TokenScope

PROTECTED = "/v1/"
"""Addresses below this one need a token even if there is nothing at them."""
_bearer = HTTPBearer(
    scheme_name="token",
    description="A token of the scope that is named, or of a higher one: predict < teach < admin. "
    "On loopback no token is needed unless the service was started with --need-token.",
    auto_error=False,  # the middleware refuses; this is for the description
)


def _nothing() -> None:
    """Do nothing: `ANYONE` states a permission and has nothing to run."""


ANYONE: Any = Depends(_nothing)
"""Goes into the `dependencies` of a route that needs no token."""


def needs(scope: TokenScope) -> Any:
    """Return what goes into the `dependencies` of a route that needs a token of `scope`.

    Examples
    --------
    >>> from fastapi import APIRouter
    >>> router = APIRouter(route_class=PermittedRoute)
    >>> @router.get("/models", dependencies=[needs("predict")])
    ... def list_models() -> list[str]:
    ...     return []
    >>> router.routes[0].permission
    'predict'
    """
    if scope not in get_args(TokenScope):
        raise ValueError(f"a scope is one of {', '.join(get_args(TokenScope))}, got {scope!r}")
    return Security(_bearer, scopes=[scope])


class PermittedRoute(APIRoute):
    """A route with a permission: a scope, or None for anyone. A route that states none cannot be declared."""

    def __init__(self, path: str, endpoint: Any, **options: Any) -> None:
        super().__init__(path, endpoint, **options)
        self.permission = _stated(path, self.dependencies)


def _stated(path: str, dependencies: Sequence[DependsParameter]) -> TokenScope | None:
    stated = [each for each in dependencies if each.dependency in (_bearer, _nothing)]
    if len(stated) != 1:
        raise TypeError(
            f"the route {path} must state one permission, got {len(stated)}: "
            'add dependencies=[needs("predict")] with the scope it needs, or [ANYONE]'
        )
    if not isinstance(stated[0], SecurityParameter):
        return None
    scope: TokenScope
    (scope,) = stated[0].scopes  # type: ignore[assignment, misc]
    return scope


class RoutePermissions:
    """The permissions of all routes of an application."""

    def __init__(self, routes: Sequence[PermittedRoute]) -> None:
        self._routes = tuple(routes)

    def needed(self, request: Scope) -> TokenScope | None:
        """Return the scope a request needs, None for anyone.

        A request that no route takes needs `admin` where a token is needed for the address with another method, or
        for the addresses around it. So nobody finds out without a token what there is.
        """
        partly = []
        for route in self._routes:
            match, _ = route.matches(request)
            if match is Match.FULL:
                return route.permission
            if match is Match.PARTIAL:  # the address, with another method
                partly.append(route.permission)
        is_open = (
            all(scope is None for scope in partly) if partly else not request["path"].startswith(PROTECTED)
        )
        return None if is_open else "admin"
