"""What learning takes beyond one machine: a cost model, rates of one core, and a small simulation of a cluster.

    python benchmarks/scaling.py [--write] [--record FILE] [--measure] [--rates FILE]

Takes what one core does (an image encoded, a row learnt, a system solved, a row answered) from the record of `make
bench`, and measures what that lacks: merging two statistics, and parts without figures. Computes what a load takes
in processor time, bytes and network, and plays the parts of it on a simulated cluster whose workers differ in speed
and die. `--write` puts rates and tables into docs/scaling.md; `--measure` leaves the record aside; `--rates` names
a JSON file of rates that were measured before, which come first. Some seconds where merging alone is measured.
Processor time is counted, so that other programs do not count; but they share caches and memory with this one, and
rates of a busy machine are too low.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from i2cansay.learners import make_learner
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.parts import absorb, begin_part

PAGE = Path(__file__).parents[1] / "docs" / "scaling.md"
MARKED = "<!-- {0}: written by benchmarks/scaling.py -->\n{1}\n<!-- end of {0} -->"
DAY, HOUR = 86400.0, 3600.0
# Assumed, not measured: a network of 10 Gbit/s at each machine, and machines of 32 cores.
NETWORK = 1.25e9
CORES = 32


@dataclass(frozen=True)
class Rates:
    """What one core of a machine does in a second.

    Attributes
    ----------
    encoded : images of 224 px by efficientnet-lite0; by the record from bytes of JPEG files of 640 x 427.
    learnt, solved, scored : floating-point operations in double precision: statistics of rows, the closed form,
        scores.
    merged : bytes of statistics.
    """

    encoded: float
    learnt: float
    solved: float
    scored: float
    merged: float


@dataclass(frozen=True)
class Load:
    """Images of so many classes to be learnt, as features of `width` dimensions, in so many parts."""

    images: float
    classes: float
    width: int
    parts: int
    image_bytes: float = 1e5

    @property
    def state_bytes(self) -> float:
        """Half a symmetric matrix and a mean for each class, in double precision."""
        return 4.0 * self.width * (self.width + 1) + 8.0 * self.classes * (self.width + 1)

    def merged_bytes(self, level: int) -> float:
        """Return the same of 2 ** level parts together, which know no more classes than they have images."""
        return replace(self, classes=min(self.classes, self.images / self.parts * 2**level)).state_bytes

    def levels(self) -> list[tuple[int, float]]:
        """Return for each level of the tree how many merges it has, and the bytes that each of them takes in."""
        found: list[tuple[int, float]] = []
        trees = self.parts
        while trees > 1:
            found.append((trees // 2, self.merged_bytes(len(found))))
            trees = -(-trees // 2)
        return found


def costs(load: Load, rates: Rates) -> dict[str, float]:
    """Return what the load takes: processor seconds of each stage, bytes kept, bytes sent.

    Examples
    --------
    >>> found = costs(Load(1e6, 1000, 1000, 10), Rates(50, 1e10, 1e10, 1e10, 1e9))
    >>> found["encode"], found["learn"]
    (20000.0, 100.0)
    """
    width, classes = load.width, load.classes
    taken_in = sum(merges * size for merges, size in load.levels())
    return {
        "encode": load.images / rates.encoded,
        "learn": load.images * width**2 / rates.learnt,  # half of the products of a row with itself
        "merge": taken_in / rates.merged,
        "solve": (width**3 / 3 + 2 * width**2 * classes) / rates.solved,
        "answer": 2 * width * classes / rates.scored,  # of one image
        "store bytes": 2.0 * load.images * width,
        "state bytes": load.state_bytes,
        "image bytes sent": load.images * load.image_bytes,
        "state bytes sent": taken_in,
    }


@dataclass(frozen=True)
class Cluster:
    """Workers of one core each, that differ in speed and die.

    Attributes
    ----------
    spread : standard deviation of the logarithm of the time that a part takes.
    deaths : of a worker, per hour; the part it has in hand is begun anew, by it or another, after `restart` seconds.
    """

    workers: int
    spread: float = 0.2
    deaths: float = 1e-3
    restart: float = 120.0


def simulate(
    part_seconds: float, parts: int, merges: Sequence[tuple[int, float]], cluster: Cluster, seed: int = 0
) -> float:
    """Return the seconds until all parts are learnt and merged as a tree.

    A worker takes the next part when it is free. Merges of one level of the tree run side by side, one level after
    the other, once all parts are there; in truth the first ones run earlier.

    Parameters
    ----------
    merges : for each level of the tree, how many there are and the seconds that each takes.

    Examples
    --------
    >>> simulate(10.0, 8, [(4, 1.0), (2, 1.0), (1, 5.0)], Cluster(4, spread=0.0, deaths=0.0))
    27.0
    """
    rng = np.random.default_rng(seed)
    free = [0.0] * min(cluster.workers, parts)
    finished, left = 0.0, parts
    while left:
        now = heapq.heappop(free)
        seconds = part_seconds * math.exp(cluster.spread * rng.standard_normal())
        dies = rng.exponential(HOUR / cluster.deaths) if cluster.deaths else math.inf
        if dies < seconds:
            heapq.heappush(free, now + dies + cluster.restart)
            continue
        left -= 1
        finished = max(finished, now + seconds)
        heapq.heappush(free, now + seconds)
    return finished + sum(seconds * -(-n // cluster.workers) for n, seconds in merges)


# -- rates ----------------------------------------------------------------------------------------------------

RECORD = Path(__file__).parent / "records" / "performance.json"


def recorded(parts: dict[str, Any]) -> dict[str, float]:
    """Return the rates that a record of `make bench` has, in the shapes nearest to those of a large load.

    Encoding: the pipeline on JPEG files, all cores at work. Learning: batches of 50 in closed form at the largest
    width. Solving: anew at the largest width, or with the most classes, whichever is slower. Scoring: 1,000 rows in
    closed form with the most classes.
    """
    figures = {name: part["figures"] for name, part in parts.items() if "figures" in part}
    found: dict[str, float] = {}
    for row in figures.get("encoder", []):
        if row["images"].startswith("JPEG"):
            found["encoded"] = 1 / (row["pipeline"] * row["threads"])
    if "growth" in figures:
        row = max(figures["growth"]["width"], key=lambda row: row["d"])
        found["learnt"] = 50 * row["d"] ** 2 / row["seconds"]["closed form"]
    solved = [
        _solving(row["d"], row["c"]) / (row["first top"] - row["top"])
        for row in figures.get("class_scale", [])
        if row["estimator"] == "closed form" and row["c"] == max(each["c"] for each in figures["class_scale"])
    ]
    if "answer_time" in figures:
        row = max(figures["answer_time"], key=lambda row: row["d"])
        solved.append(_solving(row["d"], row["c"]) / row["anew"])
    if solved:
        found["solved"] = min(solved)
    if "learner" in figures:
        row = max(figures["learner"]["predicting"], key=lambda row: row["c"])
        found["scored"] = 2 * row["rows"] * row["d"] * row["c"] / row["seconds"]["closed form"]
    return found


def _solving(width: int, classes: int) -> float:
    """Return the operations of solving once."""
    return float(width**3 / 3 + 2 * width**2 * classes)


def rates_of(known: dict[str, float], *, width: int = 1024, classes: int = 200, images: int = 24) -> Rates:
    """Return all rates, measuring those that are not known: what one core does here, the best of three."""
    found = dict(known)
    names = {field.name for field in fields(Rates)}
    if "encoded" not in found:
        with threadpool_limits(1):
            found["encoded"] = _encoding_rate(images)
    if names - found.keys():
        found = _measured(width, classes) | found
    return Rates(**found)


def _measured(width: int, classes: int) -> dict[str, float]:
    """Return the rates of learning, merging, solving and scoring of this machine."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4 * width, width))
    y = np.arange(len(X)) % classes
    with threadpool_limits(1):
        learners = [begin_part(make_learner("best", random_state=0), X[:64]) for _ in range(4)]
        learnt = min(_seconds(partial(absorb, one, X, y)) for one in learners[:3])
        absorb(learners[3], X, y)
        size = 4.0 * width * (width + 1) + 8.0 * classes * width
        merged = min(_seconds(partial(_merge, learners[0], learners[3])) for _ in range(3))
        solved = min(_seconds(partial(one.class_scores, X[:1])) for one in learners[1:])
        scored = min(_seconds(lambda: learners[1].class_scores(X)) for _ in range(3))
    return {
        "learnt": len(X) * width**2 / learnt,
        "solved": _solving(width, classes) / solved,
        "scored": 2 * len(X) * width * classes / scored,
        "merged": size / merged,
    }


