"""Forms with images (multipart/form-data), read in memory: other parsers write large parts to files."""

from __future__ import annotations

from dataclasses import dataclass, field

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import Request

from i2cansay.service.errors import refused, too_large

HEADERS, HEADER_BYTES = 8, 4096
"""Of one part. The parser looks at every byte of a header in Python: 10 MB of them took half a minute."""


@dataclass
class Form:
    """The parts of a form: those with a file name, which is dropped, and those with text.

    Examples
    --------
    >>> body = b'--x\\r\\nContent-Disposition: form-data; name="label"\\r\\n\\r\\nrust\\r\\n--x--\\r\\n'
    >>> read_form(body, "multipart/form-data; boundary=x", most=3).texts
    [('label', 'rust')]
    """

    files: list[tuple[str, bytes]] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)


async def take_form(request: Request) -> bytearray:
    """Return the body of a form; the middleware limits its size."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
    return body


def read_form(body: bytes | bytearray, content_type: str, *, most: int) -> Form:
    """Return the parts of a form, at most `most`; raise ServiceError where it is not a form."""
    _, options = parse_options_header(content_type)
    boundary = options.get(b"boundary", b"")
    if not 1 <= len(boundary) <= 200:
        raise refused("the form has no boundary of 1 to 200 characters in its content type")
    reading = _Reading(most)
    try:
        parser = MultipartParser(
            boundary,
            reading.callbacks(),  # type: ignore[arg-type]
            max_header_count=HEADERS,
            max_header_size=HEADER_BYTES,
        )
        parser.write(body)  # type: ignore[arg-type]
        parser.finalize()
    except MultipartParseError as error:
        raise refused(f"the form cannot be read: {error}") from error
    if not reading.ended:
        raise refused("the form is cut short")
    return reading.form


class _Reading:
    """A form being read, piece by piece."""

    def __init__(self, most: int) -> None:
        self.form = Form()
        self.ended = False
        self._most = most
        self._begin()

    def callbacks(self) -> dict[str, object]:
        return {
            "on_part_begin": self._begin,
            "on_part_data": lambda data, start, end: self._data.extend(data[start:end]),
            "on_part_end": self._end,
            "on_header_field": lambda data, start, end: self._name.extend(data[start:end]),
            "on_header_value": lambda data, start, end: self._value.extend(data[start:end]),
            "on_header_end": self._header,
            "on_end": self._finish,
        }

    def _begin(self) -> None:
        self._data = bytearray()
        self._disposition = b""
        self._name, self._value = bytearray(), bytearray()

    def _header(self) -> None:
        if self._name.lower() == b"content-disposition":
            self._disposition = bytes(self._value)
        self._name, self._value = bytearray(), bytearray()

    def _end(self) -> None:
        if len(self.form.files) + len(self.form.texts) >= self._most:
            raise too_large(f"a form may have {self._most} parts; send them in several requests")
        _, options = parse_options_header(self._disposition)
        try:
            name = options[b"name"].decode()
            if b"filename" in options:
                self.form.files.append((name, bytes(self._data)))
            else:
                self.form.texts.append((name, self._data.decode()))
        except KeyError:
            raise refused("a part of the form has no name") from None
        except UnicodeDecodeError:
            raise refused("a text in the form is not UTF-8") from None

    def _finish(self) -> None:
        self.ended = True
