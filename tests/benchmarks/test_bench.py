"""`make bench` goes on where a part fails, and keeps what it knew of that part."""

from __future__ import annotations

import json
import subprocess
import sys
import time
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
    before = {"cores": 99}
    record.write_text(json.dumps({"machine": before, "parts": {"start_up": {"figures": [{"figure": 1}]}}}))
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
    assert parts["start_up"]["problem"] == "it ended with exit code 3"
    assert "problem" not in parts["encoder"]
    # Old figures stay those of the machine that they were taken on.
    assert parts["start_up"]["machine"] == before
    assert parts["encoder"]["machine"]["cores"] != before["cores"]


def test_a_part_beyond_its_budget_is_ended_with_what_it_started_and_leaves_its_problem(
    tmp_path: Path,
) -> None:
    alive = tmp_path / "alive"
    child = f"import time; time.sleep(3); open({str(alive)!r}, 'w')"
    waits = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    (tmp_path / "bench.py").write_text(BENCH.read_text())
    (tmp_path / "start_up.py").write_text(waits)
    record = tmp_path / "record.json"
    command = [sys.executable, str(tmp_path / "bench.py"), "--record", str(record), "--only", "start_up"]
    assert subprocess.run([*command, "--patience", "0.02"], capture_output=True, check=False).returncode == 1
    assert json.loads(record.read_text())["parts"] == {"start_up": {"problem": "it took longer than 1 s"}}
    time.sleep(3.5)
    assert not alive.exists()
