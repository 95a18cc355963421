"""Parts that the routes share: descriptions of errors and bodies, and waiting for an answer."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import Any, TypeVar

from fastapi import Request
from starlette.requests import ClientDisconnect

from i2cansay.service.errors import ServiceError, refused
from i2cansay.service.http.answers import Answers
from i2cansay.service.http.packed_features import PACKED
from i2cansay.service.http.schemas import EXAMPLE_IMAGE, ErrorAnswer, LearnBody, PredictBody

Result = TypeVar("Result")
REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorAnswer, "description": description}
    for status, description in {
        400: "Not valid HTTP.",
        401: "No valid token.",
        403: "The token or the site may not do this.",
        404: "The request names something that does not exist.",
        408: "The request did not arrive in time.",
        409: "The request does not fit the present state of the model.",
        413: "The request exceeds a limit.",
        422: "The request is not valid.",
        429: "Busy, or too often: see Retry-After.",
        500: "An error of the service; its log says more.",
        503: "Stopping, damaged, or too slow.",
        507: "The change could not be written; nothing was changed.",
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
RATE: dict[str, Any] = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1, "default": 0.05}
TEST_FORM: dict[str, Any] = {
    **LEARN_FORM,
    "properties": {**LEARN_FORM["properties"], "error": RATE, "new_error": RATE},
}
PREDICT_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "images": IMAGES,
        "top": {"type": "integer", "minimum": 1, "maximum": 1000},
        "error": RATE,
        "new_error": RATE,
    },
    "required": ["images"],
}
BYTES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
}
NEEDED_BESIDE = {"features_base64": ["width"]}
PACKED_BODY: dict[str, Any] = {
    "type": "string",
    "format": "binary",
    "description": "Packed features: a line of JSON, a line feed, then rows of little-endian float32, one after "
    "the other. The line has `width` and the other fields of the JSON body, but no images or features.",
}
KEY_LENGTH = 200
SERIES_LENGTH = 64
KEY: dict[str, Any] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "maxLength": KEY_LENGTH},
    "description": "A retry with the same key counts once.",
}


def key_of(request: Request) -> str:
    """Return the idempotency key of a request, "" without one."""
    key = request.headers.get("idempotency-key", "")
    if len(key) > KEY_LENGTH:
        raise refused(f"an Idempotency-Key has at most {KEY_LENGTH} characters, got {len(key)}")
    return key


SERIES: dict[str, Any] = {
    "name": "series",
    "in": "query",
    "required": False,
    "schema": {"type": "string", "maxLength": SERIES_LENGTH},
    "description": "The same for lessons that are taught together, as parts of a folder.",
}


def series_of(request: Request) -> str:
    """Return the series that a lesson belongs to, "" where it stands alone."""
    series = request.query_params.get("series", "")
    if len(series) > SERIES_LENGTH:
        raise refused(f"a series has at most {SERIES_LENGTH} characters, got {len(series)}")
    return series


def body_of(
    kind: type[LearnBody] | type[PredictBody], form: dict[str, Any], rest: dict[str, Any]
) -> dict[str, Any]:
    """Describe a body of samples, as JSON, as a form or packed, with examples; `rest` are its other fields."""
    schema = kind.model_json_schema(ref_template="#/components/schemas/{model}")
    schema["allOf"] = [_one_of("images", "features", "features_base64"), {"dependentRequired": NEEDED_BESIDE}]
    if issubclass(kind, LearnBody):
        schema["allOf"].append(_one_of("labels", "label"))
    examples = {
        "images": {"value": {"images": [EXAMPLE_IMAGE], **rest}},
        "features": {"value": {"features": [[0.1, 0.9]], **rest}},
        "packed features": {"value": {"features_base64": "zczMPWZmZj8=", "width": 2, **rest}},
    }
    content = {
        "application/json": {"schema": schema, "examples": examples},
        "multipart/form-data": {"schema": form},
        PACKED: {"schema": PACKED_BODY},
    }
    return {"requestBody": {"required": True, "content": content}}


def _one_of(*names: str) -> dict[str, Any]:
    """Describe that exactly one of some fields is given and not null."""
    given = [{"required": [name], "properties": {name: {"not": {"type": "null"}}}} for name in names]
    return {"oneOf": given}


async def wait(
    future: Future[Result],
    seconds: float,
    request: Request | None = None,
    *,
    advice: str = "repeat a lesson with the same Idempotency-Key",
) -> Result:
    """Return the answer of a queue. Give up after `seconds`, or when the client of `request` goes away.

    A future that is given up is cancelled, so the queue does not begin it or does not go on with it.
    """
    answer = Answers.of_this_loop().expect(future)
    overdue = asyncio.get_running_loop().call_later(seconds, _give_up, answer, _Overdue())
    gone = None if request is None else asyncio.ensure_future(_disconnect(request))
    if gone is not None:
        gone.add_done_callback(lambda _: _give_up(answer, ClientDisconnect()))
    try:
        result: Result = await answer
        return result
    except _Overdue:
        sentence = f"no answer within {seconds:g} seconds; {advice}"
        raise ServiceError(503, "timeout", sentence, retry_after=5.0) from None
    finally:
        overdue.cancel()
        future.cancel()
        if gone is not None:
            gone.cancel()


class _Overdue(Exception):
    """There was no answer in time."""


def _give_up(answer: asyncio.Future[Any], why: Exception) -> None:
    if not answer.done():
        answer.set_exception(why)


async def _disconnect(request: Request) -> None:
    """Return when the client has gone; its body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
