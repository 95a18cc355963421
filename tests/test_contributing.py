"""The recipes of CONTRIBUTING.md work as they are written.

Each recipe runs in an empty folder: a block of Python whose first line is `# name.py` becomes that file, any other
block of Python runs, and so does every command.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.test_docs import ROOT, Block, run

PAGE = ROOT / "CONTRIBUTING.md"
FENCED = re.compile(r"^```(python|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# (\w+\.py)\n")


def recipes() -> dict[str, list[tuple[str, str]]]:
    """Return the blocks of each recipe, as pairs of language and text."""
    text = PAGE.read_text(encoding="utf-8")
    sections = re.split(r"^### (.+)$", text, flags=re.MULTILINE)[1:]
    return {title: FENCED.findall(body) for title, body in zip(sections[::2], sections[1::2], strict=True)}


def follow(blocks: list[tuple[str, str]], folder: Path) -> list[str]:
    """Do what a recipe says; return what its commands printed."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    printed = []
    for language, code in blocks:
        if language == "sh":
            printed += [command(line, folder) for line in code.splitlines()]
        elif match := FILE.match(code):
            (folder / match[1]).write_text(code, encoding="utf-8")
        else:
            run(Block(code, 0, None), PAGE.name, namespace)
    return printed


def command(line: str, folder: Path) -> str:
    program, *words = line.split()
    assert program == "i2cansay"
    done = subprocess.run(
        [sys.executable, "-P", "-m", "i2cansay", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{line}\n{done.stderr}"
    return done.stdout


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path / ".cache"))
    monkeypatch.delenv("I2CANSAY_DATA", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    return tmp_path


def test_there_are_five_recipes() -> None:
    assert list(recipes()) == ["A learner", "A stream", "A data set", "An encoder", "A route"]


def test_a_learner(folder: Path) -> None:
    table, reproduced, _, _ = follow(recipes()["A learner"], folder)
    assert "my_learner:CityBlock" in table
    assert "my_learner:CityBlock" in reproduced
    records = [json.loads(path.read_text()) for path in (folder / "i2cansay-records").glob("**/*.json")]
    assert {record["cell"]["learner"] for record in records} == {"i2cansay", "my_learner:CityBlock"}
    assert len((folder / "answers.csv").read_text().splitlines()) == 598


def test_a_stream(folder: Path) -> None:
    (table,) = follow(recipes()["A stream"], folder)
    assert "stream my_streams:Returning:3" in table


def test_a_data_set(folder: Path) -> None:
    info, encoded, table = follow(recipes()["A data set"], folder)
    assert "60 train, 20 test" in info
    assert "test: 20 rows" in encoded
    assert "best" in table


def test_an_encoder(folder: Path) -> None:
    info, encoded = follow(recipes()["An encoder"], folder)
    assert "features       24" in info
    assert "50 rows" in encoded


def test_a_route(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from i2cansay.service.http import model_routes
    from tests.service.running import Starter

    follow(recipes()["A route"], folder)
    from largest_routes import add_largest_routes  # type: ignore[import-not-found]

    def add_both(*arguments: Any) -> None:
        model_routes.add_model_routes(*arguments)
        add_largest_routes(*arguments)

    monkeypatch.setattr("i2cansay.service.http.app.add_model_routes", add_both)
    start = Starter(folder / "data")
    try:
        running = start()
        model = running.client.create("defects", encoder=None)
        model.learn(
            ["a", "b", "a", "b", "a"], features=[[0.0, 1.0], [1.0, 0.0], [0.0, 2.0], [2.0, 0.0], [0.0, 3.0]]
        )
        answer = running.client.call("GET", "/v1/models/defects/largest")
        assert answer == {"label": "a", "count": 3}
    finally:
        start.stop_all()
