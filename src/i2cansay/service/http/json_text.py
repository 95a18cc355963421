"""JSON text, read strictly: what it cannot say clearly it may not say."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from i2cansay.service.errors import refused


def read_json(data: bytes | bytearray) -> dict[str, Any]:
    """Return the object that a body holds; ServiceError with a sentence where it holds none.

    A key that comes twice, NaN, whole numbers of thousands of digits, half a surrogate pair and nesting without end
    are refused: readers of JSON differ over them.

    Examples
    --------
    >>> read_json(b'{"label": "rust"}')
    {'label': 'rust'}
    >>> read_json(b'{"label": "rust", "label": "dent"}')
    Traceback (most recent call last):
    i2cansay.service.errors.ServiceError: label: this field comes twice; send it once
    """
    try:
        text = data.decode()
        found = _decoder.decode(text)
        if "\\u" in text:  # a half of a surrogate pair has no bytes, and would fail where it is stored
            json.dumps(found, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise refused(f"the body is not JSON: {error.msg} at character {error.pos}") from None
    except UnicodeError:
        raise refused("the body is not JSON in UTF-8, or has half of a surrogate pair") from None
    except RecursionError:
        raise refused("the body is not JSON as expected: it is nested too deeply") from None
    except ValueError:  # Python's bound on the digits of a whole number
        raise refused("a number in the body has thousands of digits; write it shorter") from None
    if not isinstance(found, dict):
        raise refused(f"expected a JSON object as the body, got {type(found).__name__}")
    return found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise refused(f"{name[:50]}: this field comes twice; send it once")
        found[name] = value
    return found


def _not_finite(name: str) -> NoReturn:
    raise refused(f"numbers must be finite, got {name}, which is not JSON")


# Made once: making it takes longer than reading a body of one sample.
_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_not_finite)
