"""Mutated SQLite and WAL files; `benchmarks/attacks/mutated_databases.py` does the same to thousands."""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks" / "attacks"))

from mutated_databases import case, make, verdict

FILES = int(os.environ.get("I2CANSAY_MUTATED", "64"))


def test_each_is_named_as_damaged_or_holds_a_committed_version(tmp_path: Path) -> None:
    material = make(tmp_path)
    (tmp_path / "data").mkdir()
    told: Counter[str] = Counter()
    for number in range(FILES):
        done, files = case(material, number, seed=1)
        found = verdict(tmp_path / "data", files, material.versions)
        told[found] += 1
        assert not found.startswith("WRONG"), (number, done, found)
    assert told["named as damaged"] > FILES // 10
    assert told["a committed version"] > FILES // 10
