"""A small client of the API, with types, on Python's own http.client."""

from __future__ import annotations

import http.client
import json
import secrets
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import numpy as np
from numpy.typing import ArrayLike

from i2cansay.service.model.lesson_list import LessonLine
from i2cansay.service.model.requests import LessonResult, RevisionResult
from i2cansay.service.model.snapshot import ClassLine, ClassProbability, Prediction

ImageSource = bytes | str | PathLike[str]
"""An image: its bytes, or the path of a file."""


class RequestRefused(Exception):
    """The service refused a request.

    Attributes
    ----------
    status : int
    code : str
    retry_after : float or None
        Seconds after which it is worth trying again.
    """

    def __init__(self, status: int, code: str, sentence: str, retry_after: float | None) -> None:
        super().__init__(sentence)
        self.status = status
        self.code = code
        self.retry_after = retry_after


@dataclass(frozen=True)
class Client:
    """The service at an address; one connection per thread, kept open.

    Parameters
    ----------
    url : str
    token : str
        Needed where the service asks for one.
    timeout : float
        Seconds for one try.
    tries : int
        How often a request is sent while the service is busy or cannot be reached. A lesson has an
        idempotency key, so it counts once however often it is sent.

    Examples
    --------
    >>> Client("http://127.0.0.1:8000").model("line-3")
    Model of http://127.0.0.1:8000: line-3
    """

    url: str = "http://127.0.0.1:8000"
    token: str = ""
    timeout: float = 60.0
    tries: int = 5

    def __post_init__(self) -> None:
        object.__setattr__(self, "_own", threading.local())

    # -- models ---------------------------------------------------------------------------------------------

    def models(self) -> list[dict[str, Any]]:
        """List the models."""
        found: list[dict[str, Any]] = self.call("GET", "/v1/models")["models"]
        return found

    def create(self, name: str, **options: Any) -> RemoteModel:
        """Make a model; options are `learner` ("best", "small", "paper" or a name), `parameters`, `encoder` (None:
        features) and `min_samples`.
        """
        self.call("POST", "/v1/models", {"name": name, **options})
        return self.model(name)

    def choices(self) -> list[dict[str, Any]]:
        """Return what a new model can be: `name`, `words`, `encoder`, and whether it is the `usual` one."""
        found: list[dict[str, Any]] = self.call("GET", "/v1/choices")["choices"]
        return found

    def model(self, name: str) -> RemoteModel:
        """Return an existing model."""
        return RemoteModel(self, name)

    def import_model(self, name: str, data: bytes) -> RemoteModel:
        """Make a model from an exported file."""
        self.call("POST", f"/v1/models/{quote(name, safe='')}/import", data)
        return self.model(name)

    # -- requests -------------------------------------------------------------------------------------------

    def call(self, method: str, path: str, body: Any = None, *, headers: dict[str, str] | None = None) -> Any:
        """Send a request, with retries, and return the answer: JSON, or the bytes of a file."""
        for left in reversed(range(self.tries)):
            try:
                return self._once(method, path, body, headers or {})
            except RequestRefused as refusal:
                if refusal.retry_after is None or not left:
                    raise
                time.sleep(min(refusal.retry_after, 5.0))
            except (OSError, http.client.HTTPException):
                if not left:
                    raise
                time.sleep(0.2)
        raise AssertionError("not reached")

    def _once(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Any:
        connection = self._connection()
        raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        kind = "application/octet-stream" if isinstance(body, bytes) else "application/json"
        headers = {"content-type": kind, **headers}
        if self.token:
            headers["authorization"] = f"Bearer {self.token}"
        try:
            connection.request(method, path, raw, headers)
            answer = connection.getresponse()
            data = answer.read()
        except BaseException:
            connection.close()
            raise
        if answer.status >= 400:
            raise _refusal(answer, data)
        is_json = answer.headers.get_content_type() == "application/json"
        return json.loads(data) if is_json else data

    def _connection(self) -> http.client.HTTPConnection:
        own = self.__dict__["_own"]
        if not hasattr(own, "connection"):
            parts = urlsplit(self.url)
            kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
            if parts.scheme not in kinds or not parts.hostname:
                raise ValueError(f"expected an address as http://127.0.0.1:8000, got {self.url!r}")
            own.connection = kinds[parts.scheme](parts.hostname, parts.port, timeout=self.timeout)
        found: http.client.HTTPConnection = own.connection
        return found

    def close(self) -> None:
        """Close this thread's connection."""
        if hasattr(self.__dict__["_own"], "connection"):
            self._connection().close()


@dataclass(frozen=True)
class RemoteModel:
    """A model of a service."""

    client: Client
    name: str

    def __repr__(self) -> str:
        return f"Model of {self.client.url}: {self.name}"

    def _call(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Any:
        return self.client.call(
            method, f"/v1/models/{quote(self.name, safe='')}{path}", body, headers=headers
        )

    def describe(self) -> dict[str, Any]:
        """Return the facts of the model, its number of classes and samples, and its revision."""
        answer: dict[str, Any] = self._call("GET", "")
        return answer

    def learn(
        self,
        labels: Sequence[str] | str,
        *,
        images: Sequence[ImageSource] | None = None,
        features: ArrayLike | None = None,
        key: str | None = None,
    ) -> LessonResult:
        """Teach samples: images, or rows of features (n, d), with a label each or one for all.

        Calls with the same `key` are one lesson and count once. By default every call is a new lesson.
        """
        taught = {"label": labels} if isinstance(labels, str) else {"labels": list(labels)}
        headers = {"idempotency-key": key or secrets.token_hex(16)}
        body, kind = _body(images, features, taught)
        answer = self._call("POST", "/learn", body, {**headers, **kind})
        answer["durable"] = tuple(answer.pop("durable_samples"))
        return LessonResult(**answer)

    def predict(
        self,
        *,
        images: Sequence[ImageSource] | None = None,
        features: ArrayLike | None = None,
        top: int = 5,
        error: float = 0.05,
        new_error: float = 0.05,
    ) -> list[Prediction]:
        """Predict samples; `error` and `new_error` are the rates at which answers are called sure, or new."""
        asked = {"top": top, "error": error, "new_error": new_error}
        answer = self._call("POST", "/predict", *_body(images, features, asked))
        return [
            Prediction(
                **{
                    **each,
                    "set": tuple(each["set"]),
                    "top": tuple(ClassProbability(**guess) for guess in each["top"]),
                }
            )
            for each in answer["predictions"]
        ]

    def test(
        self,
        labels: Sequence[str] | str,
        *,
        images: Sequence[ImageSource] | None = None,
        features: ArrayLike | None = None,
        error: float = 0.05,
        new_error: float = 0.05,
    ) -> dict[str, Any]:
        """Predict samples whose labels are known and compare; nothing is learnt."""
        given: dict[str, Any] = {"label": labels} if isinstance(labels, str) else {"labels": list(labels)}
        asked = {**given, "error": error, "new_error": new_error}
        answer: dict[str, Any] = self._call("POST", "/test", *_body(images, features, asked))
        return answer

    def classes(self) -> list[ClassLine]:
        """List the classes."""
        return [ClassLine(**line) for line in self._call("GET", "/classes")["classes"]]

    def forget(self, label: str) -> RevisionResult:
        """Drop a class."""
        return _done(self._call("POST", "/classes/forget", {"label": label}))

    def rename(self, label: str, new_label: str) -> RevisionResult:
        """Give a class another label."""
        return _done(self._call("POST", "/classes/rename", {"label": label, "new_label": new_label}))

    def undo(self, lesson: LessonResult | LessonLine | str, *, only: str | None = None) -> RevisionResult:
        """Take a lesson back, or `only` what it taught of one class."""
        return _done(self._call("POST", "/undo", {"lesson": _id(lesson), "only": only}))

    def lessons(self) -> list[LessonLine]:
        """List the lessons that can still be taken back or moved, the newest first."""
        return [LessonLine(**line) for line in self._call("GET", "/lessons")["lessons"]]

    def move(
        self, lesson: LessonResult | LessonLine | str, label: str, *, only: str | None = None
    ) -> RevisionResult:
        """Learn the samples of a lesson, or `only` those of one class, under another label."""
        place = f"/lessons/{quote(_id(lesson), safe='')}/move"
        return _done(self._call("POST", place, {"label": label, "only": only}))

    def accuracy(self) -> dict[str, Any]:
        """Return the test-then-train accuracy over time, as counted and smoothed."""
        answer: dict[str, Any] = self._call("GET", "/accuracy")
        return answer

    def confusion(self) -> dict[str, Any]:
        """Return what was predicted for samples of each class just before they were learnt."""
        answer: dict[str, Any] = self._call("GET", "/confusion")
        return answer

    def map(self) -> dict[str, Any]:
        """Return the class means in two dimensions, and the closest classes."""
        answer: dict[str, Any] = self._call("GET", "/map")
        return answer

    def log(self, after: int = 0, limit: int = 100) -> list[dict[str, Any]]:
        """Return lines of the audit log."""
        lines: list[dict[str, Any]] = self._call("GET", f"/log?after={after}&limit={limit}")["log"]
        return lines

    def export(self, format: str = "i2cs") -> bytes:
        """Return the model as a file, or with "onnx" what it decides now."""
        data: bytes = self._call("GET", f"/export?format={format}")
        return data

    def backup(self) -> bytes:
        """Return a copy of the model's database."""
        data: bytes = self._call("GET", "/backup")
        return data

    def delete(self) -> None:
        """Delete the model."""
        self._call("DELETE", "")


def _body(
    images: Sequence[ImageSource] | None, features: ArrayLike | None, rest: dict[str, Any]
) -> tuple[Any, dict[str, str]]:
    """Return samples and the `rest` as a body and its headers: images as a form, features packed behind a line."""
    if (images is None) == (features is None):
        raise ValueError("expected images or features, one of them")
    if images is not None:
        return _form(images, rest)
    rows = np.ascontiguousarray(np.asarray(features), dtype="<f4")
    if rows.ndim != 2:
        raise ValueError(f"expected rows of features, (n, d), got shape {rows.shape}")
    line = json.dumps({"width": rows.shape[1], **rest})
    return line.encode() + b"\n" + rows.tobytes(), {"content-type": "application/octet-stream"}


def _form(images: Sequence[ImageSource], rest: dict[str, Any]) -> tuple[bytes, dict[str, str]]:
    boundary = secrets.token_hex(16)
    parts = [
        (f'"{name}"', str(value).encode())
        for name, values in rest.items()
        for value in (values if isinstance(values, list) else [values])
    ]
    for image in images:
        parts.append(
            ('"images"; filename="x"', image if isinstance(image, bytes) else Path(image).read_bytes())
        )
    head = f"--{boundary}\r\ncontent-disposition: form-data; name="
    body = b"".join(f"{head}{name}\r\n\r\n".encode() + data + b"\r\n" for name, data in parts)
    return body + f"--{boundary}--\r\n".encode(), {
        "content-type": f"multipart/form-data; boundary={boundary}"
    }


def _id(lesson: LessonResult | LessonLine | str) -> str:
    if isinstance(lesson, LessonLine):
        return lesson.id
    return lesson if isinstance(lesson, str) else lesson.lesson


def _done(answer: dict[str, Any]) -> RevisionResult:
    return RevisionResult(answer["counts"], tuple(answer["not_durable"]))


def _refusal(answer: http.client.HTTPResponse, data: bytes) -> RequestRefused:
    try:
        content = json.loads(data)
        code, sentence = str(content["code"]), str(content["detail"])
    except (ValueError, KeyError, TypeError):
        code, sentence = "unknown", f"the service answered {answer.status}"
    wait = answer.headers.get("retry-after", "")
    return RequestRefused(answer.status, code, sentence, float(wait) if wait.isdecimal() else None)
