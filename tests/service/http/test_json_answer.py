"""Answers written by pydantic parse as those of the framework."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from fastapi import Response
from fastapi.responses import JSONResponse
from hypothesis import given
from hypothesis import strategies as st

from i2cansay.service.http.json_answer import JsonAnswer
from i2cansay.service.model.snapshot import ClassProbability, Prediction

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
ANSWERS = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | NUMBERS | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
)


def parsed(answer: Response) -> Any:
    """Return what a client reads."""
    return json.loads(bytes(answer.body))


@given(ANSWERS)
def test_it_parses_as_the_answer_of_the_framework(content: Any) -> None:
    answer, expected = JsonAnswer(content), JSONResponse(content)
    assert parsed(answer) == parsed(expected)
    assert answer.headers["content-type"] == expected.headers["content-type"]
    assert answer.headers["content-length"] == str(len(answer.body))


@given(st.lists(NUMBERS, min_size=1))
def test_every_digit_is_there(numbers: list[float]) -> None:
    assert [each.hex() for each in parsed(JsonAnswer(numbers))] == [each.hex() for each in numbers]


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_of_json_is_not_sent(number: float) -> None:
    content = {"predictions": [{"label": "a", "probability": number}]}
    for kind in (JSONResponse, JsonAnswer):
        with pytest.raises(ValueError, match="Out of range float"):
            kind(content)


def test_labels_of_these_names_are_sent() -> None:
    content = {"NaN": ["Infinity", "-Infinity"], "novelty": None}
    assert parsed(JsonAnswer(content)) == content


def test_a_prediction_is_sent_with_all_its_fields() -> None:
    guesses = (ClassProbability("a", 0.75), ClassProbability("b", 0.25))
    prediction = Prediction("a", 0.75, "unsure", 2, ("a", "b"), guesses)
    assert parsed(JsonAnswer([prediction.to_json()])) == [
        {
            "label": "a",
            "probability": 0.75,
            "verdict": "unsure",
            "set_size": 2,
            "set": ["a", "b"],
            "top": [{"label": "a", "probability": 0.75}, {"label": "b", "probability": 0.25}],
            "novelty": None,
        }
    ]
