"""The API as a client sees it."""

from __future__ import annotations

import base64
import http.client
import json
import threading
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

import i2cansay
from i2cansay.service.client import RequestRefused
from i2cansay.service.limits import Limits
from tests.service.material import make_image, rows
from tests.service.running import Running, Starter
from tests.service.sending import form, send


def test_images_are_taught_and_named(running: Running) -> None:
    rng = np.random.default_rng(0)
    model = running.client.create("line-3")
    first = model.learn(
        ["red", "green"], images=[make_image("red", rng), make_image("green", rng, kind="JPEG")]
    )
    assert first.durable == (False, False)
    second = model.learn(["red", "green"], images=[make_image("red", rng), make_image("green", rng)])
    assert second.durable == (True, True)
    assert second.counts == {"red": 2, "green": 2}
    assert (second.scored, second.correct) == (2, 2)
    answers = model.predict(images=[make_image("green", rng), make_image("red", rng)], top=2)
    assert [answer.label for answer in answers] == ["green", "red"]
    assert all(len(answer.top) == 2 for answer in answers)
    assert [(answer.verdict, answer.set_size) for answer in answers] == [("unsure", 2)] * 2  # hardly tested
    assert [(line.label, line.count, line.durable) for line in model.classes()] == [
        ("green", 2, True),
        ("red", 2, True),
    ]


def test_the_choices_are_offered_in_words_and_made(running: Running) -> None:
    offered = {choice["name"]: choice for choice in running.client.choices()}
    assert list(offered) == ["best", "small", "paper"]
    assert [name for name, choice in offered.items() if choice["usual"]] == ["small"]
    assert all(len(choice["words"].split()) > 3 for choice in offered.values())
    for name in offered:
        running.client.create(name, learner=name)
    running.client.create("usual")
    made = {model["name"]: (model["learner"], model["parameters"]) for model in running.client.models()}
    assert (
        made["usual"] == made["small"] == ("i2cansay_shared", {"analogies": False, "lift": 0, "width": 1536})
    )
    assert made["best"] == ("i2cansay_shared", {"analogies": False, "lift": 0, "width": 4256})
    assert made["paper"] == ("i2cansay", {})
    assert all(model["can_undo"] for model in running.client.models())


def test_a_form_teaches_as_json_does(running: Running) -> None:
    rng = np.random.default_rng(0)
    running.client.create("line-3")
    parts = [("images", "holiday.png", make_image("red", rng)), ("images", "x.png", make_image("red", rng))]
    body, kind = form(parts, {"label": "red"})
    status, _, answer = send(running, "POST", "/v1/models/line-3/learn", body, {"content-type": kind})
    assert (status, answer["learnt"], answer["durable"]) == (200, 2, True)
    body, kind = form(parts[:1], {"top": "1"})
    status, _, answer = send(running, "POST", "/v1/models/line-3/predict", body, {"content-type": kind})
    assert (status, answer["predictions"][0]["label"]) == (200, "red")


def test_features_are_taught_and_named(running: Running) -> None:
    rng = np.random.default_rng(0)
    model = running.client.create("numbers", encoder=None)
    model.learn(["a", "b", "a", "b"], features=rows(["a", "b", "a", "b"], rng))
    body = json.dumps({"features": rows(["b"], rng).tolist(), "top": 1}).encode()
    status, _, answer = send(running, "POST", "/v1/models/numbers/predict", body)
    assert (status, answer["predictions"][0]["label"]) == (200, "b")


