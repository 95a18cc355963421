"""JSON, read strictly."""

from __future__ import annotations

import pytest

from i2cansay.service.errors import ServiceError
from i2cansay.service.http.json_text import read_json


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"", "not JSON: Expecting value at character 0"),
        (b"{", "not JSON"),
        (b'{"a": 1} x', "not JSON: Extra data"),
        (b"[1]", "expected a JSON object as the body, got list"),
        (b'{"a": 1, "b": 2, "a": 3}', "a: this field comes twice"),
        (b'{"a": {"b": 1, "b": 1}}', "b: this field comes twice"),
        (b'{"a": NaN}', "finite, got NaN"),
        (b'{"a": -Infinity}', "finite, got -Infinity"),
        (b'{"a": ' + b"9" * 1_000_000 + b"}", "thousands of digits"),
        (b'{"a": ' + b"[" * 1_000_000, "nested too deeply"),
        (b'{"a": ' * 100_000, "nested too deeply"),
        (b'{"a": "\xff"}', "not JSON in UTF-8"),
        ('{"a": 1}'.encode("utf-16"), "not JSON in UTF-8"),
        (b'{"a": "\\ud800"}', "half of a surrogate pair"),
        (b'{"\\udfff": 1}', "half of a surrogate pair"),
    ],
)
def test_what_is_unclear_is_refused_in_words(body: bytes, sentence: str) -> None:
    with pytest.raises(ServiceError) as refusal:
        read_json(body)
    assert refusal.value.status == 422
    assert sentence in refusal.value.sentence
    assert len(refusal.value.sentence) < 200


def test_what_is_clear_is_read() -> None:
    assert read_json(b' {"a": [1, 2.5, 1e999, null, true], "b": "\\ud83d\\ude00", "c": {"a": 1}} ') == {
        "a": [1, 2.5, float("inf"), None, True],
        "b": "\N{GRINNING FACE}",
        "c": {"a": 1},
    }
