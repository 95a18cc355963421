"""Thousands of classes on one machine: seconds to learn, to name the five likeliest, and the peak of memory.

    python benchmarks/class_scale.py [--classes 1000 10000 100000] [--json FILE] [--quick]

Synthetic features of width 1280: one sample of every class and a second one of every fifth, in batches of 200, then
batches of 50 of known classes, then questions of 1,000 rows. "Lesson and top" is a lesson of one sample and a
question of one row after it, because some learners put work off from the lesson to the question. Each estimator
runs in a process of its own, so that the peak is its own. With more than ten thousand classes only the closed form
is measured, whose lessons take the same time for any number of classes, and without "lesson and top": every question
after a lesson solves anew there, as the first top does.
"""

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from contenders import BATCH, estimator
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

WIDTH, AT_ONCE, ASKED, NAMED = 1280, 200, 1000, 5
KINDS = ("paper", "shared", "closed form")
# Up to so many classes every estimator is measured, and every figure.
ALL_UP_TO = 10_000


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time of one call."""
    begin = process_time()
    work()
    return process_time() - begin


def measure(kind: str, c: int) -> dict[str, Any]:
    """Return seconds and memory of one estimator with `c` classes."""
    rng, model = np.random.default_rng(0), estimator(kind)
    centres = rng.random((c, WIDTH), dtype=np.float32)

    def draw(y: NDArray[np.int64]) -> NDArray[np.float32]:
        drawn: NDArray[np.float32] = centres[y] + 0.3 * rng.random((len(y), WIDTH), dtype=np.float32)
        return drawn

    def arrive() -> None:
        for y in np.split(np.arange(c), range(AT_ONCE, c, AT_ONCE)):
            model.partial_fit(draw(y), y)
        again = np.arange(0, c, 5)
        for y in np.split(again, range(AT_ONCE, len(again), AT_ONCE)):
            model.partial_fit(draw(y), y)

    before = _peak()
    found: dict[str, Any] = {"estimator": kind, "c": c, "d": WIDTH, "classes arrive": seconds(arrive)}
    model._calibrate_at = 2**62
    lessons = [rng.integers(0, c, BATCH) for _ in range(4)]
    times = [seconds(lambda y=y: model.partial_fit(draw(y), y)) for y in lessons]  # type: ignore[misc]
    found["batch"] = float(np.median(times))
    X = draw(rng.integers(0, c, ASKED))
    found["first top"] = seconds(lambda: model.top(X, NAMED))
    found["top"] = seconds(lambda: model.top(X, NAMED))

    def lesson_and_top() -> None:
        y = rng.integers(0, c, 1)
        model.partial_fit(draw(y), y)
        model.top(X[:1], NAMED)

    if c <= ALL_UP_TO:
        lesson_and_top()  # the first small lesson after larger ones chooses a ridge, which those after it keep
        found["lesson and top"] = seconds(lesson_and_top)
    found["first verdicts"] = seconds(lambda: model.verdicts(X))
    found["verdicts"] = seconds(lambda: model.verdicts(X))
    found["state bytes"] = model.state_bytes(WIDTH, c)
    found["peak MB"] = _peak() - before  # the centres are there before
    return found


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def main() -> None:
    """Measure each estimator in a process of its own, print, and write where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--classes", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--quick", action="store_true", help="300 classes, to see that it runs")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--one", choices=KINDS, help="only this estimator, in this process")
    asked = parser.parse_args()
    classes = [300] if asked.quick else asked.classes
    if asked.one:
        with threadpool_limits(1):
            print(json.dumps([measure(asked.one, c) for c in classes]))
        return
    found = []
    for c in classes:
        for kind in KINDS if c <= ALL_UP_TO else ("closed form",):
            command = [sys.executable, __file__, "--one", kind, "--classes", str(c)]
            printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            found += json.loads(printed)
            print(found[-1], flush=True)
    if asked.json:
        asked.json.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