def test_verdicts_say_what_is_sure_and_what_is_new(running: Running) -> None:
    rng = np.random.default_rng(0)
    model = running.client.create("numbers", encoder=None)
    model.learn(["a", "b", "c"] * 2, features=rows(["a", "b", "c"] * 2, rng))
    early = model.predict(features=rows(["a"] * 20, rng), top=2)
    assert {answer.verdict for answer in early} == {"unsure"}
    assert {(answer.set_size, len(answer.set)) for answer in early} == {
        (3, 2)
    }  # too little is known of the model
    for _ in range(40):
        model.learn(["a", "b", "c"], features=rows(["a", "b", "c"], rng))
    known = model.predict(features=rows(["a"] * 50, rng))
    other = model.predict(features=rows(["never seen"] * 50, rng))
    assert sum(answer.verdict == "sure" for answer in known) >= 35
    assert sum(answer.verdict == "new" for answer in known) <= 10
    assert sum(answer.verdict == "new" for answer in other) >= 40
    assert all(answer.set[0] == answer.label for answer in known)
    body, kind = (
        json.dumps({"features": rows(["a"], rng).tolist()}).encode(),
        {"content-type": "application/json"},
    )
    _, _, answer = send(running, "POST", "/v1/models/numbers/predict", body, kind)
    assert answer["tested"] >= 19


def test_error_rates_can_be_asked_for(running: Running) -> None:
    rng = np.random.default_rng(0)
    model = running.client.create("line-3")
    for _ in range(15):
        images = [make_image(colour, rng) for colour in ("red", "green")]
        model.learn(["red", "green"], images=images)
    strict = model.predict(images=images, error=1e-6, new_error=1e-6)
    assert [(answer.verdict, answer.set_size) for answer in strict] == [("unsure", 2)] * 2
    loose = model.predict(images=images, error=0.3, new_error=0.001)
    assert [(answer.verdict, answer.set_size) for answer in loose] == [("sure", 1)] * 2
    for rate in ("0", "1", "nan", "none", "-0.1"):
        body, kind = form([("images", "x.png", images[0])], {"error": rate})
        status, _, answer = send(running, "POST", "/v1/models/line-3/predict", body, {"content-type": kind})
        assert status == 422
        assert "error is a number above 0 and below 1" in answer["detail"]


def test_a_retried_lesson_counts_once(running: Running) -> None:
    rng = np.random.default_rng(0)
    model = running.client.create("numbers", encoder=None)
    X = rows(["a", "a", "b"], rng)
    for repeated in (0, 3, 3):  # b waits in memory, and counts once as well
        lesson = model.learn(["a", "a", "b"], features=X, key="monday.jpg")
        assert lesson.repeated == repeated
        assert lesson.counts == {"a": 2, "b": 1}
        assert lesson.durable == (True, True, False)
    with pytest.raises(RequestRefused, match="a new key for a new request"):
        model.learn("a", features=X[:1], key="monday.jpg")


def test_an_empty_key_is_no_key(running: Running) -> None:
    model = running.client.create("numbers", encoder=None)
    for number in (1, 2):
        body = json.dumps({"features": [[float(number), 0.0]], "label": "a"}).encode()
        _, _, answer = send(running, "POST", f"/v1/models/{model.name}/learn", body, {"idempotency-key": ""})
        assert (answer["learnt"], answer["counts"]) == (1, {"a": number})


def test_forget_rename_and_undo(running: Running) -> None:
    rng = np.random.default_rng(0)
    model = running.client.create("numbers", encoder=None)
    model.learn(["a", "b"] * 3, features=rows(["a", "b"] * 3, rng))
    lesson = model.learn("b", features=rows(["a"], rng))
    assert model.undo(lesson).counts == {"b": 3}
    with pytest.raises(RequestRefused, match="not in memory any more"):
        model.undo(lesson)
    model.rename("b", "crack / riss")
    assert [line.label for line in model.classes()] == ["a", "crack / riss"]
    with pytest.raises(RequestRefused, match="a class already"):
        model.rename("a", "crack / riss")
    model.forget("crack / riss")
    assert [line.label for line in model.classes()] == ["a"]
    with pytest.raises(RequestRefused, match="there is no class") as refusal:
        model.forget("b")
    assert refusal.value.status == 404
    assert [line["action"] for line in model.log()] == ["learn", "learn", "learn", "undo", "rename", "forget"]


