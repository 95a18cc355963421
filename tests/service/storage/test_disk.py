"""Disks that are full, cannot be written, or are damaged."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from i2cansay.service.diagnosis import back_up, examine
from i2cansay.service.errors import ServiceError
from i2cansay.service.limits import Limits
from i2cansay.service.model.requests import Learn, Question
from i2cansay.service.model.served_model import ServedModel
from i2cansay.service.service import Service
from i2cansay.service.service_metrics import ServiceMetrics
from tests.service.material import new_model, rows, teach


@pytest.mark.parametrize("trouble", ["max_page_count = 1", "query_only = ON"])
def test_a_full_or_locked_disk_stops_teaching_and_nothing_else(tmp_path: Path, trouble: str) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    teach(model, ["a", "b"] * 2, rng)
    before = model.state()
    model._database._connection.execute(f"PRAGMA {trouble}")
    with pytest.raises(ServiceError, match="could not be written") as refusal:
        teach(model, [f"n{number}" for number in range(100)] * 2, rng, b"key")
    assert refusal.value.status == 507
    assert model.state() is before
    assert model.ask(Question(rows(["b"], rng), 1)).result()[0].label == "b"
    # The disk is well again: the connection is opened anew, and the same lesson is taken, once.
    assert teach(model, [f"n{number}" for number in range(100)] * 2, rng, b"key").repeated == 0
    assert len(model.snapshot.classes) == 102
    model.close()
    assert len(ServedModel(model.path, Limits(), ServiceMetrics()).snapshot.classes) == 102


def test_a_commit_that_failed_after_it_was_made_counts_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    teach(model, ["a", "b"] * 2, rng)
    real = model._database.commit

    def commit(version: int, state: Any, notes: Any, changes: Any) -> None:
        monkeypatch.undo()
        before = model._database._version, model._database._written
        real(version, state, notes, changes)
        model._database._version, model._database._written = before
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(model._database, "commit", commit)
    with pytest.raises(ServiceError, match="disk I/O error"):
        teach(model, ["a", "c", "c"], rng, b"key")
    again = teach(model, ["a", "c", "c"], rng, b"key")
    assert (again.learnt, again.counts) == (0, {"a": 3, "c": 2})
    model.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 600 kB, where the tests may mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("cannot mount a small disk here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize(("learner", "width"), [("paper", 500), ("small", 220)])
def test_a_really_full_disk(small_disk: Path, learner: str, width: int) -> None:
    service = Service(small_disk, encoder="pixels")
    model = service.create("numbers", encoder=None, learner=learner)
    rng = np.random.default_rng(0)
    known: list[str] = []

    def fill() -> None:
        for number in range(100):
            labels = (f"n{number}",) * 2
            model.teach(Learn(rows(labels, rng, width=width), labels)).result()
            known.append(labels[0])

    with pytest.raises(ServiceError) as refusal:
        fill()
    assert refusal.value.status == 507
    assert 3 < len(known) < 90
    assert sorted(line.label for line in model.snapshot.classes) == sorted(known)
    assert model.ask(Question(rows(known[:1], rng, width=width), 1)).result()[0].label == known[0]
    service.close()
    again = Service(small_disk, encoder="pixels")
    assert sorted(line.label for line in again.models["numbers"].snapshot.classes) == sorted(known)
    again.close()


def test_a_disk_that_cannot_be_written_from_the_start(small_disk: Path) -> None:
    service = Service(small_disk, encoder="pixels")
    model = service.create("numbers", encoder=None)
    rng = np.random.default_rng(0)
    model.teach(Learn(rows(["a", "a"], rng), ("a", "a"))).result()
    service.close()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    service = Service(small_disk, encoder="pixels")
    model = service.models["numbers"]
    assert model.ask(Question(rows(["a"], rng), 1)).result()[0].label == "a"
    with pytest.raises(ServiceError, match="cannot be written") as refusal:
        model.teach(Learn(rows(["a"], rng), ("a",))).result()
    assert refusal.value.status == 507
    assert len(model.log(0, 10)) == 1
    assert model.backup()
    with pytest.raises(ServiceError, match="could not be written"):
        service.create("other", encoder=None)
    service.close()


def taught_folder(tmp_path: Path) -> tuple[Path, Path]:
    service = Service(tmp_path / "data", encoder="pixels")
    rng = np.random.default_rng(0)
    for name in ("good", "ill"):
        model = service.create(name, encoder=None)
        for labels in (["a", "b"] * 2, ["a", "c", "c"]):
            teach(model, labels, rng, os.urandom(8))
    service.close()
    return tmp_path / "data", tmp_path / "data" / "models" / "ill.sqlite"


def test_flipped_bytes_are_found_and_named(tmp_path: Path) -> None:
    folder, path = taught_folder(tmp_path)
    whole = path.read_bytes()
    healthy = ServedModel(path, Limits(), ServiceMetrics())
    expected, log = healthy.state(), healthy.log(0, 100)
    healthy.close()
    rng = np.random.default_rng(0)
    detected = 0
    used = np.flatnonzero(np.frombuffer(whole, dtype=np.uint8))
    for position in [*rng.integers(0, len(whole), size=20).tolist(), *rng.choice(used, size=50).tolist()]:
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 0x41]) + whole[position + 1 :])
        findings = {finding.name: finding for finding in examine(folder)}
        assert findings["good.sqlite"].well
        if not findings["ill.sqlite"].well:
            assert findings["ill.sqlite"].sentence
            detected += 1
            continue
        # What is not noticed must not matter: unused space, or a hint of SQLite's.
        opened = ServedModel(path, Limits(), ServiceMetrics())
        state, wanted = opened.state().learner.state(), expected.learner.state()
        assert all(np.array_equal(state[name], wanted[name]) for name in wanted)
        assert opened.state().classes == expected.classes
        assert opened.log(0, 100) == log
        opened.close()
    assert detected > 25


@pytest.mark.parametrize("harm", ["cut", "empty", "foreign", "newer", "swapped"])
def test_a_damaged_model_is_named_and_the_others_are_served(tmp_path: Path, harm: str) -> None:
    folder, path = taught_folder(tmp_path)
    data = path.read_bytes()
    if harm == "newer":
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA user_version = 99")
        connection.close()
    else:
        other = (folder / "models" / "good.sqlite").read_bytes()
        path.write_bytes({"cut": data[:9000], "empty": b"", "foreign": b"x" * 5000, "swapped": other}[harm])
    service = Service(folder, encoder="pixels")
    assert list(service.models) == ["good"]
    assert list(service.damaged) == ["ill"]
    with pytest.raises(ServiceError, match="backup") as refusal:
        service.model("ill")
    assert refusal.value.status == 503
    service.delete("ill")
    assert not path.exists()
    service.close()


def test_a_deleted_file_is_zeros_on_the_disk_before_its_name_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service(tmp_path)
    model = service.create("gone", encoder=None)
    teach(model, ["a", "b"] * 2, np.random.default_rng(0))
    synced: list[int] = []
    at_unlink: list[tuple[bool, bool]] = []
    fsync, unlink = os.fsync, Path.unlink

    def watched_sync(file: int) -> None:
        fsync(file)
        synced.append(os.fstat(file).st_ino)

    def watched_unlink(path: Path, missing_ok: bool = False) -> None:
        at_unlink.append((path.stat().st_ino in synced, not any(path.read_bytes())))
        unlink(path, missing_ok)

    monkeypatch.setattr(os, "fsync", watched_sync)
    monkeypatch.setattr(Path, "unlink", watched_unlink)
    service.delete("gone")
    monkeypatch.undo()
    assert at_unlink
    assert set(at_unlink) == {(True, True)}
    service.close()


def test_leftovers_of_a_crash_are_removed(tmp_path: Path) -> None:
    folder, path = taught_folder(tmp_path)
    shutil.copy(path, path.with_name(".half.new"))
    shutil.copy(path, path.with_name(".old.gone"))
    assert sum(not finding.well for finding in examine(folder)) == 2
    Service(folder, encoder="pixels").close()
    assert all(finding.well for finding in examine(folder))


def test_a_second_service_is_refused(tmp_path: Path) -> None:
    service = Service(tmp_path, encoder="pixels")
    with pytest.raises(ValueError, match="another service uses the folder"):
        Service(tmp_path, encoder="pixels")
    service.close()


def test_backup_while_it_is_taught(tmp_path: Path) -> None:
    service = Service(tmp_path / "data", encoder="pixels")
    model = service.create("numbers", encoder=None)
    rng = np.random.default_rng(0)
    teach(model, ["a", "a"], rng)
    waiting = [model.teach(Learn(rows(["a"], rng), ("a",))) for _ in range(20)]
    (copy,) = back_up(tmp_path / "data", tmp_path / "copies")
    assert [request.result().counts.keys() for request in waiting] == [{"a"}] * 20
    service.close()
    (tmp_path / "restored" / "models").mkdir(parents=True)
    shutil.copy(copy, tmp_path / "restored" / "models" / "numbers.sqlite")
    restored = Service(tmp_path / "restored", encoder="pixels")
    (line,) = restored.models["numbers"].snapshot.classes
    assert 2 <= line.count <= 22
    restored.close()


def test_a_copy_of_a_crashed_model_can_be_examined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = new_model(tmp_path)
    monkeypatch.setattr(model._database, "sweep", lambda: True)
    teach(model, ["a", "a"], np.random.default_rng(0))
    (tmp_path / "copy" / "models").mkdir(parents=True)
    for name in ("tested.sqlite", "tested.sqlite-wal"):  # as `cp` would, without SQLite's shared memory
        shutil.copy(tmp_path / name, tmp_path / "copy" / "models" / name)
    model.close()
    finding = next(iter(examine(tmp_path / "copy")))
    assert finding.well
    assert "1 classes, 2 samples" in finding.sentence
