"""Processor time of the service for a request before a change and after it: two checkouts take turns.

    python benchmarks/service_before_after.py ../before/src src --only "mixed, packed" --rounds 12

32 clients send both the same requests, the cases of `service.py` with features. Other programs make every figure
larger, and those of both sides alike: printed is the median over the rounds of before / after, with its quartiles.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import service

CASES = {case.name: case for case in service.CASES if case.body != "images" and not case.in_memory}
CLIENTS = 32


@contextmanager
def served(source: Path) -> Iterator[service.Served]:
    """Run the service of a checkout with its data in a new folder, below this one."""
    port, here = service.free_port(), Path(__file__).parent
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as data:
        process = subprocess.Popen(
            [sys.executable, "-c", f"import service; service.serve({data!r}, {port})"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(source.resolve()), str(here.resolve())])},
        )
        try:
            yield service.Served(port, process.pid).when_ready()
        finally:
            process.terminate()
            process.wait()


def measure(
    sources: list[Path], cases: list[service.Case], *, rounds: int, seconds: float
) -> dict[str, list[list[float]]]:
    """Return milliseconds of processor time for a request in each round, by case and source."""
    samples = service.feature_samples()
    with ExitStack() as stack:
        running = [stack.enter_context(served(source)) for source in sources]
        sides = {
            case.name: [service.Contest(case, samples, one, CLIENTS) for one in running] for case in cases
        }
        found: dict[str, list[list[float]]] = {case.name: [[] for _ in sources] for case in cases}
        for number in range(-1, rounds):
            for name, contests in sides.items():
                turns = list(zip(contests, found[name], strict=True))
                for contest, times in turns[:: 1 if number % 2 else -1]:
                    _, spent = contest.through_service(seconds if number >= 0 else 0.3)
                    if number >= 0:  # the first requests pay for caches and pages
                        times.append(1000 * spent)
        return found


def main() -> None:
    """Run the cases."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", type=Path, help="the folder src of a checkout")
    parser.add_argument("after", type=Path, help="the folder src of another")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=1.0, help="of one turn")
    parser.add_argument("--only", action="append", choices=list(CASES))
    chosen = parser.parse_args()
    cases = [CASES[name] for name in chosen.only or CASES]
    load = os.getloadavg()[0]
    found = measure([chosen.before, chosen.after], cases, rounds=chosen.rounds, seconds=chosen.seconds)
    print(
        f"{CLIENTS} clients, {os.cpu_count()} cores, load {load:.1f} before and {os.getloadavg()[0]:.1f} after\n"
    )
    print("| case | before / after | ms before | ms after |\n|---|---|---|---|")
    for name, (before, after) in found.items():
        low, middle, high = np.percentile(np.array(before) / np.array(after), [25, 50, 75])
        medians = f"{statistics.median(before):.2f} | {statistics.median(after):.2f}"
        print(f"| {name} | {middle:.2f} ({low:.2f} to {high:.2f}) | {medians} |")


if __name__ == "__main__":
    main()
