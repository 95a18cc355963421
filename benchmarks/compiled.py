"""What compiled loops would bring to a step of I2CANSAY: moments and pseudo-features by numba beside numpy's.

    pip install numba && python benchmarks/compiled.py [--quick] [--json FILE]

The two parts that are passes over memory, not products: the running moments of a batch (Eq. 1-2) and its
pseudo-features (Eq. 3-4). Each takes its turn in numpy, as the learner does it, and in one compiled loop. The
results must agree to rounding. Then the whole step takes its turn, as it is and with both loops put into it; what
the two parts take within a step is timed beside. Medians of processor time, one thread; "floor" are the two products
of a step. Before all that, the seconds from importing numba until both loops have run once, in a new process:
compiled there, and read from numba's cache on the disk.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, thread_time
from typing import Any

import numpy as np
from contenders import BATCH, batches, learn, paper_floor, taught
from interleaved import interleaved
from threadpoolctl import threadpool_limits

from i2cansay import I2CANSAY
from i2cansay.core.paper.ican import draw_sources, draw_targets, pseudo_features
from i2cansay.core.paper.moments import ClassMoments

ALPHA = 1e-8
Loops = tuple[Callable[..., Any], Callable[..., Any]]


def compiled_loops(*, cache: bool = False) -> Loops:
    """Return the two loops, compiled when they are first called."""
    compiled = import_module("numba").njit(cache=cache, error_model="numpy")

    def moments(X: Any, classes: Any, count: Any, mean: Any, m2: Any) -> None:
        for i in range(len(X)):
            c = classes[i]
            if count[c] == 0:
                mean[c] = X[i]
            count[c] += 1
            share = 1 / count[c]
            for j in range(X.shape[1]):
                offset = np.float64(X[i, j]) - mean[c, j]
                mean[c, j] += offset * share
                m2[c, j] += offset * offset * (1 - share)

    def pseudo(  # noqa: PLR0917
        X: Any, classes: Any, old: Any, count: Any, mean: Any, m2: Any, made: Any
    ) -> None:
        for i in range(len(X)):
            y, t = classes[i], old[i]
            of_y, of_t = np.float32(1 / count[y]), np.float32(1 / count[t])
            for j in range(X.shape[1]):
                std_from = np.sqrt(np.float32(m2[y, j]) * of_y) + np.float32(ALPHA)
                std_to = np.sqrt(np.float32(m2[t, j]) * of_t)
                offset = np.float32(np.float64(X[i, j]) - mean[y, j])
                made[i, j] = offset * (std_to / std_from) + np.float32(mean[t, j])

    return compiled(moments), compiled(pseudo)


def with_loops(model: I2CANSAY, loops: Loops) -> I2CANSAY:
    """Return a taught learner whose moments and pseudo-features are made by compiled loops from now on."""
    fast_moments, fast_pseudo = loops
    moments = model._moments

    def add(X: Any, classes: Any, weights: Any = None) -> Any:
        fast_moments(X, classes, moments.count, moments.mean, moments.m2)
        return np.unique(classes)

    def pseudo(X: Any, rows: Any) -> tuple[Any, Any]:
        sources = draw_sources(len(X), model.n_pseudo, model._rng)
        old = draw_targets(model.old_classes, rows, sources, len(moments), model._rng)
        made = np.empty((len(old), X.shape[1]), dtype=np.float32)
        fast_pseudo(X[sources], rows[sources], old, moments.count, moments.mean, moments.m2, made)
        return made, old

    moments.add, model._pseudo_features = add, pseudo  # type: ignore[method-assign]
    return model


def within_a_step(d: int, c: int, rounds: int) -> dict[str, float]:
    """Return median seconds of moments and of pseudo-features within whole steps."""
    model = taught("paper", d, c)
    assert isinstance(model, I2CANSAY)
    found: dict[str, list[float]] = {"moments in a step": [], "pseudo in a step": []}

    def timed(work: Callable[..., Any], name: str) -> Callable[..., Any]:
        def run(*arguments: Any) -> Any:
            begin = thread_time()
            result = work(*arguments)
            found[name].append(thread_time() - begin)
            return result

        return run

    model._moments.add = timed(model._moments.add, "moments in a step")  # type: ignore[method-assign]
    model._pseudo_features = timed(model._pseudo_features, "pseudo in a step")  # type: ignore[method-assign]
    step = learn(model, batches(d, c, BATCH))
    for _ in range(rounds):
        step()
    return {name: float(np.median(seconds)) for name, seconds in found.items()}


def seconds_to_run(folder: str) -> float:
    """Return the seconds until both loops have run in a new process that keeps compiled code in `folder`."""
    command = [sys.executable, __file__, "--run-once"]
    done = subprocess.run(
        command, env=os.environ | {"NUMBA_CACHE_DIR": folder}, check=True, capture_output=True, text=True
    )
    return float(done.stdout)


def run_once() -> float:
    """Import numba, run both loops once on small arrays, return the seconds."""
    X, classes = np.zeros((4, 8), dtype=np.float32), np.array([0, 1, 0, 1])
    count, mean, m2 = np.ones(2), np.ones((2, 8)), np.ones((2, 8))
    begin = perf_counter()
    fast_moments, fast_pseudo = compiled_loops(cache=True)
    fast_moments(X, classes, count, mean, m2)
    fast_pseudo(X, classes, 1 - classes, count, mean, m2, np.empty_like(X))
    return perf_counter() - begin


def measure(d: int, c: int, rounds: int) -> dict[str, float]:
    """Return median seconds of each part and of a step, by numpy and by numba, and of the two products."""
    rng = np.random.default_rng(0)
    fast_moments, fast_pseudo = loops = compiled_loops()
    X, y = rng.random((BATCH, d), dtype=np.float32), rng.integers(0, c, BATCH)
    old = (y + rng.integers(1, c, BATCH)) % c
    ours, theirs = ClassMoments(d), ClassMoments(d)
    for each in (ours, theirs):
        each.resize(c)
        for seed in range(3):
            each.add(np.random.default_rng(seed).random((c, d), dtype=np.float32), np.arange(c))
    made = np.empty_like(X)

    def by_numba() -> None:
        fast_moments(X, y, theirs.count, theirs.mean, theirs.m2)

    def pseudo_by_numba() -> None:
        fast_pseudo(X, y, old, theirs.count, theirs.mean, theirs.m2, made)

    ours.add(X, y)
    by_numba()
    pseudo_by_numba()
    if not np.allclose(ours.m2, theirs.m2, rtol=1e-12) or not np.allclose(
        pseudo_features("ican", X, classes=y, old=old, moments=ours, rng=rng, alpha=ALPHA), made, rtol=1e-5
    ):
        raise SystemExit("the compiled loops do not agree with numpy")
    quick = taught("paper", d, c)
    assert isinstance(quick, I2CANSAY)
    data = batches(d, c, BATCH)
    slow_step, fast_step = learn(taught("paper", d, c), data), learn(with_loops(quick, loops), data)
    fast_step()
    return interleaved(
        {
            "moments numpy": lambda: ours.add(X, y),
            "moments numba": by_numba,
            "pseudo numpy": lambda: pseudo_features(
                "ican", X, classes=y, old=old, moments=ours, rng=rng, alpha=ALPHA
            ),
            "pseudo numba": pseudo_by_numba,
            "step numpy": slow_step,
            "step numba": fast_step,
            "floor": paper_floor(d, c, BATCH),
        },
        rounds=rounds,
        clock=thread_time,
    ) | within_a_step(d, c, rounds)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few rounds, to see that it runs")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--run-once", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.run_once:
        print(run_once())
        return
    with TemporaryDirectory() as folder:
        first = {"seconds to compile": seconds_to_run(folder), "seconds to load": seconds_to_run(folder)}
    print(f"- first run: {', '.join(f'{name} {value:.2f}' for name, value in first.items())}", flush=True)
    figures = []
    with threadpool_limits(1):
        for d, c in ((1280, 100), (1280, 1000), (2048, 100)):
            seconds = measure(d, c, 10 if asked.quick else 300)
            parts = ", ".join(f"{name} {1e6 * value:.0f} µs" for name, value in seconds.items())
            now, then = (seconds[f"step {way}"] / seconds["floor"] for way in ("numpy", "numba"))
            print(f"- D {d}, C {c}: {parts}; a step in floors: {now:.2f}, by numba {then:.2f}", flush=True)
            figures.append({"d": d, "c": c, **seconds, **first})
    if asked.json:
        asked.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
