"""Bodies of packed features (application/octet-stream): a line of JSON, then the rows as bytes.

The line has the fields of a JSON body without the samples, `width` among them, and ends with a line feed. The rest
are rows of little-endian float32, one after the other. Programs in any language can write that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from starlette.requests import Request

from i2cansay.core.types import Float32
from i2cansay.service.errors import ServiceError, refused, too_large
from i2cansay.service.http.json_text import check_size, read_json
from i2cansay.service.limits import Limits

PACKED = "application/octet-stream"
ITEM = np.dtype("<f4")
SHORT = 2**16
"""Bytes of a line that is read as soon as it is there, to refuse rows before they come."""


def is_packed(content_type: str) -> bool:
    """Return whether a body of this type has packed features.

    Examples
    --------
    >>> is_packed("Application/Octet-Stream"), is_packed("application/json")
    (True, False)
    """
    return content_type.partition(";")[0].strip().lower() == PACKED


async def take_packed(request: Request, limits: Limits) -> tuple[bytearray, int]:
    """Return a body and a bound on the number of values in its line; the line has the limits of a JSON body."""
    body, values, end, most = bytearray(), 1, -1, limits.body_bytes
    announced = request.headers.get("content-length", "")
    expected = int(announced[:20]) if announced.isascii() and announced.isdecimal() else 0
    async for piece in request.stream():
        start = len(body)
        body += piece
        if end < 0:
            end = body.find(b"\n", start)
            values += body.count(b",", start, end if end >= 0 else len(body))
            check_size(end if end >= 0 else len(body), values, limits)
            if 0 <= end <= SHORT:
                most = _most_bytes(body[:end], limits)
        if max(len(body), expected) > most:
            what = f"{most} bytes" if most == limits.body_bytes else f"{limits.rows} rows of features"
            raise too_large(f"one request may have {what}; send them in parts")
    return body, values


def _most_bytes(line: bytearray, limits: Limits) -> int:
    """Return how long a body with this line can be; a line that is not valid is refused later, with a sentence."""
    try:
        width = read_json(line).get("width")
    except ServiceError:
        return limits.body_bytes
    if not isinstance(width, int) or not 1 <= width <= limits.width:
        return limits.body_bytes
    return len(line) + 1 + ITEM.itemsize * width * limits.rows


def line_and_rows(body: bytearray) -> tuple[bytearray, bytes]:
    """Return the line of a body, and the bytes of its rows.

    Examples
    --------
    >>> line_and_rows(bytearray(b'{"width": 1}\\n\\x00\\x00\\x80\\x3f'))
    (bytearray(b'{"width": 1}'), b'\\x00\\x00\\x80?')
    """
    end = body.find(b"\n")
    if end < 0:
        raise refused(
            "packed features begin with a line of JSON that has their width and ends with a line feed; "
            "there is no line feed"
        )
    return body[:end], bytes(memoryview(body)[end + 1 :])


def rows_of(data: bytes, width: Any, what: str) -> Float32:
    """Return packed rows, (n, width).

    Examples
    --------
    >>> rows_of(bytes(16), 2, "a body")
    array([[0., 0.],
           [0., 0.]], dtype=float32)
    """
    if width is None or not data or len(data) % (ITEM.itemsize * width):
        raise refused(
            f"{what} needs width, and 4 x width bytes for each row (float32, little-endian); "
            f"got {len(data)} bytes and width {width}"
        )
    # No copy where the machine's own order is this one: nothing writes into rows.
    return np.frombuffer(data, dtype=ITEM).reshape(-1, width).astype(np.float32, copy=False)
