"""The rows of the table of encoders are those that its command plays."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from encoder_accuracy import ENCODERS, RECORDS, SETTINGS


def test_the_command_repeats_every_row_of_the_table() -> None:
    recorded = [json.loads(line)["run"] for line in RECORDS.read_text().splitlines()]
    played = {f"{encoder}, {setting.dataset}" for encoder in ENCODERS for setting in SETTINGS}
    timed = {f"{encoder}, speed" for encoder in ENCODERS}
    assert set(recorded) == played | timed
