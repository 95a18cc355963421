"""Tests on a real cluster: they are skipped where Ray is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.two_nodes import TwoNodes


@pytest.fixture(scope="session")
def nodes() -> Iterator[TwoNodes]:
    started = TwoNodes()
    yield started
    started.close()


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path / "cache"))


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Mark all of it, and skip it where Ray is missing; Ray warns of its own code."""
    missing = pytest.mark.skip(reason="needs the extra [ray]; run by `make test-ray`")
    for item in items:
        if "tests/cluster" in item.path.as_posix():
            item.add_marker(pytest.mark.ray)
            if find_spec("ray") is None:
                item.add_marker(missing)
            item.add_marker(pytest.mark.filterwarnings("default"))
