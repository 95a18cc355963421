"""A lesson of one sample and the answer after it, against one product of a d x d matrix with a vector.

    python benchmarks/answer_time.py [--widths 1024 3584] [--updates 10000] [--quick] [--json FILE]

The closed form (``analogies=False``) on synthetic features, 100 classes and 6,000 samples before, one BLAS thread. A
lesson with its answer, the same with everything solved anew, and the dense float64 product take turns, and medians
of processor time are compared. Then a stream in batches of 50, and, with `--updates`, how far scores are from an
exact solution with the same ridge after so many lessons of one sample.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from time import process_time

import numpy as np
from interleaved import interleaved
from numpy.typing import NDArray
from scipy.linalg import blas
from threadpoolctl import threadpool_limits

from i2cansay import SharedI2CANSAY

CLASSES, BEFORE, BATCH = 100, 6000, 50
Batch = tuple[NDArray[np.float32], NDArray[np.int64]]


class Stream:
    """Endless noisy class centres, non-negative as features behind a ReLU are."""

    def __init__(self, width: int) -> None:
        self._rng = np.random.default_rng(0)
        self._centres = self._rng.random((CLASSES, width), dtype=np.float32)

    def draw(self, n: int) -> Batch:
        """Return `n` samples and their classes."""
        y = self._rng.integers(0, CLASSES, n)
        noise = self._rng.random((n, self._centres.shape[1]), dtype=np.float32)
        return self._centres[y] + 0.3 * noise, y


def taught(stream: Stream) -> SharedI2CANSAY:
    """Return a learner that has seen the samples before, and small lessons after them: a ridge is held."""
    model = SharedI2CANSAY(lift=0, analogies=False).partial_fit(*stream.draw(BEFORE))
    for _ in range(3):  # the first answer solves, the second makes the precision matrix, the third is updated
        one_lesson(model, stream)()
    return model


def one_lesson(model: SharedI2CANSAY, stream: Stream) -> Callable[[], object]:
    """Return a lesson of one sample and the answer to a question after it."""

    def run() -> None:
        model.partial_fit(*stream.draw(1))
        model.predict_proba(stream.draw(1)[0])

    return run


def anew(model: SharedI2CANSAY, stream: Stream) -> Callable[[], object]:
    """Return the same where everything is solved anew."""

    def run() -> None:
        model.partial_fit(*stream.draw(1))
        model.refresh()
        model.predict_proba(stream.draw(1)[0])

    return run


def product(width: int) -> Callable[[], object]:
    """Return the product of a dense float64 matrix with a vector, on the BLAS that the learner uses."""
    matrix = np.asfortranarray(np.random.default_rng(1).standard_normal((width, width)))
    vector = np.ones(width)
    return lambda: blas.dgemv(1.0, matrix, vector)


def novelty(model: SharedI2CANSAY, stream: Stream) -> Callable[[], object]:
    """Return a lesson of one sample, and the novelty of another."""

    def run() -> None:
        model.partial_fit(*stream.draw(1))
        model.novelty(stream.draw(1)[0])

    return run


def batches(width: int, n: int) -> float:
    """Return processor seconds per batch of a stream of `n` samples that asks nothing, calibration included."""
    stream = Stream(width)
    drawn = [stream.draw(BATCH) for _ in range(12)]
    model, begin = SharedI2CANSAY(lift=0, analogies=False), process_time()
    for position in range(n // BATCH):
        model.partial_fit(*drawn[position % len(drawn)])
    return (process_time() - begin) / (n // BATCH)


def drift(width: int, n: int) -> float:
    """Return the largest difference from exact scores with the same ridge after `n` lessons, in largest scores."""
    stream = Stream(width)
    model, (X, _) = taught(stream), stream.draw(20)
    for _ in range(n):
        model.partial_fit(*stream.draw(1))
        scores = model.class_scores(X)
    # What is restored from a state solves with the ridge that the state holds.
    exact = SharedI2CANSAY(**model.get_params()).set_state(model.state()).class_scores(X)
    return float(np.abs(scores - exact).max() / np.abs(exact).max())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--widths", type=int, nargs="+", default=[1024, 3584])
    parser.add_argument("--updates", type=int, default=0, help="lessons after which scores are compared")
    parser.add_argument("--quick", action="store_true", help="few rounds, to see that it runs")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    asked = parser.parse_args()
    found = []
    with threadpool_limits(1):
        for width in asked.widths:
            stream = Stream(width)
            model = taught(stream)
            model._calibrate_at = 2**62
            times = interleaved(
                {
                    "product": product(width),
                    "lesson": one_lesson(model, stream),
                    "novelty": novelty(model, stream),
                },
                rounds=5 if asked.quick else 100,
                clock=process_time,
            )
            other = taught(stream)
            other._calibrate_at = 2**62
            slow = interleaved(
                {"product": product(width), "anew": anew(other, stream)}, rounds=3, clock=process_time
            )
            found.append(
                {
                    "d": width,
                    "c": CLASSES,
                    "product": times["product"],
                    "lesson": times["lesson"],
                    "novelty": times["novelty"],
                    "anew": slow["anew"] * times["product"] / slow["product"],
                }
            )
            print(
                f"- D {width}: product {1e3 * times['product']:.2f} ms; a lesson and its answer "
                f"{1e3 * times['lesson']:.2f} ms, {times['lesson'] / times['product']:.1f} products; its novelty "
                f"{times['novelty'] / times['product']:.1f}; solved anew {slow['anew'] / slow['product']:.0f}",
                flush=True,
            )
            if asked.updates:
                print(
                    f"- after {asked.updates:,} lessons: {drift(width, asked.updates):.1e} from exact scores"
                )
        n = 1000 if asked.quick else 10_000
        print(f"- D 1024, a stream of {n:,} in batches of {BATCH}: {1e3 * batches(1024, n):.2f} ms per batch")
    if asked.json:
        asked.json.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
