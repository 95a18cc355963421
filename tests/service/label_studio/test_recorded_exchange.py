"""What a real Label Studio and the service said to each other, said again without it.

`recorded_exchange.json` was written by `I2CANSAY_RECORD=... make test-labelstudio`: requests of Label Studio 1.23 to
the service with the answers of that day, and requests of the service to Label Studio with its answers. Secrets and
what nobody reads are left out.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.service.label_studio.studio import Studio, running_studio
from tests.service.running import Starter
from tests.service.sending import send

EXCHANGE: list[dict[str, Any]] = json.loads(Path(__file__).with_name("recorded_exchange.json").read_text())


@pytest.fixture
def studio() -> Iterator[Studio]:
    with running_studio() as studio:
        yield studio


def answer_with(studio: Studio, entry: dict[str, Any]) -> None:
    """Let the stand-in answer as Label Studio did."""
    answer = entry["answer"]
    body = base64.b64decode(answer["base64"]) if "base64" in answer else answer
    studio.put(entry["path"], body, entry["status"])


def labels_of(answer: Any) -> Any:
    """Return the part of an answer that is the same on every processor: all but scores."""
    if isinstance(answer, dict):
        return {name: labels_of(value) for name, value in answer.items() if name != "score"}
    return [labels_of(each) for each in answer] if isinstance(answer, list) else answer


def test_the_service_answers_as_it_did(studio: Studio, start: Starter) -> None:
    running = start(label_studio=studio.connection())
    running.service.create("first")
    fetched: list[str] = []
    for entry in EXCHANGE:
        if entry["to"] == "studio":
            answer_with(studio, entry)  # they were noted before the request that they are for
            fetched.append(entry["path"])
        elif entry["method"] == "RESTART":
            running.stop()
            running = start(label_studio=studio.connection())
        else:
            body = None if entry["body"] is None else json.dumps(entry["body"]).encode()
            status, _, answer = send(running, entry["method"], entry["path"], body)
            assert status == entry["status"]
            assert labels_of(answer) == labels_of(entry["answer"])
            assert studio.paths == fetched  # no more and no less was asked of Label Studio
    counts = {line.label: line.count for line in running.service.model("first").snapshot.classes}
    assert counts == {"blue": 3, "red": 3}


def test_all_that_label_studio_sends_is_in_it() -> None:
    paths = {
        entry["path"].rpartition("/")[2] for entry in EXCHANGE if entry["to"] == "service" and "path" in entry
    }
    assert paths == {"health", "setup", "predict", "webhook"}
    actions = {(entry.get("body") or {}).get("action") for entry in EXCHANGE} - {None}
    assert actions == {"ANNOTATION_CREATED", "ANNOTATION_UPDATED", "ANNOTATIONS_DELETED", "START_TRAINING"}
    outcomes = {
        each["outcome"]
        for entry in EXCHANGE
        if entry["to"] == "service" and "annotations" in (entry.get("answer") or {})
        for each in entry["answer"]["annotations"]
    }
    assert outcomes == {"learnt", "moved", "taken_back", "unchanged"}


def test_no_secret_is_in_it() -> None:
    text = json.dumps(EXCHANGE)
    assert not any(word in text.lower() for word in ("token", "authorization", "bearer", "password", "email"))
    assert '"eyJ' not in text  # how a personal access token begins
