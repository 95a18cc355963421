"""How good a model is, over HTTP."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from i2cansay.service.client import RequestRefused
from i2cansay.service.model.served_model import ServedModel
from tests.service.material import WIDTH, make_image, rows
from tests.service.running import Running
from tests.service.sending import form, send


def test_confusion_over_http(running: Running) -> None:
    rng = np.random.default_rng(0)
    model = running.client.create("numbers", encoder=None)
    assert model.confusion() == {"labels": [], "counts": [], "classes": []}
    model.learn(["a", "b"] * 3, features=rows(["a", "b"] * 3, rng))
    model.learn(["a", "a", "b"], features=rows(["a", "b", "b"], rng))
    assert model.confusion() == {
        "labels": ["a", "b"],
        "counts": [
            {"taught": "a", "predicted": "a", "n": 1},
            {"taught": "a", "predicted": "b", "n": 1},
            {"taught": "b", "predicted": "b", "n": 1},
        ],
        "classes": [{"label": "a", "tested": 2, "right": 1}, {"label": "b", "tested": 1, "right": 1}],
    }
    status, _, _ = send(running, "GET", "/v1/models/none/confusion")
    assert status == 404


def test_the_map_over_http(running: Running) -> None:
    rng = np.random.default_rng(0)
    model = running.client.create("numbers", encoder=None)
    assert model.map() == {"classes": [], "closest": [], "shown": 1.0, "left_out": 0}
    model.learn(["a", "b", "c"] * 3, features=rows(["a", "b", "c"] * 3, rng))
    answer = model.map()
    assert [(each["label"], each["n"]) for each in answer["classes"]] == [("a", 3), ("b", 3), ("c", 3)]
    assert answer == model.map()
    assert len(answer["closest"]) == 3
    ridge = running.client.create("ridge", encoder=None, learner="ridge")
    ridge.learn(["a", "b"] * 2, features=rows(["a", "b"] * 2, rng))
    status, _, refusal = send(running, "GET", "/v1/models/ridge/map")
    assert (status, refusal["code"]) == (409, "conflict")


def test_accuracy_is_counted_and_smoothed(running: Running) -> None:
    rng = np.random.default_rng(0)
    model = running.client.create("numbers", encoder=None)
    assert model.accuracy() == {"points": [], "samples": 0, "correct": 0, "half_life": 50}
    model.learn(["a", "b"] * 3, features=rows(["a", "b"] * 3, rng))
    for _ in range(5):
        model.learn(["a", "b"], features=rows(["a", "b"], rng))
    answer = model.accuracy()
    assert (answer["samples"], answer["correct"]) == (10, 10)
    assert [point["smoothed"] for point in answer["points"]] == [1.0] * 5
    lows = [point["low"] for point in answer["points"]]
    assert lows == sorted(lows)
    assert 0.3 < lows[0] < lows[-1] < 0.75
    assert {point["high"] for point in answer["points"]} == {1.0}


# -- a trial ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", ["best", "small", "paper"])
def test_a_trial_compares_and_learns_nothing(running: Running, learner: str) -> None:
    rng = np.random.default_rng(0)
    parameters = {"width": 20} if learner == "small" else {}
    model = running.client.create("numbers", encoder=None, learner=learner, parameters=parameters)
    for _ in range(6):
        model.learn(["a", "b"] * 4, features=rows(["a", "b"] * 4, rng))
    served = running.service.model("numbers")
    before = everything(served)
    wrong = rows(["b"], rng)
    X = np.concatenate([rows(["a", "b", "b"], rng), wrong, rows(["never"], rng)])
    answer = model.test(["a", "b", "b", "a", "never"], features=X)
    assert everything(served) == before
    assert (answer["samples"], answer["right"], answer["accuracy"], answer["unknown"]) == (5, 3, 0.6, 1)
    assert answer["low"] < 0.6 < answer["high"]
    assert answer["classes"] == [
        {"label": "a", "known": True, "tested": 2, "right": 1},
        {"label": "b", "known": True, "tested": 2, "right": 2},
        {"label": "never", "known": False, "tested": 1, "right": 0},
    ]
    assert {"taught": "a", "predicted": "b", "n": 1} in answer["confusions"]
    assert sum(each["n"] for each in answer["confusions"]) == 2
    assert sum(each["n"] for each in answer["verdicts"]) == 5
    assert [each["label"] for each in answer["predictions"]] == ["a", "b", "b", "a", "never"]
    asked = model.predict(features=X)
    for tried, prediction in zip(answer["predictions"], asked, strict=True):
        assert (tried["predicted"], tried["verdict"]) == (prediction.label, prediction.verdict)
        assert tried["right"] == (tried["label"] == tried["predicted"])
        assert tried["probability"] == pytest.approx(prediction.probability)
    assert everything(served) == before
    assert answer["version"] == served.snapshot.version


def everything(model: ServedModel) -> tuple[Any, ...]:
    """Return all that a question must leave as it was, on the disk too."""
    state = model.state()
    arrays = {name: array.tobytes() for name, array in state.learner.state().items()}
    return arrays, state.version, state.classes, state.notes(), state.lessons, model.path.read_bytes()


def test_images_are_tried_as_a_form(running: Running) -> None:
    rng = np.random.default_rng(0)
    model = running.client.create("line-3")
    for _ in range(3):
        images = [make_image(colour, rng) for colour in ("red", "green")]
        model.learn(["red", "green"], images=images)
    answer = model.test("red", images=[make_image("red", rng), make_image("green", rng)])
    assert (answer["right"], answer["confusions"]) == (1, [{"taught": "red", "predicted": "green", "n": 1}])
    assert model.test(["red", "green"], images=images, error=0.3)["accuracy"] == 1.0
    assert [line.count for line in model.classes()] == [3, 3]
    parts = [("images", "x.png", images[0])]
    for fields, sentence in (
        ({}, "expected labels"),
        ({"label": "red", "error": "2"}, "error is a number"),
        ({"label": "red", "new_error": "nan"}, "new_error is a number"),
        ({"label": "\u200b"}, "visible characters"),
        ({"label": "red", "other": "1"}, "the form has"),
    ):
        body, kind = form(parts, fields)
        status, _, refusal = send(running, "POST", "/v1/models/line-3/test", body, {"content-type": kind})
        assert status == 422
        assert sentence in refusal["detail"]


ODD: list[tuple[Any, int]] = [
    ({"features": [[0.0] * WIDTH]}, 422),
    ({"features": [[0.0] * WIDTH], "labels": ["a", "b"]}, 422),
    ({"features": [[0.0] * WIDTH], "label": "a", "labels": ["a"]}, 422),
    ({"features": [[0.0] * 3], "label": "a"}, 422),
    ({"features": [["x"] * WIDTH], "label": "a"}, 422),
    ({"features": [], "label": "a"}, 422),
    ({"features": [[1e30] * WIDTH], "label": "a"}, 422),
    ({"features": [[0.0] * WIDTH], "label": "a", "top": 5}, 422),
    ({"features": [[0.0] * WIDTH], "label": "a", "error": 0}, 422),
    ({"features": [[0.0] * WIDTH], "label": "a", "error": True}, 422),
    ({"features": [[0.0]] * 1001, "label": "a"}, 413),
    ([], 422),
    (None, 422),
]


@pytest.mark.parametrize(("body", "status"), ODD)
def test_an_odd_trial_is_refused_in_words(shared: Running, body: Any, status: int) -> None:
    model = shared.client.model("numbers")
    if not model.classes():
        model.learn(["a", "b"] * 2, features=rows(["a", "b"] * 2, np.random.default_rng(0)))
    got, _, answer = send(shared, "POST", "/v1/models/numbers/test", json.dumps(body).encode())
    assert (got, bool(answer["detail"])) == (status, True), answer


def test_a_model_without_classes_cannot_be_tried(running: Running) -> None:
    model = running.client.create("numbers", encoder=None)
    with pytest.raises(RequestRefused, match="knows no class yet") as refusal:
        model.test("a", features=rows(["a"], np.random.default_rng(0)))
    assert refusal.value.status == 409


# -- what is least sure ---------------------------------------------------------------------------------------------


def test_a_prediction_has_what_puts_the_least_sure_first(running: Running) -> None:
    rng = np.random.default_rng(0)
    for learner in ("paper", "best", "ridge"):
        model = running.client.create(learner, encoder=None, learner=learner)
        for _ in range(5):
            model.learn(["a", "b"] * 4, features=rows(["a", "b"] * 4, rng))
        known, strange = model.predict(features=np.concatenate([rows(["a"], rng), rows(["other"], rng)]))
        if learner == "ridge":  # it has none
            assert known.novelty is None
        else:
            assert known.novelty is not None
            assert strange.novelty is not None
            assert known.novelty < strange.novelty
        assert {known.verdict, strange.verdict} <= {"sure", "unsure", "new"}
        assert known.probability <= 1 <= known.set_size
