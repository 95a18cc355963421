"""What annotations say."""

from __future__ import annotations

from typing import Any

import pytest

from i2cansay.service.errors import ServiceError
from i2cansay.service.label_studio.annotation import id_of, stamp_of, what_it_says
from i2cansay.service.label_studio.labelling import Labelling
from i2cansay.service.limits import Limits
from tests.service.label_studio.studio import annotation_of, result_of

CLOSED = Labelling("choice", "image", "image", frozenset({"rust", "dent"}))
OPEN = Labelling("choice", "image", "image", frozenset())


def test_one_choice_is_the_label() -> None:
    assert what_it_says(annotation_of(1, "rust"), CLOSED, Limits()).label == "rust"
    other = {"from_name": "note", "type": "textarea", "value": {"text": ["hm"]}}
    assert what_it_says({"result": [other, *result_of("dent"), None, 7]}, CLOSED, Limits()).label == "dent"


@pytest.mark.parametrize(
    ("annotation", "why"),
    [
        (annotation_of(1), "nothing was chosen"),
        ({"result": None}, "nothing was chosen"),
        ({}, "nothing was chosen"),
        ({"result": [{"from_name": "other", "value": {"choices": ["rust"]}}]}, "nothing was chosen"),
        (annotation_of(1, "rust", "dent"), "2 labels were chosen"),
        ({"result": result_of("rust") + result_of("dent")}, "2 labels were chosen"),
        ({**annotation_of(1, "rust"), "was_cancelled": True}, "skipped"),
        (annotation_of(1, "scratch"), "none of the choices"),
        (annotation_of(1, ["rust", "deep"]), "none of the choices"),
        (annotation_of(1, 7), "none of the choices"),
        ({"result": [{"from_name": "choice", "value": "rust"}]}, "none of the choices"),
    ],
)
def test_nothing_is_learnt_from_the_others(annotation: dict[str, Any], why: str) -> None:
    said = what_it_says(annotation, CLOSED, Limits())
    assert said.label == ""
    assert why in said.why_not


def test_open_choices_take_any_label_that_the_service_takes() -> None:
    assert what_it_says(annotation_of(1, " scratch "), OPEN, Limits()).label == "scratch"
    assert "visible characters" in what_it_says(annotation_of(1, "co\u00adop"), OPEN, Limits()).why_not


@pytest.mark.parametrize("wrong", [None, "7", 7.0, True, 0, -1, 2**62, {"id": None}, {}])
def test_ids_are_whole_numbers(wrong: object) -> None:
    with pytest.raises(ServiceError):
        id_of(wrong, "task")


@pytest.mark.parametrize("wrong", [None, 7, "", "yesterday", "2026-13-01T00:00:00Z"])
def test_stamps_are_times(wrong: object) -> None:
    with pytest.raises(ServiceError):
        stamp_of({"updated_at": wrong})
