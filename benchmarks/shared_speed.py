"""Size and speed of the shared mode against the one product it cannot avoid, the Gram matrix of each batch.

    python benchmarks/shared_speed.py [--quick]

Synthetic features, D = 2048 and 1000 classes unless a line says otherwise, one BLAS thread, no lift. "Product" is
``X.T @ X`` of a batch of 50 in float64; a step between two inverses and the product take turns, and medians are
compared. A stream adds the inverses, which are made anew whenever 30% more samples have passed, or twice as many
while there are fewer samples than dimensions.
"""

import argparse
import tracemalloc
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from interleaved import interleaved
from numpy.typing import NDArray
from scipy.linalg import blas
from threadpoolctl import threadpool_limits

from i2cansay import SharedI2CANSAY
from i2cansay.learners.shared.feature_map import Lift

BATCH = 50
Batch = tuple[NDArray[np.float32], NDArray[np.int64]]


def batches(d: int, c: int, n: int) -> list[Batch]:
    """Return batches of noisy class centres, non-negative as features behind a ReLU are."""
    rng = np.random.default_rng(0)
    centres = rng.random((c, d), dtype=np.float32)
    labels = [rng.integers(0, c, BATCH) for _ in range(n)]
    return [(centres[y] + 0.3 * rng.random((BATCH, d), dtype=np.float32), y) for y in labels]


def taught(d: int, c: int) -> SharedI2CANSAY:
    """Return a learner that has seen every class twice, whose inverse has just been made."""
    model, rng = SharedI2CANSAY(lift=0, random_state=0), np.random.default_rng(1)
    centres = rng.random((c, d), dtype=np.float32)
    # In one batch: how it came to know the classes is not what is timed.
    y = np.repeat(np.arange(c), 2)
    return model.partial_fit(centres[y] + 0.3 * rng.random((2 * c, d), dtype=np.float32), y)


def product(X: NDArray[np.float64]) -> Callable[[], object]:
    """Return the whole float64 product ``X.T @ X``, on the BLAS that the learner uses."""
    return lambda: blas.dgemm(1.0, X.T, X.T, trans_b=1)


def half_product(X: NDArray[np.float64]) -> Callable[[], object]:
    """Return the same for one triangle, which is all that a symmetric matrix needs."""
    return lambda: blas.dsyrk(1.0, X.T)


def step(d: int, c: int, rounds: int) -> dict[str, float]:
    """Return median seconds of a batch between two inverses, and of the product."""
    model, data, position = taught(d, c), batches(d, c, 12), -1
    X = data[0][0].astype(np.float64)

    def learn() -> None:
        nonlocal position
        position = (position + 1) % len(data)
        model.partial_fit(*data[position])

    between_inverses(model)
    return interleaved({"batch": learn, "product": product(X), "triangle": half_product(X)}, rounds=rounds)


