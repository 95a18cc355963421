"""`make bench` goes on where a part fails, and keeps what it knew of that part."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).parents[2] / "benchmarks" / "bench.py"
WORKS = "import json, sys; open(sys.argv[-1], 'w').write(json.dumps([{'figure': 2}]))"


def test_a_part_that_fails_keeps_its_figures_and_holds_up_nobody(tmp_path: Path) -> None:
    for name, source in (
        ("bench", BENCH.read_text()),
        ("start_up", "raise SystemExit(3)"),
        ("encoder", WORKS),
    ):
        (tmp_path / f"{name}.py").write_text(source)
    record = tmp_path / "record.json"
    record.write_text(json.dumps({"parts": {"start_up": {"figures": [{"figure": 1}]}}}))
    command = [sys.executable, str(tmp_path / "bench.py"), "--record", str(record)]
    done = subprocess.run(
        [*command, "--only", "start_up", "encoder"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "start_up: it ended with exit code 3" in done.stderr
    parts = json.loads(record.read_text())["parts"]
    assert parts["start_up"]["figures"] == [{"figure": 1}]
    assert parts["encoder"]["figures"] == [{"figure": 2}]
    assert parts["encoder"]["quick"] is False
