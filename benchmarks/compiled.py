"""What compiled loops would bring to a step of I2CANSAY: moments and pseudo-features by numba beside numpy's.

    pip install numba && python benchmarks/compiled.py [--quick] [--json FILE]

The two parts that are passes over memory, not products: the running moments of a batch (Eq. 1-2) and its
pseudo-features (Eq. 3-4). Each takes its turn in numpy, as the learner does it, and in one compiled loop. The
results must agree to rounding. Medians of processor time, one thread; "floor" are the two products of a step.
"""

import argparse
import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from time import thread_time
from typing import Any

import numpy as np
from interleaved import interleaved
from threadpoolctl import threadpool_limits

from i2cansay.core.linalg.blas import add_outer, inner
from i2cansay.core.paper.ican import pseudo_features
from i2cansay.core.paper.moments import ClassMoments

BATCH, ALPHA = 50, 1e-8


def compiled_loops() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the two loops, compiled."""
    compiled = import_module("numba").njit(cache=False, error_model="numpy")

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


def measure(d: int, c: int, rounds: int) -> dict[str, float]:
    """Return median seconds of each part by numpy and by numba, and of the two products."""
    rng = np.random.default_rng(0)
    fast_moments, fast_pseudo = compiled_loops()
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
    W, rows = np.zeros((c, d), dtype=np.float32), np.ones((2 * BATCH, d), dtype=np.float32)
    error = np.full((2 * BATCH, c), 1e-3, dtype=np.float32)

    def floor() -> None:
        inner(rows, W)
        add_outer(W, error, rows, scale=-1e-6)

    return interleaved(
        {
            "moments numpy": lambda: ours.add(X, y),
            "moments numba": by_numba,
            "pseudo numpy": lambda: pseudo_features(
                "ican", X, classes=y, old=old, moments=ours, rng=rng, alpha=ALPHA
            ),
            "pseudo numba": pseudo_by_numba,
            "floor": floor,
        },
        rounds=rounds,
        clock=thread_time,
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few rounds, to see that it runs")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    asked = parser.parse_args()
    figures = []
    with threadpool_limits(1):
        for d, c in ((1280, 100), (1280, 1000), (2048, 100)):
            seconds = measure(d, c, 10 if asked.quick else 300)
            parts = ", ".join(f"{name} {1e6 * value:.0f} µs" for name, value in seconds.items())
            slow = seconds["moments numpy"] + seconds["pseudo numpy"]
            fast = seconds["moments numba"] + seconds["pseudo numba"]
            saved = (slow - fast) / seconds["floor"]
            print(f"- D {d}, C {c}: {parts}; numba saves {saved:.2f} of the floor", flush=True)
            figures.append({"d": d, "c": c, **seconds})
    if asked.json:
        asked.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
