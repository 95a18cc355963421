"""Bodies with samples, taken in whole, and refused while they come where they have too much."""

from __future__ import annotations

from starlette.requests import Request

from i2cansay.service.errors import too_large
from i2cansay.service.limits import Limits


async def take_form(request: Request) -> bytearray:
    """Return the body of a form; how large it may be is checked on the way."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
    return body


async def take_json(request: Request, limits: Limits) -> tuple[bytearray, int]:
    """Return a body in JSON and how many values it has at most: as many as commas, and one."""
    body, values = bytearray(), 1
    announced = request.headers.get("content-length", "")
    if announced.isascii() and announced.isdecimal():
        _check(int(announced[:20]), values, limits)
    async for piece in request.stream():
        body += piece
        values += piece.count(b",")
        _check(len(body), values, limits)
    return body, values


def _check(length: int, values: int, limits: Limits) -> None:
    """Refuse what would cost much to parse; nesting adds no more values than the depth that is allowed."""
    if length > limits.json_bytes:
        raise too_large(
            f"a request in JSON may have {limits.json_bytes} bytes, this one has {length} or more; send images "
            "as a form (multipart/form-data), and features in parts"
        )
    if values > limits.json_values:
        raise too_large(
            f"a request in JSON may have {limits.json_values} values, this one has more; send features as "
            "features_base64, or in parts"
        )
