"""Speed and size of I2CANSAY against scikit-learn, eager torch (where installed) and the unavoidable products.

    python benchmarks/learner.py [--quick] [--threads N]

Every figure is a median over rounds in which the contenders take turns, on one BLAS thread unless told otherwise.
"floor" are the matrix products the method cannot avoid, and nothing else: for learning, the logits of 50 samples
and 50 pseudo-features and the update of the weights; for predicting, the logits and the two of the distances.
"""

import argparse
import os
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from interleaved import interleaved
from numpy.typing import NDArray
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from threadpoolctl import threadpool_limits

from i2cansay import I2CANSAY
from i2cansay.core.linalg.blas import add_outer, inner

BATCH = 50
Batch = tuple[NDArray[np.float32], NDArray[np.int64]]


def batches(d: int, c: int, size: int, n: int = 40) -> list[Batch]:
    """Return batches of noisy class centres, non-negative as features behind a ReLU are."""
    rng = np.random.default_rng(0)
    centres = rng.random((c, d), dtype=np.float32)
    labels = [rng.integers(0, c, size) for _ in range(n)]
    return [(centres[y] + 0.3 * rng.random((size, d), dtype=np.float32), y) for y in labels]


def cycle(items: list[Batch]) -> Callable[[], Batch]:
    """Return a function that gives the items in turn, without end."""
    position = -1

    def next_item() -> Batch:
        nonlocal position
        position = (position + 1) % len(items)
        return items[position]

    return next_item


def taught(d: int, c: int) -> I2CANSAY:
    """Return a learner that has seen every class twice."""
    model, rng = I2CANSAY(random_state=0), np.random.default_rng(1)
    for start in range(0, c, BATCH):
        y = np.arange(start, min(c, start + BATCH))
        for _ in range(2):
            model.partial_fit(rng.random((len(y), d), dtype=np.float32), y)
    return model


def learning(d: int, c: int, size: int, rounds: int) -> dict[str, float]:
    """Return seconds per batch of `size` for each contender."""
    model, data = taught(d, c), batches(d, c, size)
    peers = {"SGDClassifier": SGDClassifier(loss="log_loss"), "GaussianNB": GaussianNB()}
    for peer in peers.values():
        peer.partial_fit(*data[0], classes=np.arange(c))
    W, rows = np.zeros((c, d), dtype=np.float32), np.ones((2 * size, d), dtype=np.float32)
    error = np.full((2 * size, c), 1e-3, dtype=np.float32)

    def floor() -> None:
        inner(rows, W)
        add_outer(W, error, rows, scale=-1e-6)

    def learn(learner: Any) -> Callable[[], object]:
        following = cycle(data)
        return lambda: learner.partial_fit(*following())

    contenders = {"i2cansay": learn(model), "floor": floor} | {
        name: learn(peer) for name, peer in peers.items()
    }
    torch_step = eager_torch_step(d, c, data)
    if torch_step is not None:
        contenders["torch"] = torch_step
    return interleaved(contenders, rounds=rounds)


def eager_torch_step(d: int, c: int, data: list[Batch]) -> Callable[[], object] | None:
    """Return the same complete step (moments, pseudo-features, both losses, SGD) in eager torch, or None."""
    try:
        import torch
    except ImportError:
        return None
    functional = torch.nn.functional
    torch.set_num_threads(int(os.environ["BENCH_THREADS"]))
    count = torch.full((c,), 2.0, dtype=torch.float64)
    mean, m2 = torch.rand(c, d, dtype=torch.float64), torch.rand(c, d, dtype=torch.float64)
    head = torch.nn.Linear(d, c, bias=False)
    optimiser = torch.optim.SGD(head.parameters(), lr=0.02, weight_decay=5e-5)
    following = cycle(data)

    def step() -> None:
        x, y = (torch.from_numpy(array) for array in following())
        with torch.no_grad():
            classes, groups = torch.unique(y, return_inverse=True)
            offset = x.double() - mean[y]
            shape = (len(classes), d)
            total = torch.zeros(shape, dtype=torch.float64).index_add_(0, groups, offset)
            squares = torch.zeros(shape, dtype=torch.float64).index_add_(0, groups, offset * offset)
            count.index_add_(0, y, torch.ones(len(y), dtype=torch.float64))
            move = total / count[classes, None]
            mean.index_add_(0, classes, move)
            m2.index_add_(0, classes, squares - move * total)
            old = torch.randint(0, c - 1, (len(y),))
            old += old >= y
            ratio = (m2[old] / count[old, None]).sqrt() / ((m2[y] / count[y, None]).sqrt() + 1e-8)
            pseudo = ((x - mean[y]) * ratio + mean[old]).float()
        loss = functional.cross_entropy(head(x), y) + 2 * functional.cross_entropy(head(pseudo), old)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    return step