def _merge(one: OnlineClassifier, other: OnlineClassifier) -> object:
    return one.merge(other)


def _encoding_rate(n: int) -> float:
    from i2cansay.encoders import get_encoder

    images = np.random.default_rng(0).integers(0, 256, (n, 256, 256, 3), dtype=np.uint8)
    encoder = get_encoder("efficientnet-lite0", threads=1)
    encoder.encode(images[:2])
    return n / min(_seconds(lambda: encoder.encode(images)) for _ in range(2))


def _seconds(call: Callable[[], object]) -> float:
    start = process_time()
    call()
    return process_time() - start


# -- the page -------------------------------------------------------------------------------------------------

LOADS = (
    ("a clinic", Load(1e5, 20, 4256, 8)),
    ("ImageNet", Load(1.28e6, 1000, 4256, 64)),
    ("a hundred million", Load(1e8, 1e4, 4256, 1024)),
    ("a billion", Load(1e9, 1e6, 4256, 8192)),
    ("a billion, `small`", Load(1e9, 1e6, 1536, 8192)),
)
WORKERS = (32, 1024, 8192)


def tables(rates: Rates) -> str:
    """Return the cost of every load, and the simulated hours on clusters of several sizes, in Markdown."""
    lines = [
        "| load | images | classes | D | encode, core-days | learn, core-days | merge, core-hours | "
        "solve, core-hours | answer, core-s per image | features, TB | state, GB | sent in merges, TB |",
        "|" + "---|" * 12,
    ]
    for name, load in LOADS:
        found = costs(load, rates)
        cells = [
            name,
            f"{load.images:,.0f}",
            f"{load.classes:,.0f}",
            str(load.width),
            *(_short(found[stage] / DAY) for stage in ("encode", "learn")),
            *(_short(found[stage] / HOUR) for stage in ("merge", "solve")),
            _short(found["answer"]),
            _short(found["store bytes"] / 1e12),
            _short(found["state bytes"] / 1e9),
            _short(found["state bytes sent"] / 1e12),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", *_simulated(rates)])


def _simulated(rates: Rates) -> Sequence[str]:
    lines = [
        "| load | " + " | ".join(f"{workers:,} cores" for workers in WORKERS) + " |",
        "|" + "---|" * (len(WORKERS) + 1),
    ]
    for name, load in LOADS:
        found = costs(load, rates)
        part = (found["encode"] + found["learn"]) / load.parts
        merges = [(n, size / rates.merged + size / NETWORK) for n, size in load.levels()]
        hours = [
            (simulate(part, load.parts, merges, Cluster(workers)) + found["solve"] / CORES) / HOUR
            for workers in WORKERS
        ]
        lines.append(f"| {name} | " + " | ".join(_short(each) for each in hours) + " |")
    return lines


def _short(value: float) -> str:
    """Return a figure of two digits that matter.

    Examples
    --------
    >>> _short(0.01234), _short(12345.6), _short(2.0)
    ('0.012', '12,000', '2')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    digits = 1 - math.floor(math.log10(abs(value)))
    text = f"{round(value, digits):,.{max(digits, 0)}f}"
    return text.rstrip("0").rstrip(".") if digits > 0 else text


def written(page: str, name: str, content: str) -> str:
    """Return a page with the part between the marks of `name` replaced."""
    pattern = re.escape(MARKED.format(name, "\0")).replace(re.escape("\0"), ".*?")
    found, count = re.subn(pattern, lambda _: MARKED.format(name, content), page, flags=re.DOTALL)
    if count != 1:
        raise ValueError(f"expected the marks of {name!r} once, found them {count} times")
    return found


def told(rates: Rates, recorded: Sequence[str], taken: Sequence[str]) -> str:
    """Return the rates in words, and which of them are those of the record, taken on which days."""
    lines = [
        f"One core: {rates.encoded:.0f} images/s encoded; {rates.learnt / 1e9:.1f}, {rates.solved / 1e9:.1f} and "
        f"{rates.scored / 1e9:.1f} GFLOP/s at learning, solving and scoring; {rates.merged / 1e9:.2f} GB/s at "
        "merging."
    ]
    words = {"encoded": "encoding", "learnt": "learning", "solved": "solving", "scored": "scoring"}
    measured = [word for name, word in (words | {"merged": "merging"}).items() if name not in recorded]
    if named := [words[name] for name in recorded]:
        days = " and ".join(sorted(set(taken)))
        lines.append(
            f"Of these, {', '.join(named)} follow from the record of `make bench` of {days} "
            "([performance.md](performance.md)); encoding begins with the bytes of a JPEG file and has all cores at "
            "work."
        )
    lines.append(f"Measured by this script: {', '.join(measured)}.")
    return "\n".join(lines)


SOURCES = {"encoded": "encoder", "learnt": "growth", "solved": "class_scale", "scored": "learner"}


def main() -> None:
    """Take or measure rates, print the tables, and write them where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--record", type=Path, default=RECORD)
    parser.add_argument("--measure", action="store_true", help="measure all rates, do not read the record")
    parser.add_argument("--rates", type=Path, help="JSON of rates measured before, some or all")
    options = parser.parse_args()
    before = json.loads(options.rates.read_text()) if options.rates else {}
    parts = {} if options.measure else json.loads(options.record.read_text())["parts"]
    kept = {name: rate for name, rate in recorded(parts).items() if name not in before}
    rates = rates_of(kept | before)
    words = told(
        rates, list(kept), [parts[SOURCES[name]]["taken"] for name in kept if SOURCES[name] in parts]
    )
    made = tables(rates)
    print(json.dumps(asdict(rates)), words, made, sep="\n\n")
    if options.write:
        page = written(PAGE.read_text(encoding="utf-8"), "rates", words)
        PAGE.write_text(written(page, "tables", made), encoding="utf-8")


if __name__ == "__main__":
    main()
