"""Learners and streams of other packages: by "module:Class" and by entry point."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from i2cansay import load, make_learner
from i2cansay.core import import_by_name
from i2cansay.learners import LEARNERS, learner_class
from i2cansay.learners.closed_form.ncm import NearestClassMean
from i2cansay.service.errors import ServiceError
from i2cansay.service.storage.model_records import ModelFacts
from i2cansay.streams import make_stream

FILE = """
from dataclasses import dataclass

from i2cansay.learners.closed_form.ncm import NearestClassMean
from i2cansay.streams.stream import Stream, batches_of_pass


class Mine(NearestClassMean):
    pass


@dataclass(frozen=True, eq=False, kw_only=True)
class Backwards(Stream):
    has_sessions = False
    times: int = 1

    def check(self):
        pass

    def arrange(self, classes, rng):
        for _ in range(self.times):
            yield from batches_of_pass(self.rows_of(classes)[::-1], self.batch_size, session=0)


NOT_A_CLASS = 3
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "somebodys_learners.py").write_text(FILE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "somebodys_learners", raising=False)
    return "somebodys_learners"


def test_learner_by_module_and_class(package: str, tmp_path: Path) -> None:
    model = make_learner(f"{package}:Mine", metric="cosine").partial_fit([[0.0, 1.0], [1.0, 0.0]], ["a", "b"])
    assert type(model).__name__ == "Mine"
    model.save(tmp_path / "mine.i2cs")
    with pytest.raises(ValueError, match=r"load\(path, learner=YourClass\)"):
        load(tmp_path / "mine.i2cs")  # a file does not say what is imported
    again = load(tmp_path / "mine.i2cs", learner=learner_class(f"{package}:Mine"))
    assert again.predict([[0.0, 3.0]]).tolist() == ["a"]


def test_learner_by_entry_point(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def installed(*, group: str) -> list[EntryPoint]:
        return [EntryPoint("mine", f"{package}:Mine", group)] if group == "i2cansay.learners" else []

    monkeypatch.setattr(import_by_name, "entry_points", installed)
    assert type(make_learner("mine")).__name__ == "Mine"
    with pytest.raises(ValueError, match=r"no learner 'yours'; known are .*\bmine\b"):
        make_learner("yours")
    assert learner_class("ncm") is NearestClassMean  # ours cannot be replaced


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere.at_all:Mine", "there is no module nowhere for"),
        ("somebodys_learners:Theirs", "has no Theirs"),
        ("somebodys_learners:NOT_A_CLASS", "derived from i2cansay.learners.base.OnlineClassifier; it is 3"),
        ("somebodys_learners:Backwards", "derived from i2cansay.learners.base.OnlineClassifier"),
        ("somebodys_learners:", 'expected a name like "package.module:Class"'),
        (":Mine", 'expected a name like "package.module:Class"'),
        ("somebodys_learners:Mine:3", 'expected a name like "package.module:Class"'),
    ],
)
def test_what_is_not_a_learner_is_refused_with_what_was_expected(
    name: str, message: str, package: str
) -> None:
    with pytest.raises(ValueError, match=message):
        make_learner(name)


def test_an_import_that_fails_inside_the_module_is_not_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "needs_more.py").write_text("import not_installed_here\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="not_installed_here"):
        make_learner("needs_more:Mine")


@pytest.mark.parametrize(
    ("word", "times"),
    [("somebodys_learners:Backwards", 1), ("somebodys_learners:Backwards:2", 2), ("{}:Backwards:times=3", 3)],
)
def test_stream_by_module_and_class(word: str, times: int, package: str) -> None:
    y = np.repeat(["a", "b"], 4)
    stream = make_stream(word.format(package), y, batch_size=8)
    assert [batch.rows.tolist() for batch in stream] == [[7, 6, 5, 4, 3, 2, 1, 0]] * times
    assert len(make_stream(stream.spec, y, batch_size=8)) == times  # what a record says can be played again


def test_a_request_cannot_make_the_service_import(monkeypatch: pytest.MonkeyPatch) -> None:
    def imported(path: str) -> Any:
        raise AssertionError(f"{path} was imported")

    monkeypatch.setattr(import_by_name, "import_by_name", imported)
    facts = ModelFacts("birds", "antigravity:Mine", {}, None, 1, 0.0)
    for make in (facts.untried, facts.make):
        with pytest.raises(ServiceError, match="takes names without a module"):
            make()


def test_every_name_of_ours_is_a_learner() -> None:
    assert [learner_class(name).summary for name in LEARNERS if not learner_class(name).summary] == []
