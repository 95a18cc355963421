"""Thousands of classes are measured with what is known of so many."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import class_scale


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_scale, "WIDTH", 16)
    monkeypatch.setattr(class_scale, "ASKED", 20)
    monkeypatch.setattr(class_scale, "ALL_UP_TO", 30)


def test_above_a_number_of_classes_no_lesson_is_followed_by_a_question() -> None:
    few, many = (class_scale.measure("closed form", c) for c in (30, 60))
    assert few.keys() - many.keys() == {"lesson and top"}
    assert many["c"] == 60
    assert min(many[key] for key in ("classes arrive", "batch", "first top", "top", "verdicts")) > 0


def test_above_a_number_of_classes_only_the_closed_form_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(command: list[str], **_: Any) -> SimpleNamespace:
        kind, c = (command[command.index(option) + 1] for option in ("--one", "--classes"))
        return SimpleNamespace(stdout=json.dumps([{"estimator": kind, "c": int(c)}]))

    monkeypatch.setattr("subprocess.run", run)
    file = tmp_path / "figures.json"
    monkeypatch.setattr("sys.argv", ["class_scale.py", "--classes", "30", "31", "--json", str(file)])
    class_scale.main()
    found = [(row["estimator"], row["c"]) for row in json.loads(file.read_text())]
    assert found == [("paper", 30), ("shared", 30), ("closed form", 30), ("closed form", 31)]