def test_the_curve_counts_what_was_right_before_it_was_learnt(running: Running) -> None:
    rng = np.random.default_rng(0)
    model = running.client.create("numbers", encoder=None)
    for _ in range(10):
        model.learn(["a", "b"], features=rows(["a", "b"], rng))
    accuracy = model.accuracy()
    assert accuracy["samples"] == 18  # all but the first of each class, which nobody could know
    assert accuracy["correct"] >= 16
    assert sum(point["samples"] for point in accuracy["points"]) == 18


def test_export_and_import(running: Running, tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    model = running.client.create("line-3")
    model.learn(["red", "green"] * 3, images=[make_image(colour, rng) for colour in ["red", "green"] * 3])
    model.learn("blue", images=[make_image("blue", rng)])
    asked = [make_image("red", rng), make_image("green", rng)]
    data = model.export()
    (tmp_path / "model.i2cs").write_bytes(data)
    loaded = i2cansay.ImageLearner.load(tmp_path / "model.i2cs")
    assert loaded.classes_.tolist() == ["green", "red"]  # blue waits: its mean would be its one image
    again = running.client.import_model("copy", data)
    assert [answer.label for answer in again.predict(images=asked)] == loaded.predict(asked).tolist()
    with pytest.raises(RequestRefused, match="damaged"):
        running.client.import_model("cut", data[:-1] + b"x")
    with pytest.raises(RequestRefused, match="cut short"):
        running.client.import_model("cut", data[:100])


def test_a_file_with_a_class_of_one_sample_is_not_taken_in(running: Running, tmp_path: Any) -> None:
    learner = i2cansay.I2CANSAY().partial_fit(np.eye(3), [1, 1, 2])
    learner.save(tmp_path / "model.i2cs")
    with pytest.raises(RequestRefused, match="fewer than 2 samples"):
        running.client.import_model("small", (tmp_path / "model.i2cs").read_bytes())
    learner.partial_fit(np.eye(3)[:1], [2]).save(tmp_path / "model.i2cs")
    taken = running.client.import_model("grown", (tmp_path / "model.i2cs").read_bytes())
    assert [(line.label, line.count) for line in taken.classes()] == [("1", 2), ("2", 2)]


def test_models_come_and_go(running: Running) -> None:
    running.client.create("one", encoder=None, learner="ncm")
    with pytest.raises(RequestRefused, match="already"):
        running.client.create("one")
    assert [model["learner"] for model in running.client.models()] == ["ncm"]
    running.client.model("one").delete()
    assert running.client.models() == []
    assert [path.name for path in (running.folder / "models").iterdir()] == []


@pytest.mark.parametrize("name", ["../up", "a/b", "A", "", ".hidden", "a" * 64, "nul\0", "a.sqlite"])
def test_names_stay_in_the_folder(shared: Running, name: str) -> None:
    with pytest.raises(RequestRefused) as refusal:
        shared.client.create(name, encoder=None)
    assert refusal.value.status == 422


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"learner": "joint"}, "stores samples"),
        ({"learner": "ewc"}, "has to be told where sessions end"),
        ({"learner": "paper", "parameters": {"memory_size": 10}}, "stores samples"),
        ({"learner": "i2cansay_shared", "parameters": {"forgetting": 0.001}}, "lets samples fade"),
        ({"learner": "oracle"}, "there is no learner"),
        ({"learner": "i2cansay.learners.closed_form.ncm:NearestClassMean"}, "there is no learner"),
        ({"parameters": {"lr": -1.0}}, "lr"),
        ({"parameters": {"random_state": "today"}}, "cannot be made"),
        ({"parameters": {"momentum": "much"}}, "cannot be made"),
        ({"parameters": {"speed": 1}}, "no parameter speed"),
        (
            {"learner": "i2cansay_shared", "parameters": {"shrink_means": 10**30}},
            "a whole number of 31 digits",
        ),
        ({"encoder": "/etc/passwd"}, "there is no encoder"),
        ({"encoder": "../x.onnx"}, "there is no encoder"),
        ({"min_samples": 1}, "min_samples"),
    ],
)
def test_models_that_cannot_be(shared: Running, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(RequestRefused, match=sentence):
        shared.client.create("odd", **options)
    assert [model["name"] for model in shared.client.models()] == ["numbers"]


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"", "JSON"),
        (b"[]", "object"),
        (b'{"label": "a"}', "one of images, features"),
        (b'{"features": [[1, 2], [3]], "label": "a"}', "one width"),
        (b'{"features": [[]], "label": "a"}', "one width"),
        (b'{"features": [[NaN]], "label": "a"}', "finite"),
        (b'{"features": [[1e300]], "label": "a"}', "finite"),
        (b'{"features": [[1e20]], "label": "a"}', "finite"),
        (b'{"features": [[1]]}', "expected labels"),
        (b'{"features": [[1], [2]], "labels": ["a", "b", "c"]}', "2 samples and 3 labels"),
        (b'{"features": [[1]], "label": "  "}', "1 to 200 characters"),
        (b'{"features": [[1]], "label": "a\\u0000"}', "control"),
        (b'{"features": [[1]], "label": "\\u202e\\u200b"}', "U+202E"),
        (b'{"features": [[1]], "label": "a", "colour": 1}', "colour"),
        (b'{"features_base64": "AAAA", "label": "a"}', "width"),
        (b'{"features_base64": "?", "width": 1, "label": "a"}', "not base64"),
        (b'{"images": ["AAAA"], "label": "a"}', "features, not images"),
    ],
)
def test_lessons_that_make_no_sense(shared: Running, body: bytes, sentence: str) -> None:
    status, _, answer = send(shared, "POST", "/v1/models/numbers/learn", body)
    assert status == 422
    assert sentence in answer["detail"]
    assert shared.client.model("numbers").classes() == []


