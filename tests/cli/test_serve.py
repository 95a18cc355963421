"""`i2cansay serve`, `token` and `doctor` from the shell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from i2cansay.cli import app
from i2cansay.encoders import get_encoder
from i2cansay.image_learner import ImageLearner
from i2cansay.learners import make_learner
from i2cansay.service.access.tokens import Tokens
from i2cansay.service.model.requests import Learn
from i2cansay.service.service import Service

run = CliRunner().invoke


def test_tokens_are_printed_once_and_removed(tmp_path: Path) -> None:
    made = run(app, ["token", "add", str(tmp_path), "line 3", "--scope", "teach"])
    secret = made.stdout.strip()
    assert len(secret) > 40
    found = Tokens(tmp_path).find(secret)
    assert found is not None
    assert (found.name, found.scope) == ("line 3", "teach")
    assert run(app, ["token", "list", str(tmp_path)]).stdout == "line 3  teach\n"
    assert isinstance(run(app, ["token", "add", str(tmp_path), "line 3"]).exception, ValueError)
    assert isinstance(run(app, ["token", "add", str(tmp_path), "x", "--scope", "king"]).exception, ValueError)
    assert run(app, ["token", "remove", str(tmp_path), "line 3"]).exit_code == 0
    assert Tokens(tmp_path).find(secret) is None


def test_doctor_names_the_ill_model_and_copies_the_well_ones(tmp_path: Path) -> None:
    service = Service(tmp_path / "data", encoder="pixels")
    model = service.create("line-3", encoder=None)
    model.teach(Learn(np.eye(2, dtype=np.float32), ("a", "a"))).result()
    running = run(app, ["doctor", str(tmp_path / "data"), "--backup", str(tmp_path / "copies")])
    assert running.exit_code == 0
    assert "ok   line-3.sqlite: 1 classes, 2 samples" in running.stdout
    assert (tmp_path / "copies" / "line-3.sqlite").exists()
    service.close()
    path = tmp_path / "data" / "models" / "line-3.sqlite"
    path.write_bytes(path.read_bytes()[:8000])
    damaged = run(app, ["doctor", str(tmp_path / "data")])
    assert damaged.exit_code == 1
    assert "FAIL line-3.sqlite" in damaged.stdout


def test_doctor_of_a_folder_that_is_none(tmp_path: Path) -> None:
    assert isinstance(run(app, ["doctor", str(tmp_path)]).exception, FileNotFoundError)


def test_serve_refuses_to_listen_to_all_without_a_token(tmp_path: Path) -> None:
    error = run(app, ["serve", str(tmp_path / "data"), "--host", "0.0.0.0", "--encoder", "pixels"]).exception
    assert isinstance(error, ValueError)
    assert "token add" in str(error)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Service]:
    """Services that would run; they are closed at once."""
    services: list[Service] = []

    def run_nothing(service: Service, *_: object) -> None:
        services.append(service)
        service.close()

    monkeypatch.setattr("i2cansay.service.http.server.run", run_nothing)
    return services


def test_serve_makes_the_first_model_of_the_choice(tmp_path: Path, served: list[Service]) -> None:
    options = ["--encoder", "pixels"]
    for choice, width in (("best", 4256), ("small", 1536)):
        answer = run(app, ["serve", str(tmp_path / choice), "--learner", choice, *options])
        assert "1 model in" in answer.stdout
        made = served[-1].models["first"].facts
        assert (made.learner, made.parameters.get("width")) == ("i2cansay_shared", width)
    assert run(app, ["serve", str(tmp_path / "paper"), "--learner", "paper", *options]).exit_code == 0
    assert served[-1].models["first"].facts.learner == "i2cansay"
    assert "0 models in" in run(app, ["serve", str(tmp_path / "none"), "--model", "", *options]).stdout
    wrong = run(app, ["serve", str(tmp_path / "wrong"), "--learner", "bset", *options])
    assert isinstance(wrong.exception, ValueError)
    assert not (tmp_path / "wrong").exists()
    own = run(app, ["serve", str(tmp_path / "er"), "--learner", "er", *options])
    assert isinstance(own.exception, ValueError)
    assert "the model first cannot be made" in str(own.exception)


def test_a_model_of_the_shell_is_brought_in(tmp_path: Path, served: list[Service]) -> None:
    rng = np.random.default_rng(0)
    images = [np.full((8, 8, 3), 40 + 150 * (n % 2), np.uint8) for n in range(6)]
    images = [image + rng.integers(0, 9, image.shape, np.uint8) for image in images]
    known = ImageLearner(get_encoder("pixels"), "small")
    known.learn(images, ["dark", "light"] * 3)
    file = tmp_path / "Line 3.i2cs"
    known.save(file)
    command = ["serve", str(tmp_path / "data"), "--import", str(file)]
    answer = run(app, command)
    assert "is now the model line-3" in answer.stdout
    (model,) = served[-1].models.values()
    assert model.facts.encoder is not None
    assert model.facts.encoder.name == "pixels"
    scores = model.state().learner.class_scores(known.encoder.encode(images))
    assert np.array_equal(scores, known.learner.class_scores(known.encoder.encode(images)))
    again = run(app, command)
    assert isinstance(again.exception, ValueError)
    assert "leave out --import" in str(again.exception)
    assert "1 model in" in run(app, command[:2]).stdout


def test_what_cannot_be_brought_in_is_told_with_the_path(tmp_path: Path, served: list[Service]) -> None:
    data, alone = tmp_path / "data", tmp_path / "alone.i2cs"
    missing = run(app, ["serve", str(data), "--import", str(tmp_path / "missing.i2cs")])
    assert isinstance(missing.exception, FileNotFoundError)
    assert not data.exists()
    make_learner("small").partial_fit(np.eye(3), ["a", "a", "b"]).save(alone)
    refused = run(app, ["serve", str(data), "--import", str(alone)])
    assert isinstance(refused.exception, ValueError)
    assert f"{alone} cannot be imported: the class 'b' has fewer than 2 samples" in str(refused.exception)
    assert served == []
