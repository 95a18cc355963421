"""`i2cansay serve`, `token` and `doctor` from the shell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from typer.testing import CliRunner

from i2cansay.cli import app
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
