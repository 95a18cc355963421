"""Speed of both estimators against scikit-learn, a plain SLDA, river and eager torch, and the unavoidable products.

    python benchmarks/learner.py [--quick] [--json FILE]

Every figure is a median of processor time over rounds in which the contenders take turns, on one BLAS thread. A
"floor" is the matrix products that a method cannot avoid, and nothing else. river and torch take part where they are
installed. A step is timed between two inverses (shared mode) and without the scoring of samples before they are
learnt; what a stream pays for both is in `growth.py`.
"""

import argparse
import json
import warnings
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from contenders import BATCH, batches, gram_floor, learn, paper_floor, shared_floor, taught
from interleaved import interleaved
from peers import (
    PlainSLDA,
    eager_torch_predict,
    eager_torch_step,
    river_learn,
    river_learners,
    river_predict,
)
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from threadpoolctl import threadpool_limits

from i2cansay import I2CANSAY, SharedI2CANSAY
from i2cansay.core.linalg.blas import inner

SHAPES = ((1280, 10), (1280, 100), (1280, 1000), (2048, 100))
ROWS = 1000
# Seconds of one contender in a row.
TURN = 0.03


def learning(d: int, c: int, size: int, rounds: int, seconds: float) -> dict[str, float]:
    """Return seconds per batch of `size` for each contender."""
    data = batches(d, c, size)
    paper, shared, closed = (taught(kind, d, c) for kind in ("paper", "shared", "closed form"))
    for model in (shared, closed):
        model.partial_fit(*data[0])
    assert isinstance(shared, SharedI2CANSAY)
    assert shared._head is not None
    shared._head._due = np.inf  # no inverse is made while single steps are timed
    peers: dict[str, Any] = {"SGDClassifier": SGDClassifier(loss="log_loss"), "GaussianNB": GaussianNB()}
    for peer in peers.values():
        peer.partial_fit(*data[0], classes=np.arange(c))
    contenders = {
        "paper": learn(paper, data),
        "paper floor": paper_floor(d, c, size),
        "shared": learn(shared, data),
        "shared floor": shared_floor(d, c, size),
        "closed form": learn(closed, data),
        "closed form floor": gram_floor(d, size),
    }
    contenders |= {name: learn(peer, data) for name, peer in peers.items()}
    contenders["plain SLDA"] = learn(PlainSLDA(d, c), data)
    if size == 1:
        contenders |= {name: river_learn(peer, data) for name, peer in river_learners(c).items()}
    if (torch_step := eager_torch_step(d, c, data)) is not None:
        contenders["eager torch"] = torch_step
    return interleaved(contenders, rounds=rounds, seconds=seconds, clock=process_time, turn=TURN)


def predicting(d: int, c: int, rounds: int, seconds: float) -> dict[str, float]:
    """Return seconds to predict `ROWS` rows for each contender; a solution that is kept is there already.

    river takes one row at a time: its seconds are those of a row, times `ROWS`.
    """
    X, y = batches(d, c, ROWS, n=1)[0]
    paper, shared, closed = (taught(kind, d, c) for kind in ("paper", "shared", "closed form"))
    weights, wide = np.ones((c, d), dtype=np.float32), np.ones((c, d))
    every = np.arange(c)
    peers: dict[str, Any] = {"SGDClassifier": SGDClassifier(loss="log_loss"), "GaussianNB": GaussianNB()}
    for peer in peers.values():
        peer.partial_fit(X[:BATCH], y[:BATCH], classes=every)
    if c > 100:
        del peers["GaussianNB"]  # takes seconds
    slda = PlainSLDA(d, c)
    slda.partial_fit(X[:BATCH], y[:BATCH])

    def paper_products() -> None:
        for _ in range(3):
            inner(X, weights)

    def shared_products() -> None:
        inner(X, weights)
        inner(X, wide)

    contenders = {
        "paper": lambda: paper.predict(X),
        "paper floor": paper_products,
        "shared": lambda: shared.predict(X),
        "shared floor": shared_products,
        "closed form": lambda: closed.predict(X),
        "closed form floor": lambda: inner(X, wide),
        "plain SLDA": lambda: slda.predict(X),
    }
    contenders |= {name: lambda peer=peer: peer.predict(X) for name, peer in peers.items()}  # type: ignore[misc]
    assert isinstance(paper, I2CANSAY)
    if (torch_predict := eager_torch_predict(paper, X)) is not None:
        contenders["eager torch"] = torch_predict
    by_row = {name: river_predict(peer, X, c) for name, peer in river_learners(c).items()}
    times = interleaved(contenders | by_row, rounds=rounds, seconds=seconds, clock=process_time, turn=TURN)
    return {name: value * (ROWS if name in by_row else 1) for name, value in times.items()}


def measure(*, quick: bool) -> dict[str, list[dict[str, Any]]]:
    """Return all figures: for each shape and batch the seconds of each contender."""
    rounds, seconds = (3, 1.0) if quick else (40, 8.0)
    shapes = SHAPES[:2] if quick else SHAPES
    found: dict[str, list[dict[str, Any]]] = {"learning": [], "predicting": []}
    for size in (BATCH, 1):
        for d, c in shapes:
            times = learning(d, c, size, rounds, seconds)
            found["learning"].append({"d": d, "c": c, "batch": size, "seconds": times})
            _print(f"partial_fit, batches of {size}", d, c, times)
    for d, c in shapes:
        times = predicting(d, c, rounds, seconds)
        found["predicting"].append({"d": d, "c": c, "rows": ROWS, "seconds": times})
        _print(f"predict, {ROWS} rows", d, c, times)
    return found


def _print(what: str, d: int, c: int, times: dict[str, float]) -> None:
    parts = ", ".join(f"{name} {1e3 * value:.2f}" for name, value in times.items())
    print(f"{what}, D {d}, C {c}, ms: {parts}", flush=True)


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few rounds, to see that it runs")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # scikit-learn's peers warn of nothing that matters to a timing
    with threadpool_limits(1):
        found = measure(quick=asked.quick)
    if asked.json:
        asked.json.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
