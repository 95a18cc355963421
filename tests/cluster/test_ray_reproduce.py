"""Cells that are played on a real cluster leave the records of one machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray")

from tests.cli.shell import good
from tests.cluster.conftest import TwoNodes

# How long it took, and the checksum that covers it; the rest of a record is what was measured.
OF_THE_MOMENT = {"seconds", "learning_seconds", "prediction_seconds", "checksum"}


def measured(value: Any) -> Any:
    """Return a record without what differs from run to run."""
    if isinstance(value, dict):
        return {name: measured(part) for name, part in value.items() if name not in OF_THE_MOMENT}
    return [measured(part) for part in value] if isinstance(value, list) else value


def records(folder: Path) -> dict[str, Any]:
    return {path.name: measured(json.loads(path.read_text())) for path in sorted(folder.rglob("*.json"))}


def test_the_records_are_the_same(nodes: TwoNodes, tmp_path: Path) -> None:
    words = (
        "reproduce",
        "table1",
        "--dataset",
        "digits",
        "--seeds",
        1,
        "--rows",
        "naive",
        "--rows",
        "i2cansay",
    )
    here = good(*words, "--records", tmp_path / "here", "--jobs", 1)
    there = good(*words, "--records", tmp_path / "there", "--engine", "ray", "--address", nodes.address)
    assert len(records(tmp_path / "here")) >= 2
    assert records(tmp_path / "there") == records(tmp_path / "here")
    assert there.splitlines()[:-1] == here.splitlines()[:-1]
