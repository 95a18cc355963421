"""The commands of docs/shell.md run, in their order, in a folder like the one the page speaks of."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from i2cansay.learners.choices import CHOICES
from tests.cli.shell import good, write_folder

PAGE = Path(__file__).parents[2] / "docs" / "shell.md"
BLOCK = re.compile(r"(?P<left_out><!-- not run: .+? -->\n\n)?```bash\n(?P<commands>.*?)```", re.DOTALL)


def commands_of(text: str) -> list[list[str]]:
    """Return the commands of a page as lists of words, comments left out."""
    blocks = [match["commands"] for match in BLOCK.finditer(text) if not match["left_out"]]
    return [shlex.split(line, comments=True) for block in blocks for line in block.splitlines()]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with everything that the page names, and an encoder that is quick."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("i2cansay.image_learner.image_learner.default_encoder", lambda learner: "pixels@4")
    names = {"blue": "scratch", "green": "dent", "red": "hole"}
    for folder, seed in (("monday", 0), ("held-out", 1), ("today", 2)):
        for file, label in write_folder(tmp_path / folder, 40, seed):
            target = tmp_path / folder / names[label] / file.with_suffix(".jpg").name
            target.parent.mkdir(exist_ok=True)
            file.rename(target)
    monday = sorted((tmp_path / "monday").rglob("*.jpg"))
    by_class = {name: [file for file in monday if file.parent.name == name] for name in names.values()}
    by_class["scratch"][0].rename(tmp_path / "monday" / "scratch" / "17.jpg")
    by_class["dent"][0].rename(tmp_path / "monday" / "dent" / "03.jpg")
    (tmp_path / "new").mkdir()
    for file, name in zip(by_class["hole"], ("new/a.jpg", "new/b.jpg"), strict=False):
        (tmp_path / name).write_bytes(file.read_bytes())
    (tmp_path / "today" / "9.jpg").write_bytes(by_class["hole"][0].read_bytes())
    (tmp_path / "tuesday.csv").write_text("path,label\nnew/a.jpg,hole\n")
    (tmp_path / "wednesday.jsonl").write_text(json.dumps({"path": "new/b.jpg", "label": "hole"}) + "\n")
    for plant in ("plant-a", "plant-b"):
        good("learn", f"{plant}.i2cs", "held-out", "--encoder", "pixels@4")
    return tmp_path


def test_the_commands_of_the_page_run(place: Path) -> None:
    commands = commands_of(PAGE.read_text())
    for program, *words in commands:
        assert program == "i2cansay"
        good(*words)
    assert {words[1] for words in commands} == {
        *("learn", "predict", "test", "relabel", "unlearn", "rename", "forget", "info", "merge")
    }
    assert (place / "test.html").exists()
    assert (place / "both.i2cs").exists()


def test_the_page_offers_the_choices_in_their_words() -> None:
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", PAGE.read_text())  # words may be links
    for name, choice in CHOICES.items():
        assert f"| `{name}` | {choice.words}" in text
