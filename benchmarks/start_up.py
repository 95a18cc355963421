"""Processor time until the command line answers: help, a version, a wrong path, a shell that completes a word.

python benchmarks/start_up.py [--rounds N] [--json FILE]

Processor time of the process, not the clock: other work on the machine hardly changes it.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

TURNS: dict[str, tuple[list[str], float]] = {
    "--help": (["--help"], 0.3),
    "--version": (["--version"], 0.3),
    "learn --help": (["learn", "--help"], 0.3),
    "learn MODEL nowhere": (["learn", "model.i2cs", "nowhere"], 0.5),
    "predict nowhere IMAGE": (["predict", "nowhere.i2cs", "image.png"], 0.5),
    "test nowhere FOLDER": (["test", "nowhere.i2cs", "folder"], 0.5),
    "run nowhere": (["run", "nowhere.npz", "--test", "nowhere.npz"], 0.5),
    "demo --data nowhere": (["demo", "--data", "nowhere"], 0.5),
    "verify nowhere": (["verify", "nowhere"], 0.5),
}
COMPLETION = {"_I2CANSAY_COMPLETE": "complete_bash", "COMP_WORDS": "i2cansay le", "COMP_CWORD": "1"}


def seconds(words: list[str], folder: str, more: dict[str, str]) -> float:
    """Return the processor time of one call, in the process and in the system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "i2cansay", *words]
    subprocess.run(command, capture_output=True, check=False, cwd=folder, env={**os.environ, **more})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    """Let all calls take turns, and print the median of each beside what it should stay below."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="times that each is called")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    asked = parser.parse_args()
    rounds = asked.rounds
    calls = {name: (words, limit, dict[str, str]()) for name, (words, limit) in TURNS.items()}
    calls["completing a word"] = ([], 0.3, COMPLETION)
    times: dict[str, list[float]] = {name: [] for name in calls}
    with TemporaryDirectory() as folder:
        for _ in range(rounds):
            for name, (words, _limit, more) in calls.items():
                times[name].append(seconds(words, folder, more))
    print("| i2cansay | processor time, s | aim, s |\n|---|---|---|")
    found = []
    for name, (_words, limit, _more) in calls.items():
        found.append({"call": name, "seconds": statistics.median(times[name]), "aim": limit})
        print(f"| `{name}` | {found[-1]['seconds']:.2f} | {limit} |")
    if asked.json:
        asked.json.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
