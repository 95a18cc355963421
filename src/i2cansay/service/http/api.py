"""What the routes share: how refusals and bodies are described, how long is waited."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import Annotated, Any, TypeVar

from fastapi import Header, Request
from starlette.requests import ClientDisconnect

from i2cansay.service.errors import ServiceError
from i2cansay.service.http.schemas import EXAMPLE_IMAGE, ErrorAnswer, LearnBody, PredictBody

Result = TypeVar("Result")
REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorAnswer, "description": description}
    for status, description in {
        400: "Not HTTP as it should be.",
        401: "No valid token.",
        403: "The token, or the site, may not do this.",
        404: "What is named is not there.",
        408: "Did not arrive in time.",
        409: "Not in the state the model is in.",
        413: "More than the limits allow.",
        422: "The request makes no sense as it is.",
        429: "Busy, or too often: see Retry-After.",
        500: "An error of the service; its log says more.",
        503: "Stopping, damaged, or not in time.",
        507: "The disk did not take it; nothing was changed.",
    }.items()
}
IMAGES: dict[str, Any] = {
    "type": "array",
    "items": {"type": "string", "format": "binary"},
    "minItems": 1,
}
LEARN_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "images": IMAGES,
        "labels": {
            "type": "array",
            "items": {"type": "string", "minLength": 1},
            "minItems": 1,
            "description": "One per image.",
        },
        "label": {"type": "string", "minLength": 1, "description": "One for all images."},
    },
    "required": ["images"],
}
PREDICT_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"images": IMAGES, "top": {"type": "integer", "minimum": 1, "maximum": 1000}},
    "required": ["images"],
}
BYTES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
}
PACKED = {"features_base64": ["width"]}
Key = Annotated[
    str | None,
    Header(alias="Idempotency-Key", max_length=200, description="A retry with the same key counts once."),
]


def body_of(
    kind: type[LearnBody] | type[PredictBody], form: dict[str, Any], rest: dict[str, Any]
) -> dict[str, Any]:
    """Describe a body that is read by hand, JSON or a form, with examples: samples and the `rest` of it."""
    schema = kind.model_json_schema(ref_template="#/components/schemas/{model}")
    schema["allOf"] = [_one_of("images", "features", "features_base64"), {"dependentRequired": PACKED}]
    if kind is LearnBody:
        schema["allOf"].append(_one_of("labels", "label"))
    examples = {
        "images": {"value": {"images": [EXAMPLE_IMAGE], **rest}},
        "features": {"value": {"features": [[0.1, 0.9]], **rest}},
        "packed features": {"value": {"features_base64": "zczMPWZmZj8=", "width": 2, **rest}},
    }
    content = {
        "application/json": {"schema": schema, "examples": examples},
        "multipart/form-data": {"schema": form},
    }
    return {"requestBody": {"required": True, "content": content}}


def _one_of(*names: str) -> dict[str, Any]:
    """Describe that one of some fields is given, and not null."""
    given = [{"required": [name], "properties": {name: {"not": {"type": "null"}}}} for name in names]
    return {"oneOf": given}


async def wait(future: Future[Result], seconds: float, request: Request | None = None) -> Result:
    """Return what a queue answers, or give up in time; with a `request`, also when its client goes away.

    What is given up is cancelled: a queue does not begin it, or does not go on with it.
    """
    answer = asyncio.wrap_future(future)
    gone = None if request is None else asyncio.ensure_future(_disconnect(request))
    waited: list[asyncio.Future[Any]] = [answer] if gone is None else [answer, gone]
    try:
        await asyncio.wait(waited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if answer.done():
            return answer.result()
        if gone is not None and gone.done():
            raise ClientDisconnect
        sentence = f"no answer within {seconds:g} seconds; repeat a lesson with the same Idempotency-Key"
        raise ServiceError(503, "timeout", sentence, retry_after=5.0)
    finally:
        for each in waited:
            each.cancel()


async def _disconnect(request: Request) -> None:
    """Return when the client has gone; its body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
