"""Routes for Label Studio: a model as its ML back end, at `/v1/models/NAME/label-studio`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from i2cansay.service.access.permissions import needs
from i2cansay.service.errors import error_content
from i2cansay.service.http.api import wait
from i2cansay.service.http.json_text import read_json, take_json
from i2cansay.service.http.label_studio_schemas import (
    BackendHealth,
    EventAnswer,
    EventBody,
    SetupAnswer,
    SetupBody,
    TaskResults,
    TasksBody,
)
from i2cansay.service.http.schemas import ErrorAnswer
from i2cansay.service.label_studio.backend import Backend
from i2cansay.service.limits import MEGABYTE, Limits

BODY_BYTES = 4 * MEGABYTE
"""Of one request: 500 tasks of 8 kB. They carry no images."""
STUDIO_REFUSALS: dict[int | str, dict[str, Any]] = {
    502: {"model": ErrorAnswer, "description": "Label Studio did not answer, or not as expected."}
}
VALUE_BYTES = 128
"""The most memory a JSON value takes while it is parsed."""
PATIENCE = 95.0
"""How long a request may take. Label Studio waits for 100 seconds."""


def add_label_studio_routes(router: APIRouter, backend: Backend, limits: Limits) -> None:
    """Add the routes."""

    @router.get(
        "/models/{name}/label-studio/health", dependencies=[needs("predict")], response_model=BackendHealth
    )
    async def label_studio_health(name: str) -> Response:
        """Say that the model can work for Label Studio."""
        return JSONResponse(await run_in_threadpool(backend.describe, name))

    @router.post(
        "/models/{name}/label-studio/setup",
        dependencies=[needs("predict")],
        response_model=SetupAnswer,
        openapi_extra=_body(SetupBody),
    )
    async def label_studio_setup(name: str, request: Request) -> Response:
        """Check that a project has one choice about one image."""
        body = await _read(request, limits)
        version = await run_in_threadpool(backend.setup, name, body.get("schema"))
        return JSONResponse({"model_version": version})

    @router.post(
        "/models/{name}/label-studio/predict",
        dependencies=[needs("predict")],
        response_model=TaskResults,
        responses=STUDIO_REFUSALS,
        openapi_extra=_body(TasksBody),
    )
    async def label_studio_predict(name: str, request: Request) -> Response:
        """Predict tasks. Their images are fetched from Label Studio, and from nowhere else."""
        body = await _read(request, limits)
        found = await wait(backend.predict(name, body), PATIENCE, advice="select fewer tasks")
        return JSONResponse({"results": found})

    @router.post(
        "/models/{name}/label-studio/webhook",
        dependencies=[needs("teach")],
        response_model=EventAnswer,
        responses=STUDIO_REFUSALS,
        openapi_extra=_body(EventBody),
    )
    async def label_studio_webhook(name: str, request: Request) -> Response:
        """Learn an annotation, or take back what it said before; the answer comes once that is on the disk.

        START_TRAINING makes the model catch up with all annotations of a project. Where one of several annotations
        fails, the answer is that error, and lists what became of each.
        """
        body = await _read(request, limits)
        learning = backend.learn(name, body, request.state.who)
        outcomes = await wait(learning, PATIENCE, advice="Start Training brings what was missed")
        listed = {"annotations": [each.to_json() for each in outcomes]}
        failed = next((each.error for each in outcomes if each.error is not None), None)
        if failed is None:
            return JSONResponse(listed)
        content, headers = error_content(failed)
        return JSONResponse({**content, **listed}, failed.status, headers=headers)


async def _read(request: Request, limits: Limits) -> dict[str, Any]:
    data, values = await take_json(request, replace(limits, json_bytes=min(limits.json_bytes, BODY_BYTES)))
    request.state.body.charge(VALUE_BYTES * values)
    return await run_in_threadpool(read_json, data)


def _body(kind: type[BaseModel]) -> dict[str, Any]:
    """Describe a JSON body."""
    schema = kind.model_json_schema(ref_template="#/components/schemas/{model}")
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
