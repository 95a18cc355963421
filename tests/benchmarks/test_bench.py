"""`make bench` goes on where a part fails, and keeps what it knew of that part."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import bench

from i2cansay.experiments.run.playing import commit

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
    assert parts["encoder"]["run"][:2] == "20"
    assert parts["encoder"]["commit"] == commit()
    assert not {"run", "commit"} & parts["start_up"].keys()
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


def test_only_what_is_not_of_the_bench_counts_as_others(monkeypatch: pytest.MonkeyPatch) -> None:
    busy, own = iter([100.0, 107.0]), iter([10.0, 14.0])
    clock = iter([0.0, 2.0])
    monkeypatch.setattr(bench, "_busy_seconds", lambda: next(busy))
    monkeypatch.setattr(bench, "_own_seconds", lambda: next(own))
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    assert bench.Others().cores() == 1.5


def test_busy_time_is_all_but_idle_and_waiting(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu  100 20 30 4000 500 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n")
    assert bench._busy_seconds(stat) == (100 + 20 + 30 + 6 + 7 + 8) / os.sysconf("SC_CLK_TCK")
    assert bench._busy_seconds(tmp_path / "nowhere") is None
