"""Routes for monitoring: is the service alive, is it ready, how much does it do?"""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST

from i2cansay.service.access.permissions import ANYONE, needs
from i2cansay.service.http.schemas import Health
from i2cansay.service.service import Service


def add_health_routes(router: APIRouter, service: Service) -> None:
    """Add the routes."""

    @router.get("/healthz", dependencies=[ANYONE], response_model=Health)
    async def healthz() -> Response:
        """Say that the process is alive."""
        return JSONResponse({"status": "alive", "damaged": []})

    @router.get("/readyz", dependencies=[ANYONE], response_model=Health, responses={503: {"model": Health}})
    async def readyz() -> Response:
        """Say whether the service takes requests, and which models cannot be opened."""
        status = "stopping" if service.stopping else "ready"
        answer = {"status": status, "damaged": sorted(service.damaged)}
        return JSONResponse(answer, 503 if service.stopping else 200)

    @router.get("/metrics", dependencies=[needs("predict")], response_class=PlainTextResponse)
    async def metrics() -> Response:
        """Return the metrics for Prometheus."""
        return Response(service.metrics.text(), media_type=CONTENT_TYPE_LATEST)
