"""Run every comparison of speed, one after the other, and keep the figures as one record.

    python benchmarks/bench.py [--quick] [--only PART ...] [--record FILE] [--patience FACTOR]

Each part is a script beside this one that writes its figures as JSON, in a process of its own. A part that fails or
takes longer than its budget does not hold up the others: the record says so, and keeps what it knew of that part
before. Each part has the machine and the versions that its own figures are of, and the time at which its run began:
parts with the same time are of one run. It also has the commit of the tree as the run began, with "-dirty" after it
where there were uncommitted changes; a record that an earlier run has changed is one.
`tools/performance_page.py` makes docs/performance.md from the record; `make bench` does both. For figures that are
worth keeping the machine should have nothing else to do. The record says how busy it was: the load as the run began,
and for each part how many cores were busy with what is not of the bench. Budgets are those of two idle cores, some
fourteen minutes in all; a slower machine needs `--patience`.
"""

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from i2cansay.experiments.run.playing import commit

HERE = Path(__file__).parent
RECORD = HERE / "records" / "performance.json"
# Arguments of each part, in full and for a quick look.
PARTS: dict[str, tuple[list[str], list[str]]] = {
    "start_up": (["--rounds", "3"], ["--rounds", "1"]),
    "answer_time": ([], ["--quick", "--widths", "512"]),
    "learner": ([], ["--quick"]),
    "growth": ([], ["--quick"]),
    "class_scale": ([], ["--quick"]),
    "encoder": (["--images", "64", "--rounds", "4"], ["--images", "16", "--rounds", "1"]),
    "service": (["--rounds", "3", "--seconds", "1.0"], ["--rounds", "1", "--seconds", "0.3"]),
    "compiled": ([], ["--quick"]),
}
NEEDS = {"compiled": "numba"}
# Seconds that each part may take.
BUDGETS: dict[str, float] = {
    "start_up": 40,
    "answer_time": 90,
    "learner": 240,
    "growth": 620,
    "class_scale": 320,
    "encoder": 60,
    "service": 90,
    "compiled": 40,
}
# Seconds of all parts: a part that begins late gets what is left.
ALTOGETHER = 1150.0
PACKAGES = ("numpy", "scipy", "scikit-learn", "onnxruntime", "torch", "river", "numba")


def run(part: str, arguments: list[str], budget: float) -> tuple[Any, str | None]:
    """Run one part; return its figures, or None and why there are none."""
    if (needed := NEEDS.get(part)) is not None and find_spec(needed) is None:
        return None, f"{needed} is not installed"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures.json"
        command = [sys.executable, str(HERE / f"{part}.py"), *arguments, "--json", str(file)]
        try:
            _run_group(command, budget)
            return json.loads(file.read_text()), None
        except subprocess.TimeoutExpired:
            return None, f"it took longer than {budget:.0f} s"
        except subprocess.CalledProcessError as failed:
            return None, f"it ended with exit code {failed.returncode}"
        except (OSError, ValueError) as problem:
            return None, f"it wrote no figures: {type(problem).__name__}"


def _run_group(command: list[str], budget: float) -> None:
    """Run a command, and end it with all that it has started where it takes longer than `budget` seconds."""
    with subprocess.Popen(command, start_new_session=True) as process:
        try:
            code = process.wait(budget)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    if code:
        raise subprocess.CalledProcessError(code, command)


def read_record(file: Path) -> dict[str, Any]:
    """Return a record, empty where there is none; a machine that was kept for all parts goes to each of them."""
    record: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    common = record.pop("machine", None)
    for part in record.setdefault("parts", {}).values():
        if common is not None:
            part.setdefault("machine", common)
    return record


def machine() -> dict[str, Any]:
    """Return what figures depend on: processor, cores, versions."""
    model = platform.processor() or platform.machine()
    description = Path("/proc/cpuinfo")
    if description.exists():
        named = [line for line in description.read_text().splitlines() if line.startswith("model name")]
        model = named[0].split(":")[1].strip() if named else model
    versions = {name: metadata.version(name) for name in PACKAGES if _is_installed(name)}
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": versions,
    }


def _is_installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _load() -> float | None:
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


class Others:
    """Cores that processes which are not of the bench kept busy, from making it to asking it.

    The system counts the processor time of all; that of the bench and of the processes that it has waited for is
    taken off. Load averages would not do: they remember the part before.
    """

    def __init__(self) -> None:
        self._begin = time.perf_counter(), _busy_seconds(), _own_seconds()

    def cores(self) -> float | None:
        """Return how many on average, or None where the system does not say."""
        begin, busy_before, own_before = self._begin
        busy = _busy_seconds()
        if busy is None or busy_before is None:
            return None
        seconds = max(time.perf_counter() - begin, 1e-9)
        return round(max(0.0, busy - busy_before - (_own_seconds() - own_before)) / seconds, 2)


def _busy_seconds(file: Path = Path("/proc/stat")) -> float | None:
    """Return the processor seconds of all processes since the start: all but idle time and waiting for disks.

    Time of guests is counted as that of users by the system, time that another virtual machine took as stolen.
    """
    if not file.exists():
        return None
    name, *ticks = file.read_text().split("\n", 1)[0].split()
    if name != "cpu" or len(ticks) < 7:
        return None
    user, nice, system, _, _, irq, softirq, *rest = map(int, ticks)
    stolen = rest[0] if rest else 0
    return (user + nice + system + irq + softirq + stolen) / os.sysconf("SC_CLK_TCK")


def _own_seconds() -> float:
    """Return the processor seconds of this process and of those that it, or they, have waited for."""
    return sum(os.times()[:4])


def main() -> int:
    """Run the parts and write the record; the exit code is 1 where one of them has no figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few rounds, to see that everything runs")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS), metavar="PART")
    parser.add_argument("--record", type=Path, default=RECORD)
    parser.add_argument("--patience", type=float, default=1.0, metavar="FACTOR", help="times the budgets")
    asked = parser.parse_args()
    record, missing = read_record(asked.record), []
    end = time.perf_counter() + asked.patience * ALTOGETHER
    started = {
        "run": datetime.now(UTC).isoformat(timespec="seconds"),
        "load at start": _load(),
        "commit": commit(),
    }
    for number, part in enumerate(asked.only, start=1):
        print(f"\n== {number} of {len(asked.only)}: {part}", flush=True)
        begin, others = time.perf_counter(), Others()
        budget = max(0.0, min(asked.patience * BUDGETS[part], end - begin))
        figures, problem = run(part, PARTS[part][asked.quick], budget)
        taken = time.perf_counter() - begin
        if problem is not None:
            print(f"{part}: {problem}", file=sys.stderr, flush=True)
            missing += [part] if part not in NEEDS else []
            record["parts"].setdefault(part, {})["problem"] = problem
        else:
            record["parts"][part] = {
                "figures": figures,
                "machine": machine(),
                "quick": asked.quick,
                "taken": datetime.now(UTC).date().isoformat(),
                "seconds": round(taken, 1),
                "others": others.cores(),
                **started,
            }
        asked.record.parent.mkdir(parents=True, exist_ok=True)
        asked.record.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")
        print(f"{part}: {taken:.0f} s", flush=True)
    if missing:
        print(f"\nwithout figures of this run: {', '.join(missing)}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
