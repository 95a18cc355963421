"""Bodies with samples: parsed in memory into images or features, and their labels."""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from pydantic import ValidationError
from starlette.requests import Request

from i2cansay.core.types import Float32
from i2cansay.service.errors import refused, too_large
from i2cansay.service.http.api import wait
from i2cansay.service.http.form import read_form, take_form
from i2cansay.service.http.json_text import read_json, take_json
from i2cansay.service.http.packed_features import is_packed, line_and_rows, rows_of, take_packed
from i2cansay.service.http.schemas import LearnBody, PredictBody, SamplesBody, TestBody
from i2cansay.service.label_text import check_label
from i2cansay.service.limits import Limits

LARGEST = 1e15
"""Squares of larger features overflow float32; the learners refuse them too."""
LARGE = 100_000
"""A body of more bytes is counted, and parsed in a thread, so that other requests do not wait for it."""
LARGE_PACKED = 1_000_000
"""Packed rows are only checked, which takes half a millisecond for so many bytes; JSON of `LARGE` takes two."""
VALUE_BYTES = 128
"""The most memory a JSON value takes while it is parsed: 2 to 3 Python objects and their places in lists."""
RATES = ("error", "new_error")
"""Of a question."""
Checked = TypeVar("Checked", bound=SamplesBody)
# One large body at a time: parsers hold Python's lock, and two would take twice the memory at no gain.
_parser = ThreadPoolExecutor(1, thread_name_prefix="i2cansay-parser")


@dataclass(frozen=True)
class ParsedBody:
    """Images or features; labels, where they are known; how many classes to name, and the error rates."""

    images: list[bytes] | None
    features: Float32 | None
    labels: tuple[str, ...]
    top: int = 5
    error: float = 0.05
    new_error: float = 0.05

    def __len__(self) -> int:
        return len(self.images) if self.images is not None else len(self.features)  # type: ignore[arg-type]


async def to_learn(request: Request, limits: Limits) -> ParsedBody:
    """Read samples with labels."""
    return await _read(_learning, request, limits)


async def to_predict(request: Request, limits: Limits) -> ParsedBody:
    """Read samples to predict."""
    return await _read(_asking, request, limits)


async def to_test(request: Request, limits: Limits) -> ParsedBody:
    """Read samples with labels that are not to be learnt."""
    return await _read(_testing, request, limits)


async def _read(
    parse: Callable[[bytearray, str, Limits], ParsedBody], request: Request, limits: Limits
) -> ParsedBody:
    kind = request.headers.get("content-type", "")
    if _is_form(kind):
        body, values = await take_form(request), 0
    elif is_packed(kind):
        body, values = await take_packed(request, limits)
    else:
        body, values = await take_json(request, limits)
    if len(body) <= LARGE:
        return parse(body, kind, limits)
    # The parsed samples are at most as large as the body; Python's own objects come on top.
    request.state.body.charge(len(body) + VALUE_BYTES * values)
    if is_packed(kind) and len(body) <= LARGE_PACKED and body.find(b"\n") <= LARGE:
        return parse(body, kind, limits)
    return await wait(_parser.submit(_in_turn, parse, body, kind, limits), limits.seconds)


def _in_turn(
    parse: Callable[[bytearray, str, Limits], ParsedBody], body: bytearray, kind: str, limits: Limits
) -> ParsedBody:
    started = time.perf_counter()
    try:
        return parse(body, kind, limits)
    finally:  # a parser holds Python's lock: after it, others have it for as long
        time.sleep(min(time.perf_counter() - started, limits.seconds / 100))


def _learning(data: bytearray, kind: str, limits: Limits) -> ParsedBody:
    if _is_form(kind):
        return _labelled_form(*_form(data, kind, limits), limits)
    return _labelled(*_written(data, kind, LearnBody, limits), limits)


def _testing(data: bytearray, kind: str, limits: Limits) -> ParsedBody:
    if _is_form(kind):
        files, fields = _form(data, kind, limits)
        error, new_error = (_rate(name, fields.get(name, ["0.05"])[0]) for name in RATES)
        return replace(_labelled_form(files, fields, limits), error=error, new_error=new_error)
    body, rows = _written(data, kind, TestBody, limits)
    return replace(_labelled(body, rows, limits), error=body.error, new_error=body.new_error)


def _labelled_form(files: list[bytes], fields: dict[str, list[Any]], limits: Limits) -> ParsedBody:
    label = fields.get("label", [None])[0]
    body = LearnBody.model_construct(labels=fields.get("labels"), label=label)
    return _parsed(files, None, _labels(body, len(files), limits), limits)


def _labelled(body: LearnBody, rows: bytes | None, limits: Limits) -> ParsedBody:
    images, features = _samples(body, rows)
    n = len(images) if images is not None else len(features)  # type: ignore[arg-type]
    return _parsed(images, features, _labels(body, n, limits), limits)


def _asking(data: bytearray, kind: str, limits: Limits) -> ParsedBody:
    if _is_form(kind):
        files, fields = _form(data, kind, limits)
        top = fields.get("top", ["5"])[0]
        if not top.isascii() or not top.isdecimal() or not 1 <= int(top[:9]) <= 1000:
            raise refused(f"top is a number from 1 to 1000, got {top[:20]!r}")
        error, new_error = (_rate(name, fields.get(name, ["0.05"])[0]) for name in RATES)
        parsed = _parsed(files, None, (), limits)
        return replace(parsed, top=int(top), error=error, new_error=new_error)
    body, rows = _written(data, kind, PredictBody, limits)
    images, features = _samples(body, rows)
    parsed = _parsed(images, features, (), limits)
    return replace(parsed, top=body.top, error=body.error, new_error=body.new_error)


