"""Damaged files: no crash, no hang, bounded memory. In a process of its own, which a decoder may bring down."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# An image at the limit of 2^26 pixels takes 0.3 GB to decode, as WebP 1 GB, and one is decoded at a time.
MOST_MEGABYTES = 1200


@pytest.mark.skipif(sys.platform == "win32", reason="peak memory is read through the module resource")
@pytest.mark.parametrize(("count", "seed"), [(500, 0), pytest.param(8_000, 1, marks=pytest.mark.slow)])
def test_damaged_files_get_an_answer_or_a_reason(count: int, seed: int) -> None:
    command = [sys.executable, "-m", "tests.image_learner.fuzz", str(count), str(seed)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert sum(told["asked"].values()) >= count
    # Of each format some are still images and some are not: the damage is neither too little nor too much.
    assert all(0 < told["answered"][kind] < told["asked"][kind] for kind in ("GIF", "JPEG", "PNG", "WEBP"))
    assert told["slowest call, CPU s"] < 10
    assert told["peak memory, MB"] - told["memory before, MB"] < MOST_MEGABYTES
