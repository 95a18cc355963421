"""Model files that were changed, a few of each learner; `benchmarks/attacks/mutated_models.py` opens thousands."""

from __future__ import annotations

import os

import pytest

from i2cansay.learners import LEARNERS
from tests.learners.mutated_models import attack

COUNT = int(os.environ.get("I2CANSAY_MUTATIONS", "15"))


@pytest.mark.parametrize("learner", sorted(LEARNERS))
@pytest.mark.filterwarnings("ignore")
def test_a_changed_file_is_refused_or_answers(learner: str) -> None:
    found = attack(COUNT, seed=3, learners=[learner])
    assert "FAILED" not in found
    assert found["refused"] + found.get("answers", 0) == COUNT
    assert found["peak memory, MB"] <= 2 * found["memory before, MB"]
