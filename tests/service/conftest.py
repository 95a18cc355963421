"""A service on a free port, in a thread, for tests that go over HTTP."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))  # tests say `from tests.service... import ...`

from tests.service.process import Launcher, Process
from tests.service.running import Running, Starter


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Starter]:
    """Start services; all are stopped when the test ends."""
    starter = Starter(tmp_path / "data")
    yield starter
    starter.stop_all()


@pytest.fixture
def running(start: Starter) -> Running:
    """One service with the usual settings."""
    return start()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One service for many small tests that leave nothing behind."""
    starter = Starter(tmp_path_factory.mktemp("shared") / "data")
    running = starter()
    running.client.create("numbers", encoder=None)
    yield running
    starter.stop_all()


@pytest.fixture(scope="session")
def launcher() -> Iterator[Launcher]:
    """A program that forks services."""
    launcher = Launcher()
    yield launcher
    launcher.close()


@pytest.fixture
def process(launcher: Launcher, tmp_path: Path) -> Iterator[Process]:
    """A service in a process of its own; not started yet."""
    process = Process(launcher, tmp_path / "data")
    yield process
    process.kill()
