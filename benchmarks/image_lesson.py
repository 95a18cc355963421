"""Milliseconds to teach an ImageLearner one more image, and where they go.

python benchmarks/image_lesson.py [LEARNER ...]
"""

import argparse
import copy
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from i2cansay import ImageLearner

TURNS = 9


def median(work: Callable[[int], object]) -> float:
    """Return the median of several calls, in milliseconds."""
    times = []
    for turn in range(TURNS):
        begin = time.perf_counter()
        work(turn)
        times.append(time.perf_counter() - begin)
    return 1000 * statistics.median(times)


def main() -> None:
    """Teach 200 images of 10 classes, then time single lessons."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("learners", nargs="*", default=["i2cansay", "slda", "i2cansay_shared"])
    parser.add_argument(
        "--size", type=int, default=20, help="side of the images in pixels; 3 x side x side features"
    )
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    images = list(rng.integers(0, 256, (200, options.size, options.size, 3), dtype=np.uint8))
    labels = [f"class {number % 10}" for number in range(len(images))]
    for name in options.learners:
        print(f"{name}: {times_of(ImageLearner('pixels', name, size=options.size), images, labels)}")


def times_of(model: ImageLearner, images: list[Any], labels: list[str]) -> str:
    """Return in words what a lesson of one image, its `partial_fit` and a copy of the learner take."""
    model.learn(images, labels)
    X = model.encoder.encode(images[:TURNS])
    lesson = median(lambda turn: model.learn([images[turn]], [labels[turn]]))
    fit = median(lambda turn: model.learner.partial_fit(X[turn : turn + 1], labels[turn : turn + 1]))
    copying = median(lambda turn: copy.deepcopy(model.learner))
    return f"{lesson:.1f} ms per lesson of one image; partial_fit {fit:.1f} ms, a copy {copying:.1f} ms"


if __name__ == "__main__":
    main()
