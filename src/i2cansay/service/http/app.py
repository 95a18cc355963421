"""The ASGI application: routes, access, and errors as sentences."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match
from starlette.types import Scope

import i2cansay
from i2cansay.service.access.middleware import AccessMiddleware, AccessPolicy
from i2cansay.service.access.permissions import ANYONE, PermittedRoute, RoutePermissions
from i2cansay.service.errors import ServiceError, error_content, refused
from i2cansay.service.http.api import REFUSALS
from i2cansay.service.http.bodies import sentence_of
from i2cansay.service.http.direct_routes import DirectRoutes
from i2cansay.service.http.health_routes import add_health_routes
from i2cansay.service.http.json_route import JsonRoute
from i2cansay.service.http.label_studio_routes import add_label_studio_routes
from i2cansay.service.http.lesson_routes import add_lesson_routes
from i2cansay.service.http.model_routes import add_model_routes
from i2cansay.service.http.page_routes import add_page_routes
from i2cansay.service.http.quality_routes import add_quality_routes
from i2cansay.service.label_studio.backend import Backend
from i2cansay.service.label_studio.connection import LabelStudio
from i2cansay.service.service import Service

# Paths hold names of models, and the metrics count requests; finding out whether anyone asked for more reads the
# environment several times for every request. Frameworks before 0.163 have none, and take no notice.
NO_TELEMETRY: Any = {"tracing": False, "metrics": False, "logs": False}
CODES = {404: "not_found", 405: "wrong_method", 413: "too_large", 429: "busy"}


def create_app(
    service: Service, policy: AccessPolicy | None = None, label_studio: LabelStudio | None = None
) -> FastAPI:
    """Return the ASGI application of a service; the application closes the service when it ends."""
    backend = Backend(service, label_studio)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(backend.close)
        await run_in_threadpool(service.close)

    app = FastAPI(
        title="i2cansay",
        version=i2cansay.__version__,
        summary="Teach it by example; it keeps learning and keeps no images.",
        openapi_url=None,  # declared below, with its permission
        docs_url=None,  # those pages load scripts from elsewhere
        redoc_url=None,
        telemetry=NO_TELEMETRY,
        lifespan=lifespan,
    )
    v1 = APIRouter(prefix="/v1", responses=REFUSALS, route_class=JsonRoute)
    others = APIRouter(route_class=JsonRoute)
    add_lesson_routes(v1, service)  # first: routes are tried in this order, and these are used most
    add_quality_routes(v1, service)
    add_model_routes(v1, service)
    add_label_studio_routes(v1, backend, service.limits)
    add_health_routes(others, service)
    add_page_routes(others)
    _add_description(others, app)
    app.include_router(v1)
    app.include_router(others)
    routes = [route for route in (*v1.routes, *others.routes) if isinstance(route, PermittedRoute)]
    _add_errors(app, routes)
    app.add_middleware(
        DirectRoutes, routes=routes, on_http_error=lambda request, error: _http_error(request, error, routes)
    )
    app.add_middleware(
        AccessMiddleware,
        policy=policy or AccessPolicy(),
        permissions=RoutePermissions(routes),
        tokens=service.tokens,
        limits=service.limits,
        metrics=service.metrics,
    )
    return app


def _add_description(router: APIRouter, app: FastAPI) -> None:
    @router.get("/v1/openapi.json", dependencies=[ANYONE], include_in_schema=False)
    async def openapi() -> Response:
        return JSONResponse(app.openapi())


def _add_errors(app: FastAPI, routes: Sequence[BaseRoute]) -> None:
    @app.exception_handler(ServiceError)
    async def on_service_error(_: Request, error: ServiceError) -> Response:
        return _answer(error)

    @app.exception_handler(RequestValidationError)
    async def on_invalid(_: Request, error: RequestValidationError) -> Response:
        return _answer(refused(sentence_of(error.errors()[0])))

    @app.exception_handler(HTTPException)
    async def on_http_error(request: Request, error: HTTPException) -> Response:
        return await _http_error(request, error, routes)


def _answer(error: ServiceError) -> Response:
    content, headers = error_content(error)
    return JSONResponse(content, error.status, headers=headers)


async def _http_error(request: Request, error: HTTPException, routes: Sequence[BaseRoute]) -> Response:
    headers = dict(error.headers or {})
    sentence = str(error.detail)
    if error.status_code == 405:
        headers = {"allow": ", ".join(_methods(routes, request.scope))}
        if request.method == "OPTIONS":
            return Response(status_code=204, headers=headers)
        sentence = f"this address takes {headers['allow']}, not {request.method[:20]}"
    elif error.status_code == 404:
        sentence = "there is nothing at this address; /v1/openapi.json lists what there is"
    code = CODES.get(error.status_code, "refused")
    response = _answer(ServiceError(error.status_code, code, sentence))
    response.headers.update(headers)
    return response


def _methods(routes: Sequence[BaseRoute], scope: Scope) -> list[str]:
    """Return the methods of an address. Each is a route of its own, and the framework names only the first."""
    methods = {"OPTIONS"}
    for route in routes:
        if route.matches(scope)[0] is not Match.NONE:
            methods |= getattr(route, "methods", None) or set()
    return sorted(methods | ({"HEAD"} if "GET" in methods else set()))