def stream(d: int, c: int, n: int) -> tuple[float, int]:
    """Return seconds per batch over a stream of `n` samples, inverses and calibration included, and the inverses."""
    model, data, inverses = SharedI2CANSAY(lift=0, random_state=0), batches(d, c, 12), 0
    begin = perf_counter()
    for position in range(n // BATCH):
        before = _head(model)._due if position else 0.0
        model.partial_fit(*data[position % len(data)])
        inverses += _head(model)._due != before
    return (perf_counter() - begin) / (n // BATCH), inverses


def sizes(model: SharedI2CANSAY, d: int, c: int) -> tuple[float, float, float]:
    """Return megabytes of the state, of the bound 5 C D + 2 D D float32, and of what is held beside the state."""
    state = sum(array.nbytes for array in model._whole_state().values())
    model.predict(np.zeros((1, d), dtype=np.float32))
    closed_form = model._solution.get(model._solve).closed_form
    held = sum(array.nbytes for array in (*closed_form.scores, closed_form.factors))
    return state / 1e6, 4 * (5 * c * d + 2 * d * d) / 1e6, held / 1e6


def working_memory(d: int, c: int) -> dict[str, float]:
    """Return the most that is held beside the state while a batch is learnt and a row decided, in D x D of 4 bytes.

    The batch is one that makes shrinkage and inverse anew.
    """
    batch = batches(d, c, 1)[0]
    tracemalloc.start()
    model = taught(d, c)
    model._start_over()
    model._calibrate_at = 2**62
    state, peaks = sum(array.nbytes for array in model._whole_state().values()), {}
    for name, act in (
        ("learning", lambda: model.partial_fit(*batch)),
        ("deciding", lambda: model.predict(batch[0][:1])),
    ):
        tracemalloc.reset_peak()
        act()
        peaks[name] = (tracemalloc.get_traced_memory()[1] - state) / (4 * d * d)
    tracemalloc.stop()
    return peaks


def answer(d: int, lift: Lift, n: int) -> float:
    """Return seconds from the end of a lesson to the answer, some `n` samples of 100 classes having been taught."""
    model = SharedI2CANSAY(lift=lift, random_state=0)
    data, times = batches(d, 100, n // BATCH + 5), []
    model.partial_fit(*map(np.concatenate, zip(*data[:-5], strict=True)))
    for X, y in data[-5:]:
        model.partial_fit(X, y)
        begin = perf_counter()
        model.predict(X[:1])
        times.append(perf_counter() - begin)
    return float(np.median(times))


def wide(d: int, c: int, n: int) -> tuple[float, float, float]:
    """Return seconds of a batch of very wide features, of one with an inverse, and megabytes of the state."""
    model, data, times = SharedI2CANSAY(lift=0, random_state=0), batches(d, c, n + 1), []
    for batch in data:
        begin = perf_counter()
        model.partial_fit(*batch)
        times.append(perf_counter() - begin)
        between_inverses(model)
    state = sum(array.nbytes for array in model._whole_state().values())
    return float(np.median(times[1:])), times[0], state / 1e6


def between_inverses(model: SharedI2CANSAY) -> None:
    """Put off inverse and calibration, so that a batch alone is timed."""
    _head(model)._due = np.inf
    model._calibrate_at = 2**62


def _head(model: SharedI2CANSAY) -> Any:
    return model._head


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds, to see that it runs")
    quick = parser.parse_args().quick
    with threadpool_limits(1):
        d, c = 2048, 1000
        state, bound, held = sizes(taught(d, c), d, c)
        print(
            f"- state {state:.1f} MB, bound {bound:.1f} MB; held beside it after a prediction {held:.1f} MB"
        )
        more = working_memory(d, c)
        print(
            f"- at most beside the state, in D x D of float32: {more['learning']:.1f} while shrinkage and inverse "
            f"are made, {more['deciding']:.1f} while the closed form is solved",
            flush=True,
        )
        for classes in (100, c):
            times = step(d, classes, 5 if quick else 30)
            print(
                f"- D {d}, C {classes}: batch of {BATCH} {1e3 * times['batch']:.1f} ms, product "
                f"{1e3 * times['product']:.1f} ms, one triangle {1e3 * times['triangle']:.1f} ms: "
                f"{times['batch'] / times['product']:.2f} products",
                flush=True,
            )
        n = 1000 if quick else 10_000
        mean, inverses = stream(d, 100, n)
        print(
            f"- a stream of {n:,}, C 100: {1e3 * mean:.1f} ms per batch with its {inverses} inverses and the "
            "calibration",
            flush=True,
        )
        lifts: tuple[Lift, ...] = (0, "auto", "wide")
        for lift in lifts[: 2 if quick else 3]:
            few, many = answer(1280, lift, 100), answer(1280, lift, 5000)
            print(
                f"- D 1280, lift {lift}: {1e3 * few:.0f} ms from a lesson to the answer after 100 samples, "
                f"{1e3 * many:.0f} ms after 5,000",
                flush=True,
            )
        median, first, state = wide(20_000, 100, 4 if quick else 10)
        print(
            f"- D 20,000, C 100: {1e3 * median:.0f} ms per batch, {first:.1f} s with an inverse, "
            f"state {state:.0f} MB"
        )


if __name__ == "__main__":
    main()
