"""Permissions: stated by every route, shown in the description, asked before the body is read."""

from __future__ import annotations

import http.client
from typing import Any
from urllib.parse import urlsplit

import pytest
from fastapi import APIRouter, FastAPI

from i2cansay.service.access.permissions import ANYONE, PermittedRoute, RoutePermissions, needs
from i2cansay.service.http.app import create_app
from i2cansay.service.http.page_routes import page_files
from tests.service.running import Running, Starter

SCOPES = {
    ("GET", "/v1/models"): "predict",
    ("POST", "/v1/models"): "admin",
    ("GET", "/v1/choices"): "predict",
    ("GET", "/v1/models/{name}"): "predict",
    ("DELETE", "/v1/models/{name}"): "admin",
    ("GET", "/v1/models/{name}/export"): "admin",
    ("POST", "/v1/models/{name}/import"): "admin",
    ("GET", "/v1/models/{name}/backup"): "admin",
    ("GET", "/v1/models/{name}/log"): "admin",
    ("POST", "/v1/models/{name}/learn"): "teach",
    ("POST", "/v1/models/{name}/predict"): "predict",
    ("POST", "/v1/models/{name}/undo"): "teach",
    ("GET", "/v1/models/{name}/lessons"): "teach",
    ("POST", "/v1/models/{name}/lessons/{id}/move"): "teach",
    ("GET", "/v1/models/{name}/classes"): "predict",
    ("POST", "/v1/models/{name}/classes/forget"): "teach",
    ("POST", "/v1/models/{name}/classes/rename"): "teach",
    ("GET", "/v1/models/{name}/accuracy"): "predict",
    ("GET", "/v1/models/{name}/confusion"): "predict",
    ("GET", "/v1/models/{name}/map"): "predict",
    ("POST", "/v1/models/{name}/test"): "predict",
    ("GET", "/v1/models/{name}/label-studio/health"): "predict",
    ("POST", "/v1/models/{name}/label-studio/setup"): "predict",
    ("POST", "/v1/models/{name}/label-studio/predict"): "predict",
    ("POST", "/v1/models/{name}/label-studio/webhook"): "teach",
    ("GET", "/metrics"): "predict",
    ("GET", "/healthz"): None,
    ("GET", "/readyz"): None,
    ("GET", "/v1/openapi.json"): None,
    **{("GET", address): None for address in page_files()},
}


def all_routes(routes: Any) -> list[Any]:
    """Return the routes of an application, those of included routers too."""
    found = []
    for route in routes:
        inner = getattr(route, "original_router", None)  # how newer versions of FastAPI include a router
        found += all_routes(inner.routes) if inner is not None else [route]
    return found


def permissions_of(app: FastAPI) -> RoutePermissions:
    """Return what the middleware asks."""
    found: list[Any] = [each for each in app.user_middleware if "permissions" in each.kwargs]
    permissions: RoutePermissions = found[0].kwargs["permissions"]
    return permissions


def test_every_route_states_its_permission(shared: Running) -> None:
    app = create_app(shared.service)
    routes = all_routes(app.routes)
    assert all(isinstance(route, PermittedRoute) for route in routes)
    stated = {(method, route.path): route.permission for route in routes for method in route.methods}
    assert stated == SCOPES
    asked = permissions_of(app)
    assert {
        route: asked.needed({"type": "http", "method": route[0], "path": route[1]}) for route in SCOPES
    } == SCOPES


def test_a_route_without_a_permission_cannot_be_declared() -> None:
    router = APIRouter(route_class=PermittedRoute)
    for dependencies in ([], [ANYONE, needs("admin")], [needs("predict"), needs("admin")]):
        with pytest.raises(TypeError, match="the route /models must state one permission"):
            router.add_api_route("/models", lambda: None, dependencies=dependencies)
    with pytest.raises(ValueError, match="a scope is one of predict, teach, admin"):
        needs("everything")  # type: ignore[arg-type]


def test_the_description_names_the_scope_of_each_route(shared: Running) -> None:
    paths = create_app(shared.service).openapi()["paths"]
    described = {
        (method.upper(), path): content.get("security", [{"token": [None]}])[0]["token"][0]
        for path, methods in paths.items()
        for method, content in methods.items()
    }
    assert described == {route: SCOPES[route] for route in described}
    assert len(described) == 28


@pytest.mark.parametrize(
    ("method", "path", "scope"),
    [
        ("POST", "/v1/models/", "admin"),
        ("POST", "/v1//models", "admin"),
        ("POST", "/v1/models/predict/learn/x/y", "admin"),
        ("POST", "/v1/models/a/b/c/learn", "admin"),
        ("GET", "/v1/models/a/learn", "admin"),  # another method
        ("OPTIONS", "/v1/models", "admin"),
        ("POST", "/metrics", "admin"),
        ("POST", "/v1/openapi.json", None),
        ("POST", "/healthz", None),
        ("GET", "/nowhere", None),
    ],
)
def test_what_no_route_takes_needs_more_rather_than_less(
    shared: Running, method: str, path: str, scope: str | None
) -> None:
    asked = permissions_of(create_app(shared.service))
    assert asked.needed({"type": "http", "method": method, "path": path}) == scope


def test_a_missing_token_is_noticed_before_the_body_is_sent(start: Starter) -> None:
    running = start(need_token=True)
    running.service.tokens.add("reader", "predict")
    parts = urlsplit(running.client.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    connection.putrequest("POST", "/v1/models/numbers/learn")
    connection.putheader("content-length", "1000")
    connection.endheaders(b"only a part")
    assert connection.getresponse().status == 401
    connection.close()


def test_a_head_needs_what_its_get_needs(start: Starter) -> None:
    running = start(need_token=True)
    reader = running.service.tokens.add("reader", "predict")
    headers = {"authorization": f"Bearer {reader}"}
    running.service.create("numbers", encoder=None)
    parts = urlsplit(running.client.url)
    for path, sent, status in (
        ("/v1/models", headers, 200),
        ("/v1/models/numbers/log", headers, 403),
        ("/v1/models", {}, 401),
    ):
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
        connection.request("HEAD", path, headers=sent)
        assert connection.getresponse().status == status
        connection.close()
