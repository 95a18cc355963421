"""How time and memory grow: with classes, dimensions, the size of a batch, and the samples seen.

    python benchmarks/growth.py [--quick] [--json FILE]

Synthetic features, one BLAS thread, medians of processor time. One thing changes, the others stay at D = 1280,
C = 100 and batches of 50. "Samples seen" plays whole streams, with everything that a learner does beside a step:
a million updates of one sample at D = 32, and fifty thousand samples in batches of 50 at D = 1280.
"""

import argparse
import json
import resource
import warnings
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import Any

from contenders import (
    BATCH,
    batches,
    cycle,
    estimator,
    gram_floor,
    learn,
    paper_floor,
    shared_floor,
    taught,
)
from interleaved import interleaved
from threadpoolctl import threadpool_limits

from i2cansay import SharedI2CANSAY

WIDTH, CLASSES = 1280, 100
Figures = list[dict[str, Any]]


def step(d: int, c: int, size: int, rounds: int) -> dict[str, float]:
    """Return seconds of a batch for each estimator, and of the products it cannot avoid."""
    data = batches(d, c, size, n=20)
    models = {kind: taught(kind, d, c) for kind in ("paper", "shared", "closed form")}
    shared = models["shared"]
    assert isinstance(shared, SharedI2CANSAY)
    assert shared._head is not None
    shared._head._due = 2.0**62  # no inverse is made while single steps are timed
    contenders = {name: learn(model, data) for name, model in models.items()}
    contenders |= {
        "paper floor": paper_floor(d, c, size),
        "shared floor": shared_floor(d, c, size),
        "closed form floor": gram_floor(d, size),
    }
    return interleaved(contenders, rounds=rounds, seconds=2.0, clock=process_time, turn=0.01)


def by_classes(rounds: int, *, quick: bool) -> Figures:
    """Return the seconds of a step for more and more classes."""
    values = (10, 100) if quick else (10, 30, 100, 300, 1000)
    return [{"c": c, "seconds": step(WIDTH, c, BATCH, rounds)} for c in values]


def by_width(rounds: int, *, quick: bool) -> Figures:
    """Return the seconds of a step for wider and wider features."""
    values = (128, 512) if quick else (128, 256, 512, 1280, 2048, 3584)
    return [{"d": d, "seconds": step(d, CLASSES, BATCH, rounds)} for d in values]


def by_batch(rounds: int, *, quick: bool) -> Figures:
    """Return the seconds of a step for larger and larger batches."""
    values = (1, 50) if quick else (1, 5, 20, 50, 200, 1000)
    return [{"batch": size, "seconds": step(WIDTH, CLASSES, size, rounds)} for size in values]


def by_samples(*, quick: bool) -> Figures:
    """Return seconds per update and memory as streams go on."""
    share = 100 if quick else 1
    streams = (
        ("paper", 32, 10, 1, 1_000_000 // share),
        ("closed form", 32, 10, 1, 1_000_000 // share),
        ("shared", 32, 10, 1, 1_000_000 // share),
        ("paper", WIDTH, CLASSES, BATCH, 1_000 // share),
        ("shared", WIDTH, CLASSES, BATCH, 1_000 // share),
    )
    return [
        {"estimator": kind, "d": d, "c": c, "batch": size, **window}
        for kind, d, c, size, updates in streams
        for window in stream(kind, d, c, size, updates)
    ]


def stream(kind: str, d: int, c: int, size: int, updates: int) -> Iterator[dict[str, float]]:
    """Play a stream; yield, after each power of ten of its updates, their mean since the one before, and sizes.

    Everything counts in some window, also what happens rarely, as inverses that are made at every doubling.
    """
    model, following = estimator(kind), cycle(batches(d, c, size, n=400))
    ends = sorted({updates // 1000, updates // 100, updates // 10, updates} - {0})
    for since, end in pairwise([0, *ends]):
        begin = process_time()
        for _ in range(end - since):
            model.partial_fit(*following())
        yield {
            "updates": end,
            "since": since,
            "seconds": (process_time() - begin) / (end - since),
            "state bytes": sum(array.nbytes for array in model.state().values()),
            "process MB": _resident_megabytes(),
        }


def _resident_megabytes() -> float:
    """Return what the process holds now, where the system says so; else its peak."""
    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text().split()[1]) * resource.getpagesize() / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def sizes() -> Figures:
    """Return what estimators say that they take, up to a hundred thousand classes, and what their files take."""
    found: Figures = []
    for kind in ("paper", "shared", "closed form"):
        for c in (10, 100, 1000, 10_000, 100_000):
            row: dict[str, Any] = {"estimator": kind, "d": WIDTH, "c": c}
            row["state bytes"] = estimator(kind).state_bytes(WIDTH, c)
            if c <= 1000:
                row["file bytes"] = len(taught(kind, WIDTH, c).to_bytes())
            found.append(row)
    return found


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="few rounds and short streams, to see that it runs"
    )
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rounds = 3 if asked.quick else 20
    found: dict[str, Figures] = {}
    with threadpool_limits(1):
        for name, measure in {
            "classes": lambda: by_classes(rounds, quick=asked.quick),
            "width": lambda: by_width(rounds, quick=asked.quick),
            "batch": lambda: by_batch(rounds, quick=asked.quick),
            "samples": lambda: by_samples(quick=asked.quick),
            "sizes": sizes,
        }.items():
            found[name] = measure()
            for row in found[name]:
                print(name, row, flush=True)
    if asked.json:
        asked.json.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