def predicting(d: int, c: int, rows: int, rounds: int) -> dict[str, float]:
    """Return seconds to predict `rows` rows for each contender."""
    model, (X, _) = taught(d, c), batches(d, c, rows, n=1)[0]
    weights = np.random.default_rng(2).random((c, d), dtype=np.float32)
    sgd = SGDClassifier(loss="log_loss").partial_fit(*batches(d, c, BATCH, n=1)[0], classes=np.arange(c))

    def floor() -> None:
        for _ in range(3):
            inner(X, weights)

    return interleaved(
        {"i2cansay": lambda: model.predict(X), "floor": floor, "SGDClassifier": lambda: sgd.predict(X)},
        rounds=rounds,
    )


def flatness(d: int = 1280, c: int = 100) -> list[tuple[int, float]]:
    """Return (samples seen, median seconds per batch) at the beginning and after ten and a hundred thousand."""
    model, following = taught(d, c), cycle(batches(d, c, BATCH))
    seen, result = 2 * c, []
    for target in (1_000, 10_000, 100_000):
        while seen < target:
            model.partial_fit(*following())
            seen += BATCH
        times = []
        for _ in range(60):
            batch = following()
            start = perf_counter()
            model.partial_fit(*batch)
            times.append(perf_counter() - start)
        seen += 60 * BATCH
        result.append((target, float(np.median(times))))
    return result


def memory(c: int = 10_000, d: int = 2048) -> tuple[float, float, float]:
    """Return the saved state, its file and the caches, in arrays of c x d float32."""
    model, unit = taught(d, c), c * d * 4
    model.predict(np.zeros((1, d), dtype=np.float32))
    state = sum(array.nbytes for array in model._whole_state().values())
    significance = model._significance
    assert significance is not None
    caches = sum(part.view.nbytes for part in (significance._u, significance._u_mean, significance._constant))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.i2cs"
        model.save(path)
        size = path.stat().st_size
    return state / unit, size / unit, caches / unit


def table(title: str, results: dict[tuple[int, int], dict[str, float]], rows: int) -> None:
    """Print milliseconds, samples per second and ratios as Markdown."""
    names = list(next(iter(results.values())))
    peers = [name for name in names if name not in ("i2cansay", "floor")]
    print(f"\n### {title}\n")
    print(
        "| D | C | i2cansay ms | samples/s | x floor | "
        + " | ".join(f"{name} / i2cansay" for name in peers)
        + " |"
    )
    print("|---" * (5 + len(peers)) + "|")
    for (d, c), times in results.items():
        own = times["i2cansay"]
        ratios = " | ".join(f"{times[name] / own:.1f}" for name in peers)
        print(f"| {d} | {c} | {own * 1e3:.2f} | {rows / own:,.0f} | {own / times['floor']:.2f} | {ratios} |")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds, to see that it runs")
    parser.add_argument("--threads", type=int, default=1, help="BLAS threads, for all contenders")
    options = parser.parse_args()
    os.environ["BENCH_THREADS"] = str(options.threads)
    warnings.simplefilter("ignore")  # scikit-learn's peers warn of nothing that matters to a timing
    rounds = 5 if options.quick else 60
    shapes = [(d, c) for d in (1280, 2048) for c in (10, 100, 1000)]
    print(f"{options.threads} BLAS thread(s), median of up to {rounds} interleaved rounds")
    with threadpool_limits(options.threads):
        table("partial_fit, batches of 50", {s: learning(*s, BATCH, rounds) for s in shapes}, BATCH)
        table("partial_fit, batches of 1", {s: learning(*s, 1, rounds) for s in shapes}, 1)
        table("predict, 1,000 rows", {s: predicting(*s, 1000, max(5, rounds // 4)) for s in shapes}, 1000)
        if not options.quick:
            print("\n### Time per batch of 50 (D 1280, C 100) as the stream goes on\n")
            for seen, seconds in flatness():
                print(f"- after {seen:,} samples: {seconds * 1e3:.2f} ms")
            state, file, caches = memory()
            print("\n### Size at C 10,000, D 2048, in arrays of C x D float32\n")
            print(f"- state {state:.4f}, file {file:.4f}, caches {caches:.4f}")


if __name__ == "__main__":
    main()
