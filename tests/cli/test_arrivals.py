"""New files of a folder: each named once it is whole, and never before."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from i2cansay.cli.answered_files import AnsweredFiles
from i2cansay.cli.arrivals import Arrivals, Version


class Clock:
    """A clock that goes on when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def names(arrivals: Arrivals, answered: dict[str, Version] | None = None) -> list[str]:
    return [name for name, _ in arrivals.look(answered or {})]


def test_a_file_counts_when_it_has_not_changed_for_a_second(tmp_path: Path, clock: Clock) -> None:
    arrivals, file = Arrivals(tmp_path, clock=clock), tmp_path / "a.png"
    file.write_bytes(b"half")
    for step in range(10):  # a writer that adds a little every 0.9 seconds
        assert names(arrivals) == []
        assert arrivals.waiting
        with file.open("ab") as writer:
            writer.write(b"more")
        os.utime(file, ns=(0, step))
        clock.now += 0.9
    assert names(arrivals) == []
    clock.now += 0.9
    assert names(arrivals) == []
    clock.now += 0.2
    assert names(arrivals) == ["a.png"]
    assert not arrivals.waiting


def test_the_time_alone_shows_a_change(tmp_path: Path, clock: Clock) -> None:
    arrivals, file = Arrivals(tmp_path, clock=clock), tmp_path / "a.png"
    file.write_bytes(b"same size")
    names(arrivals)
    clock.now += 0.9
    os.utime(file, ns=(0, 7))
    names(arrivals)
    clock.now += 0.9
    assert names(arrivals) == []
    clock.now += 0.1
    assert names(arrivals) == ["a.png"]


@pytest.mark.parametrize("temporary", [".a.png.tmp", "a.png.part", "a.tmp"])
def test_a_file_that_is_renamed_into_place_counts_at_once(
    temporary: str, tmp_path: Path, clock: Clock
) -> None:
    arrivals = Arrivals(tmp_path, clock=clock)
    (tmp_path / temporary).write_bytes(b"whole")
    assert names(arrivals) == []
    clock.now += 5
    assert names(arrivals) == []  # the name of an unfinished file never counts
    (tmp_path / temporary).rename(tmp_path / "a.png")
    assert names(arrivals) == ["a.png"]


def test_a_renamed_file_that_was_written_to_meanwhile_waits(tmp_path: Path, clock: Clock) -> None:
    arrivals = Arrivals(tmp_path, clock=clock)
    (tmp_path / ".tmp").write_bytes(b"half")
    names(arrivals)
    (tmp_path / ".tmp").write_bytes(b"whole")
    (tmp_path / ".tmp").rename(tmp_path / "a.png")
    assert names(arrivals) == []
    clock.now += 1
    assert names(arrivals) == ["a.png"]


def test_a_second_name_of_an_unfinished_file_waits(tmp_path: Path, clock: Clock) -> None:
    arrivals = Arrivals(tmp_path, clock=clock)
    (tmp_path / ".tmp").write_bytes(b"half")
    names(arrivals)
    (tmp_path / "a.png").hardlink_to(tmp_path / ".tmp")
    assert names(arrivals) == []


def test_what_is_answered_comes_again_only_if_it_changes(tmp_path: Path, clock: Clock) -> None:
    arrivals, file = Arrivals(tmp_path, clock=clock), tmp_path / "a.png"
    file.write_bytes(b"one")
    names(arrivals)
    clock.now += 1
    answered = dict(arrivals.look({}))
    assert names(arrivals, answered) == []
    file.write_bytes(b"another")
    assert not arrivals.unchanged("a.png", answered["a.png"])
    names(arrivals, answered)
    clock.now += 1
    assert names(arrivals, answered) == ["a.png"]


def test_only_visible_images_count_and_folders_if_asked(tmp_path: Path, clock: Clock) -> None:
    for name in ("b.png", "a.JPG", ".hidden.png", "note.txt", "in/c.png", "out/d.png", ".git/e.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    flat = Arrivals(tmp_path, clock=clock)
    deep = Arrivals(tmp_path, recursive=True, leave_out=tmp_path / "out", clock=clock)
    names(flat), names(deep)
    clock.now += 1
    assert names(flat) == ["a.JPG", "b.png"]
    assert names(deep) == ["a.JPG", "b.png", "in/c.png"]


def test_the_memory_forgets_files_that_are_gone(tmp_path: Path) -> None:
    memory = AnsweredFiles(tmp_path / "memory.json")
    memory.update({"a.png": Version(1, 2), "b.png": Version(3, 4)})
    memory.save(present={"b.png", "c.png"})
    assert dict(AnsweredFiles(tmp_path / "memory.json")) == {"b.png": Version(3, 4)}
    assert b"a.png" not in (tmp_path / "memory.json").read_bytes()


@pytest.mark.parametrize(
    "content", ["", "[]", '{"format": "other"}', '{"format": "i2cansay-watch", "files": {"a": 1}}']
)
def test_a_damaged_memory_is_told(content: str, tmp_path: Path) -> None:
    (tmp_path / "memory.json").write_text(content)
    with pytest.raises(ValueError, match="delete it"):
        AnsweredFiles(tmp_path / "memory.json")