def test_a_bad_image_is_named_and_nothing_is_learnt(running: Running) -> None:
    rng = np.random.default_rng(0)
    model = running.client.create("line-3")
    with pytest.raises(RequestRefused, match="image 2: "):
        model.learn("red", images=[make_image("red", rng), b"no image", make_image("red", rng)])
    assert model.classes() == []
    with pytest.raises(RequestRefused, match="knows no class yet"):
        model.predict(images=[make_image("red", rng)])


def test_limits(start: Starter) -> None:
    rng = np.random.default_rng(0)
    limits = Limits(
        images=2, rows=3, pixels=1000, classes=2, models=2, label_length=5, body_bytes=20_000, width=50
    )
    running = start(limits=limits)
    model = running.client.create("line-3")
    numbers = running.client.create("numbers", encoder=None)
    small = make_image("red", rng, side=8)
    for act, status in (
        (lambda: model.learn("red", images=[small] * 3), 413),
        (lambda: model.learn("red", images=[make_image("red", rng, side=40)]), 422),
        (lambda: numbers.learn("a", features=rows(["a"] * 4, rng)), 413),
        (lambda: numbers.learn("a", features=np.zeros((1, 51))), 413),
        (lambda: numbers.learn("a" * 6, features=rows(["a"], rng)), 422),
        (lambda: numbers.learn(["a", "b", "c"], features=rows(["a", "b", "c"], rng)), 409),
        (lambda: numbers.predict(features=np.zeros((1000, 40))), 413),
        (lambda: running.client.create("third", encoder=None), 409),
    ):
        with pytest.raises(RequestRefused) as refusal:
            act()
        assert refusal.value.status == status, str(refusal.value)


