"""Routes of models as a whole: list, make, delete, export, import, backup, log."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from i2cansay.service.access.permissions import needs
from i2cansay.service.errors import refused
from i2cansay.service.http.api import BYTES
from i2cansay.service.http.downloads import Downloads
from i2cansay.service.http.schemas import (
    ChoicesAnswer,
    LogAnswer,
    ModelAnswer,
    ModelsAnswer,
    NewModel,
)
from i2cansay.service.model.exchange import export, export_onnx
from i2cansay.service.model.served_model import ServedModel
from i2cansay.service.service import Service

Known = Annotated[
    str | None, Header(alias="If-None-Match", description="The ETag of an answer that the client has.")
]


def add_model_routes(router: APIRouter, service: Service) -> None:
    """Add the routes."""
    downloads = Downloads(service.limits)

    @router.get("/models", dependencies=[needs("predict")], response_model=ModelsAnswer)
    async def list_models() -> Response:
        """List the models, and those that cannot be opened."""
        damaged = [{"name": name, "problem": problem} for name, problem in service.damaged.items()]
        known = sorted(service.models.items())
        return JSONResponse({"models": [describe(model) for _, model in known], "damaged": damaged})

    @router.post("/models", dependencies=[needs("admin")], status_code=201, response_model=ModelAnswer)
    async def create_model(body: NewModel) -> Response:
        """Make a model."""
        options = body.model_dump(exclude={"name"})
        model = await run_in_threadpool(lambda: service.create(body.name, **options))
        return JSONResponse(describe(model), 201)

    @router.get("/choices", dependencies=[needs("predict")], response_model=ChoicesAnswer)
    async def list_choices() -> Response:
        """List what a new model can be, in plain words."""
        return JSONResponse({"choices": [choice._asdict() for choice in service.choices()]})

    @router.get(
        "/models/{name}",
        dependencies=[needs("predict")],
        response_model=ModelAnswer,
        responses={304: {"description": "The revision is the one named in If-None-Match."}},
    )
    async def get_model(name: str, known: Known = None) -> Response:
        """Describe a model; answer 304 if nothing has changed since the answer that If-None-Match names."""
        described = describe(service.model(name))
        headers = {"etag": f'"{described["revision"]}"'}
        if known is not None and names_tag(known, headers["etag"]):
            return Response(status_code=304, headers=headers)
        return JSONResponse(described, headers=headers)

    @router.delete("/models/{name}", dependencies=[needs("admin")], status_code=204)
    async def delete_model(name: str) -> Response:
        """Delete a model and overwrite its file."""
        await run_in_threadpool(service.delete, name)
        return Response(status_code=204)

    @router.get(
        "/models/{name}/export",
        dependencies=[needs("admin")],
        response_class=Response,
        responses=BYTES,
    )
    async def export_model(name: str, format: Literal["i2cs", "onnx"] = "i2cs") -> Response:
        """Download the model, without classes that are in memory only.

        As `i2cs` it is a file for `i2cansay.load` and `import`. As `onnx` it is what the model decides now, with its
        encoder in front: it takes squares of pixels and cannot go on learning.
        """
        model = service.model(name)
        if format == "onnx":
            encoder = None
            if model.facts.encoder is not None:
                encoder = (await run_in_threadpool(service.image_queue, model)).encoder
            return await downloads.of(model, lambda: export_onnx(model.state(), encoder), f"{name}.onnx")
        return await downloads.of(model, lambda: export(model.state()), f"{name}.i2cs")

    @router.post(
        "/models/{name}/import",
        dependencies=[needs("admin")],
        status_code=201,
        response_model=ModelAnswer,
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
            }
        },
    )
    async def import_model(
        name: str, request: Request, min_samples: Annotated[int, Query(ge=2, le=1000)] = 2
    ) -> Response:
        """Make a model from an exported file."""
        data = await request.body()
        if not data:
            raise refused("expected the bytes of a model file, got none")
        model = await run_in_threadpool(service.import_model, name, data, min_samples)
        return JSONResponse(describe(model), 201)

    @router.get(
        "/models/{name}/backup", dependencies=[needs("admin")], response_class=Response, responses=BYTES
    )
    async def backup_model(name: str) -> Response:
        """Download a consistent copy of the model's database, with the audit log, even while it is taught."""
        model = service.model(name)
        return await downloads.of(model, model.backup, f"{name}.sqlite")

    @router.get("/models/{name}/log", dependencies=[needs("admin")], response_model=LogAnswer)
    async def read_log(
        name: str,
        after: Annotated[int, Query(ge=0, le=2**62)] = 0,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> Response:
        """Read the audit log."""
        lines = await run_in_threadpool(service.model(name).log, after, limit)
        return JSONResponse({"log": [{"id": number, **asdict(entry)} for number, entry in lines]})


def names_tag(listed: str, tag: str) -> bool:
    """Tell whether an If-None-Match header names an entity tag.

    Examples
    --------
    >>> names_tag('"a", W/"b"', '"b"'), names_tag("*", '"b"'), names_tag('"a"', '"b"')
    (True, True, False)
    """
    names = [each.strip().removeprefix("W/") for each in listed.split(",")]
    return tag in names or names == ["*"]


def describe(model: ServedModel) -> dict[str, Any]:
    """Return a model as the list shows it."""
    revision = model.revision  # before the rest
    snapshot, facts = model.snapshot, model.facts
    return {
        **asdict(facts),
        "classes": snapshot.n_classes,
        "samples": sum(line.count for line in snapshot.classes),
        "version": snapshot.version,
        "revision": revision,
        "can_undo": model.can_undo,
        "read_only": model.read_only,
    }