def _rate(name: str, text: str) -> float:
    """Return an error rate of a form; JSON is checked by its schema."""
    try:
        rate = float(text[:40])
    except ValueError:
        rate = 0.0
    if not 0 < rate < 1:
        raise refused(f"{name} is a number above 0 and below 1, got {text[:20]!r}")
    return rate


def _is_form(kind: str) -> bool:
    return kind.lower().startswith("multipart/form-data")


def _form(data: bytearray, kind: str, limits: Limits) -> tuple[list[bytes], dict[str, list[Any]]]:
    # A label for each image, `top` and rates; one more of each, so that the error about too many can name images.
    form = read_form(data, kind, most=2 * (limits.images + 1) + 1 + len(RATES))
    for name, _ in form.files:
        if name not in ("images", "image"):
            raise refused(f"images go into the field images, got {name[:50]!r}")
    fields: dict[str, list[Any]] = {}
    for name, text in form.texts:
        if name not in ("labels", "label", "top", *RATES):
            raise refused(
                f"the form has images, labels, label, top, {' and '.join(RATES)}, got {name[:50]!r}"
            )
        fields.setdefault(name, []).append(text)
    return [data for _, data in form.files], fields


def _written(
    data: bytearray, content_type: str, kind: type[Checked], limits: Limits
) -> tuple[Checked, bytes | None]:
    """Return the fields of a body, and the bytes of its rows where they are packed."""
    if not is_packed(content_type):
        return _json(data, kind, limits), None
    line, rows = line_and_rows(data)
    return _json(line, kind, limits), rows


def _json(data: bytearray, kind: type[Checked], limits: Limits) -> Checked:
    found = read_json(data)
    for name in found:
        if name not in kind.model_fields:
            raise refused(f"{name[:50]}: there is no such field; known are {', '.join(kind.model_fields)}")
    # Counted before they are checked one by one.
    for name, what, most in (
        ("images", "images", limits.images),
        ("features", "rows of features", limits.rows),
    ):
        if isinstance(found.get(name), list):
            _check_count(what, len(found[name]), most)
    try:
        return kind.model_validate(found)
    except ValidationError as error:
        raise refused(sentence_of(error.errors()[0])) from error


def sentence_of(problem: object) -> str:
    """Return the first problem that pydantic found, as a sentence."""
    assert isinstance(problem, dict)
    where = ".".join(str(part) for part in problem.get("loc", ()) if part != "body")
    return f"{where}: {problem['msg']}" if where else str(problem["msg"])


def _samples(body: SamplesBody, rows: bytes | None) -> tuple[list[bytes] | None, Float32 | None]:
    ways = [way for way in (body.images, body.features, body.features_base64) if way is not None]
    if rows is not None:
        if ways:
            raise refused("the line before packed features has no images, features or features_base64")
        return None, rows_of(rows, body.width, "a body of packed features")
    if len(ways) != 1:
        raise refused("expected one of images, features and features_base64")
    if body.images is not None:
        return [_decoded(text, f"image {n}") for n, text in enumerate(body.images, start=1)], None
    if body.features is not None:
        widths = {len(row) for row in body.features}
        if len(widths) != 1 or widths == {0}:
            raise refused(f"the rows of features must have one width above 0, got {sorted(widths)[:5]}")
        with np.errstate(over="ignore"):  # what overflows is refused in a moment
            return None, np.array(body.features, dtype=np.float32)
    data = _decoded(body.features_base64 or "", "features_base64")
    return None, rows_of(data, body.width, "features_base64")


def _decoded(text: str, what: str) -> bytes:
    try:
        return base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, ValueError) as error:
        raise refused(f"{what} is not base64") from error


def _labels(body: LearnBody, n: int, limits: Limits) -> tuple[str, ...]:
    if (body.labels is None) == (body.label is None):
        raise refused("expected labels, one per sample, or label, one for all")
    labels = body.labels if body.labels is not None else [body.label or ""] * n
    if len(labels) != n:
        raise refused(f"expected one label per sample, got {n} samples and {len(labels)} labels")
    checked = {label: check_label(label, limits) for label in dict.fromkeys(labels)}
    return tuple(checked[label] for label in labels)


def _parsed(
    images: list[bytes] | None,
    features: Float32 | None,
    labels: tuple[str, ...],
    limits: Limits,
) -> ParsedBody:
    if images is not None:
        _check_count("images", len(images), limits.images)
    if features is not None:
        _check_count("rows of features", len(features), limits.rows)
        _check_count("columns of features", features.shape[1], limits.width)
        if not (np.abs(features) < LARGEST).all():  # NaN compares false
            raise refused(
                f"features must be finite and below {LARGEST:g}; packed, they are little-endian float32"
            )
    return ParsedBody(images, features, labels)


def _check_count(what: str, got: int, limit: int) -> None:
    if got < 1:
        raise refused(f"expected at least 1 of {what}, got none")
    if got > limit:
        raise too_large(f"one request may have {limit} {what}, got {got}; send them in parts")