def test_an_answer_names_no_more_classes_than_allowed(start: Starter) -> None:
    rng = np.random.default_rng(0)
    running = start(limits=Limits(named=12))
    model = running.client.create("numbers", encoder=None)
    labels = ["a", "b", "c"] * 2
    model.learn(labels, features=rows(labels, rng))
    assert (
        len(model.predict(features=rows(["a"] * 4, rng), top=1000)) == 4
    )  # three classes each: there are no more
    assert len(model.predict(features=rows(["a"] * 6, rng), top=2)) == 6
    with pytest.raises(RequestRefused, match="this one would name 15: 5 samples with 3 each") as refusal:
        model.predict(features=rows(["a"] * 5, rng), top=1000)
    assert refusal.value.status == 413


def test_a_body_without_a_length_is_cut_off(start: Starter) -> None:
    running = start(limits=Limits(body_bytes=1000))
    running.client.create("numbers", encoder=None)
    parts = urlsplit(running.client.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    connection.request("POST", "/v1/models/numbers/learn", iter([b"x" * 600] * 3), encode_chunked=True)
    answer = connection.getresponse()
    assert answer.status == 413
    connection.close()


def test_health_metrics_and_description(running: Running) -> None:
    running.client.create("numbers", encoder=None)
    assert send(running, "GET", "/healthz")[0] == 200
    assert send(running, "GET", "/readyz")[2] == {"status": "ready", "damaged": []}
    running.client.model("numbers").learn("a", features=[[1.0], [2.0]])
    _, _, text = send(running, "GET", "/metrics")
    assert b"i2cansay_samples_learnt_total 2" in text
    assert b'route="/v1/models/{name}/learn",status="200"} 1' in text
    _, _, description = send(running, "GET", "/v1/openapi.json")
    content = description["paths"]["/v1/models/{name}/learn"]["post"]["requestBody"]["content"]
    assert set(content) == {"application/json", "multipart/form-data", "application/octet-stream"}


def test_an_image_in_base64_from_the_description_works(running: Running) -> None:
    from i2cansay.service.http.schemas import EXAMPLE_IMAGE

    model = running.client.create("line-3")
    assert model.learn("dark", images=[base64.b64decode(EXAMPLE_IMAGE)]).learnt == 1


def test_a_body_that_does_not_arrive_is_given_up(start: Starter) -> None:
    running = start(limits=Limits(seconds=0.3))
    running.service.create("numbers", encoder=None)  # not by a request, which might take longer than that
    parts = urlsplit(running.client.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    connection.putrequest("POST", "/v1/models/numbers/learn")
    connection.putheader("content-length", "1000")
    connection.endheaders(b"only a part")
    answer = connection.getresponse()
    assert answer.status == 408
    connection.close()


def test_a_lesson_that_takes_too_long_is_given_up(start: Starter, monkeypatch: pytest.MonkeyPatch) -> None:
    running = start(limits=Limits(seconds=2.0))
    running.service.create("numbers", encoder=None)
    model = running.client.model("numbers")
    go = threading.Event()
    real = running.service.models["numbers"]._database.commit
    monkeypatch.setattr(
        running.service.models["numbers"]._database, "commit", lambda *words: (go.wait(10), real(*words))
    )
    with pytest.raises(RequestRefused, match="same Idempotency-Key") as refusal:
        model.learn("a", features=[[1.0], [2.0]], key="k")
    assert refusal.value.status == 503
    go.set()
    assert model.learn("a", features=[[1.0], [2.0]], key="k").counts == {"a": 2}


def test_no_request_asks_for_telemetry(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = pytest.importorskip("opentelemetry.trace")

    def asked() -> None:
        raise AssertionError("a request was offered to a tracer, and its path has the name of a model")

    monkeypatch.setattr(trace, "get_tracer_provider", asked)
    model = running.client.create("numbers", encoder=None)
    model.learn(["a", "a"], features=rows(["a", "a"], np.random.default_rng(0)))
    assert model.predict(features=rows(["a"], np.random.default_rng(1)))[0].label == "a"
