"""Forms that are made to cost much."""

from __future__ import annotations

import pytest

from i2cansay.service.errors import ServiceError
from i2cansay.service.http.form import HEADER_BYTES, HEADERS, read_form

KIND = "multipart/form-data; boundary=cut"
HEAD = b'--cut\r\nContent-Disposition: form-data; name="images"; filename="x"'
TAIL = b"\r\n\r\nx\r\n--cut--\r\n"


@pytest.mark.parametrize(
    "headers",
    [
        b"\r\na: b" * 100_000,
        b"\r\na: " + b"b" * 500_000,
        b"\r\n" + b"a" * 500_000 + b": b",
        b'; a="\\""' * 50_000,
    ],
    ids=["many", "long value", "long name", "long disposition"],
)
def test_headers_of_a_part_are_few_and_short(headers: bytes) -> None:
    with pytest.raises(ServiceError, match="the form cannot be read: Maximum header") as refusal:
        read_form(HEAD + headers + TAIL, KIND, most=3)
    assert refusal.value.status == 422


def test_what_browsers_send_is_read() -> None:
    more = b"\r\na: " + b"b" * (HEADER_BYTES // 2)
    form = read_form(HEAD + more * (HEADERS - 1) + TAIL, KIND, most=3)
    assert form.files == [("images", b"x")]
