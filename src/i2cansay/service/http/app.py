"""The application: routes, errors as sentences, the page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match
from starlette.types import Scope

import i2cansay
from i2cansay.service.access.middleware import AccessMiddleware, AccessPolicy
from i2cansay.service.errors import ServiceError, error_content, refused
from i2cansay.service.http.api import REFUSALS
from i2cansay.service.http.bodies import sentence_of
from i2cansay.service.http.json_route import JsonRoute
from i2cansay.service.http.lesson_routes import add_lesson_routes
from i2cansay.service.http.model_routes import add_model_routes
from i2cansay.service.http.schemas import Health
from i2cansay.service.service import Service

PAGE = Path(__file__).parents[1] / "page"
FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    **{
        f"/{name}": (name, kind)
        for name, kind in {
            "page.css": "text/css; charset=utf-8",
            "page.js": "text/javascript; charset=utf-8",
            "api.js": "text/javascript; charset=utf-8",
            "chart.js": "text/javascript; charset=utf-8",
            "icon.svg": "image/svg+xml",
        }.items()
    },
}
CODES = {404: "not_found", 405: "wrong_method", 413: "too_large", 429: "busy"}


def create_app(service: Service, policy: AccessPolicy | None = None) -> FastAPI:
    """Return the ASGI application of a service, which it closes when it ends."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(service.close)

    app = FastAPI(
        title="i2cansay",
        version=i2cansay.__version__,
        summary="Teach it by example; it keeps learning and keeps no images.",
        openapi_url="/v1/openapi.json",
        docs_url=None,  # those pages load scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
    )
    router = APIRouter(prefix="/v1", responses=REFUSALS, route_class=JsonRoute)
    add_lesson_routes(
        router, service
    )  # first, because paths are tried in this order and these are asked most
    add_model_routes(router, service)
    app.include_router(router)
    _add_health(app, service)
    _add_errors(app, router)
    for path, (name, kind) in FILES.items():
        app.add_api_route(path, _file(name, kind), include_in_schema=False, methods=["GET", "HEAD"])
    app.add_middleware(AccessMiddleware, service=service, policy=policy or AccessPolicy())
    return app


def _file(name: str, kind: str) -> Any:
    async def answer() -> Response:
        return FileResponse(PAGE / name, media_type=kind, headers={"cache-control": "no-cache"})

    return answer


def _add_health(app: FastAPI, service: Service) -> None:
    @app.get("/healthz", response_model=Health)
    async def healthz() -> Response:
        """Say that the process is alive."""
        return JSONResponse({"status": "alive", "damaged": []})

    @app.get("/readyz", response_model=Health, responses={503: {"model": Health}})
    async def readyz() -> Response:
        """Say whether requests are welcome, and which models could not be opened."""
        status = "stopping" if service.stopping else "ready"
        answer = {"status": status, "damaged": sorted(service.damaged)}
        return JSONResponse(answer, 503 if service.stopping else 200)

    @app.get("/metrics", response_class=PlainTextResponse)
    async def metrics() -> Response:
        """Give counters and times to Prometheus."""
        text = service.metrics.text(service.gauges())
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4; charset=utf-8")


def _add_errors(app: FastAPI, router: APIRouter) -> None:
    def answer(error: ServiceError) -> Response:
        content, headers = error_content(error)
        return JSONResponse(content, error.status, headers=headers)

    @app.exception_handler(ServiceError)
    async def on_service_error(_: Request, error: ServiceError) -> Response:
        return answer(error)

    @app.exception_handler(RequestValidationError)
    async def on_invalid(_: Request, error: RequestValidationError) -> Response:
        return answer(refused(sentence_of(error.errors()[0])))

    @app.exception_handler(HTTPException)
    async def on_http_error(request: Request, error: HTTPException) -> Response:
        headers = dict(error.headers or {})
        sentence = str(error.detail)
        if error.status_code == 405:
            headers = {"allow": ", ".join(_methods([*router.routes, *app.routes], request.scope))}
            if request.method == "OPTIONS":
                return Response(status_code=204, headers=headers)
            sentence = f"this address takes {headers['allow']}, not {request.method[:20]}"
        elif error.status_code == 404:
            sentence = "there is nothing at this address; /v1/openapi.json lists what there is"
        code = CODES.get(error.status_code, "refused")
        response = answer(ServiceError(error.status_code, code, sentence))
        response.headers.update(headers)
        return response


def _methods(routes: list[BaseRoute], scope: Scope) -> list[str]:
    """Return what an address takes; each method is a route of its own, and the framework names only the first."""
    methods = {"OPTIONS"}
    for route in routes:
        if route.matches(scope)[0] is not Match.NONE:
            methods |= getattr(route, "methods", None) or set()
    return sorted(methods | ({"HEAD"} if "GET" in methods else set()))
