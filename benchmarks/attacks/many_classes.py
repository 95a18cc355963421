"""Tens of thousands of classes of one sample each: seconds to learn and to ask, and the peak of memory.

python benchmarks/attacks/many_classes.py --learner i2cansay_shared --classes 20000 --width 1280
"""

import argparse
import resource
import time
from collections.abc import Callable

import numpy as np

from i2cansay import I2CANSAY, SharedI2CANSAY


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--learner", choices=["i2cansay", "i2cansay_shared"], default="i2cansay")
    parser.add_argument("--classes", type=int, default=20_000)
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--batch", type=int, default=50, help="samples in a batch; 0 for one batch of all")
    parser.add_argument("--no-novelty", action="store_true")
    chosen = parser.parse_args()
    n, batch = chosen.classes, chosen.batch or chosen.classes
    X = np.abs(np.random.default_rng(0).standard_normal((n, chosen.width), dtype=np.float32))
    model: I2CANSAY | SharedI2CANSAY = I2CANSAY(random_state=0)
    if chosen.learner == "i2cansay_shared":
        model = SharedI2CANSAY(lift=0, random_state=0)

    def learn() -> None:
        for start in range(0, n, batch):
            model.partial_fit(X[start : start + batch], np.arange(start, min(start + batch, n)))

    print(f"{chosen.learner}, {n} classes, width {chosen.width}, batches of {batch}:", flush=True)
    print(f"  partial_fit {seconds(learn):.1f} s", flush=True)
    for turn in ("first", "second"):
        print(f"  {turn} predict of 50 rows {seconds(lambda: model.predict(X[:50])):.2f} s", flush=True)
    if isinstance(model, SharedI2CANSAY) and not chosen.no_novelty:
        novelty = model.novelty
        print(f"  novelty of 50 rows {seconds(lambda: novelty(X[:50])):.2f} s", flush=True)
    print(f"  peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB", flush=True)


if __name__ == "__main__":
    main()
