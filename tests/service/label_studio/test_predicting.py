"""Predictions for tasks: one task that fails does not fail the others."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from i2cansay.service.label_studio import predicting
from tests.service.label_studio.conftest import Connected
from tests.service.label_studio.studio import CONFIG, annotation_of, event_of, task_of


def teach(connected: Connected) -> None:
    for number, label in ((3, "red"), (6, "red"), (4, "green"), (7, "green")):
        connected.tell(event_of(annotation_of(number, label)))


def predict(connected: Connected, *numbers: int) -> tuple[int, Any]:
    return connected.post("predict", {"tasks": [task_of(each) for each in numbers], "label_config": CONFIG})


def labels(answer: Any) -> list[str]:
    return [each["result"][0]["value"]["choices"][0] if each else "" for each in answer["results"]]


@pytest.mark.parametrize("status", [302, 400, 403, 404, 424, 500, 503])
def test_an_image_that_cannot_be_had_leaves_the_others(
    connected: Connected, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    teach(connected)
    connected.studio.put("/data/upload/1/10.png", b"", status)
    with caplog.at_level(logging.WARNING):
        got, answer = predict(connected, 9, 10, 12)
    assert got == 200, answer
    assert labels(answer) == ["red", "", "red"]
    assert "no prediction for a task" in caplog.text


def test_an_image_that_ends_early_leaves_the_others(connected: Connected) -> None:
    teach(connected)
    connected.studio.answers["/data/upload/1/10.png"] = 200, {"content-length": "100"}, b"x" * 7
    got, answer = predict(connected, 9, 10, 12)
    assert (got, labels(answer)) == (200, ["red", "", "red"])


def test_a_token_that_is_refused_is_told(connected: Connected) -> None:
    teach(connected)
    connected.studio.put("/data/upload/1/10.png", b"", 401)
    connected.studio.asked.clear()
    got, answer = predict(connected, 9, 10, 12)
    assert got == 502
    assert "refused our token" in answer["detail"]
    assert "/data/upload/1/12.png" not in connected.studio.paths


def test_predictions_end_at_their_deadline(connected: Connected, monkeypatch: pytest.MonkeyPatch) -> None:
    teach(connected)
    monkeypatch.setattr(predicting, "PREDICT_SECONDS", 0.3)
    connected.studio.pause = 0.002  # the first image takes longer than all may
    connected.studio.asked.clear()
    got, answer = predict(connected, 9, 10, 12)
    assert (got, answer["code"]) == (503, "timeout")
    assert "select fewer" in answer["detail"]
    assert connected.studio.paths == ["/data/upload/1/9.png"]
