"""Feature stores that were changed, some of them; `benchmarks/attacks/mutated_stores.py` opens thousands."""

from __future__ import annotations

import os

from tests.features.mutated_stores import attack

COUNT = int(os.environ.get("I2CANSAY_MUTATIONS", "60"))


def test_a_changed_store_is_refused_or_makes_sense() -> None:
    found = attack(COUNT, seed=3)
    assert "FAILED" not in found
    assert found["refused"] + found["opened"] == COUNT
    assert found["peak memory, MB"] <= 2 * found["memory before, MB"]
