"""Cells that are played on a real cluster leave the records of one machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli.shell import good, refused
from tests.cluster.two_nodes import TwoNodes

# How long it took, and the checksum that covers it; the rest of a record is what was measured.
OF_THE_MOMENT = {"seconds", "learning_seconds", "prediction_seconds", "checksum"}


def measured(value: Any) -> Any:
    """Return a record without what differs from run to run."""
    if isinstance(value, dict):
        return {name: measured(part) for name, part in value.items() if name not in OF_THE_MOMENT}
    return [measured(part) for part in value] if isinstance(value, list) else value


def records(folder: Path) -> dict[str, Any]:
    return {path.name: measured(json.loads(path.read_text())) for path in sorted(folder.rglob("*.json"))}


WORDS = ("reproduce", "table1", "--dataset", "digits", "--seeds", 2, "--rows", "naive", "--rows", "i2cansay")


def test_the_records_are_the_same_also_if_a_node_is_killed(nodes: TwoNodes, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    good(*WORDS, "--records", here, "--jobs", 1)
    expected, seen = records(here), list[int]()

    def begun() -> bool:
        seen.append(len(list(there.rglob("*.json"))))
        return seen[-1] > 0

    with nodes.second_killed_when(begun) as killed:
        said = good(*WORDS, "--records", there, "--engine", "ray", "--address", nodes.address)
    assert killed
    assert 0 < seen[-1] < len(expected), "the node was not killed in the middle"
    assert records(there) == expected
    assert "Naive" in said


def test_jobs_are_of_this_machine() -> None:
    assert "--jobs" in refused("reproduce", "table1", "--engine", "ray", "--jobs", 2)


def test_a_plan_needs_the_cluster_that_it_is_for() -> None:
    told = refused("reproduce", "table1", "--plan", "--engine", "ray", "--address", "127.0.0.1:1")
    assert "no Ray cluster at 127.0.0.1:1" in told
