"""`i2cansay watch`: every image is answered, once, whole; restarts and stops lose nothing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from i2cansay import ImageLearner
from i2cansay.cli import arrivals
from i2cansay.cli.answered_files import FILE_NAME, AnsweredFiles
from tests.cli.shell import command, good, refused, write_folder


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model and images that are yet to arrive."""
    folder = tmp_path_factory.mktemp("day")
    write_folder(folder / "images", 60)
    good("learn", folder / "m.i2cs", folder / "images", "--encoder", "pixels@4")
    return folder


@pytest.fixture
def line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which files count as whole at once."""
    monkeypatch.setattr(arrivals, "SETTLE_SECONDS", 0.0)
    folder = tmp_path / "line"
    folder.mkdir()
    return folder


def arrive(day: Path, line: Path, n: int, *, skip: int = 0) -> dict[str, str]:
    """Copy images into the folder; return their labels by name."""
    files = sorted((day / "images").rglob("*.png"), key=lambda file: file.name)[skip : skip + n]
    for file in files:
        shutil.copyfile(file, line / file.name)
    return {file.name: file.parent.name for file in files}


def records(text: str) -> list[dict[str, Any]]:
    return [json.loads(row) for row in text.splitlines()]


def test_each_image_is_answered_once(day: Path, line: Path) -> None:
    labels = arrive(day, line, 20)
    first = records(good("watch", line, "--model", day / "m.i2cs", "--once"))
    assert {record["file"]: record["label"] for record in first} == labels
    assert {record["verdict"] for record in first} <= {"sure", "unsure", "new"}
    assert good("watch", line, "--model", day / "m.i2cs", "--once") == ""
    later = arrive(day, line, 3, skip=20)
    again = records(good("watch", line, "--model", day / "m.i2cs", "--once"))
    assert {record["file"] for record in again} == set(later)


def test_the_memory_holds_names_sizes_and_times_only(day: Path, line: Path) -> None:
    labels = arrive(day, line, 3)
    good("watch", line, "--model", day / "m.i2cs", "--once")
    content = json.loads((line / FILE_NAME).read_text())
    stats = {name: (line / name).stat() for name in labels}
    assert content["files"] == {name: [stat.st_size, stat.st_mtime_ns] for name, stat in stats.items()}


def test_images_move_into_a_folder_per_verdict_and_none_is_overwritten(day: Path, line: Path) -> None:
    for _ in range(2):
        labels = arrive(day, line, 4)
        (line / "bad.png").write_bytes(b"no image")
        said = good(
            "watch", line, "--model", day / "m.i2cs", "--once", "--move-to", line / "done", "--recursive"
        )
        for record in records(said):
            assert Path(record["moved_to"]).exists()
            assert Path(record["moved_to"]).parent.name == record["verdict"]
    assert not list(line.glob("*.png"))
    assert len(list((line / "done").rglob("*.png"))) == 2 * (len(labels) + 1)
    assert {path.name for path in (line / "done" / "unreadable").iterdir()} == {"bad.png", "bad-2.png"}


def test_an_unreadable_file_is_reported_once_and_read_again_when_it_changes(day: Path, line: Path) -> None:
    (line / "a.png").write_bytes(b"no image")
    (record,) = records(good("watch", line, "--model", day / "m.i2cs", "--once"))
    assert (record["verdict"], "label" in record) == ("unreadable", False)
    assert "damaged" in record["error"]
    assert good("watch", line, "--model", day / "m.i2cs", "--once") == ""
    (name,) = arrive(day, line, 1)
    (line / name).replace(line / "a.png")
    (record,) = records(good("watch", line, "--model", day / "m.i2cs", "--once"))
    assert record["label"]


def test_a_file_that_is_written_to_while_it_is_read_is_answered_later(
    day: Path, line: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (name,) = arrive(day, line, 1)
    answer, calls = ImageLearner.answer, list[int]()

    def meanwhile(self: ImageLearner, *arguments: Any, **options: Any) -> Any:
        answers = answer(self, *arguments, **options)
        calls.append(len(answers))
        if len(calls) == 1:
            os.utime(line / name, ns=(0, 12345))
        return answers

    monkeypatch.setattr(ImageLearner, "answer", meanwhile)
    assert good("watch", line, "--model", day / "m.i2cs", "--once") == ""
    assert len(records(good("watch", line, "--model", day / "m.i2cs", "--once"))) == 1


def test_a_model_that_is_taught_meanwhile_answers_from_then_on(
    day: Path, line: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Path(shutil.copy(day / "m.i2cs", tmp_path / "m.i2cs"))
    arrive(day, line, 20)
    look = arrivals.Arrivals.look

    def rename_first(self: arrivals.Arrivals, answered: Any) -> Any:
        if "crimson" not in ImageLearner.load(model).classes_:
            ImageLearner.load(model).rename("red", "crimson").save(model)
        return look(self, answered)

    monkeypatch.setattr(arrivals.Arrivals, "look", rename_first)
    result = command("watch", line, "--model", model, "--once")
    found = {record["label"] for record in records(result.stdout)}
    assert "crimson" in found
    assert "red" not in found
    assert "was read again" in result.stderr


def test_two_do_not_watch_the_same_folder(day: Path, line: Path) -> None:
    with AnsweredFiles(line / FILE_NAME).locked():
        assert "another `i2cansay watch`" in refused("watch", line, "--model", day / "m.i2cs", "--once")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["{line}/none", "--model", "{day}/m.i2cs"], "there is no folder"),
        (["{line}", "--model", "{day}/none.i2cs"], "there is no model file"),
        (["{line}", "--model", "{day}/m.i2cs", "--move-to", "{day}/m.i2cs"], "is not a folder"),
    ],
)
def test_a_wrong_call_is_one_sentence(words: list[str], sentence: str, day: Path, line: Path) -> None:
    assert sentence in refused("watch", *(word.format(day=day, line=line) for word in words))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it_cleanly_and_a_restart_goes_on(
    number: signal.Signals, day: Path, tmp_path: Path
) -> None:
    line = tmp_path / "line"
    line.mkdir()
    words = [sys.executable, "-m", "i2cansay", "watch", str(line), "--model", str(day / "m.i2cs")]
    process = subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        (name,) = arrive(day, line, 1)
        assert json.loads(process.stdout.readline())["file"] == name
        deadline = time.monotonic() + 60
        while name not in AnsweredFiles(line / FILE_NAME) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=120)
    finally:
        process.kill()
    assert (process.returncode, stdout) == (0, "")
    assert stderr.splitlines()[-1] == "1 image answered, 0 of them could not be read"
    assert good("watch", line, "--model", day / "m.i2cs", "--once") == ""
