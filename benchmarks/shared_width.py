"""Which random reduction of the features costs the shared mode least, for a given width.

    python benchmarks/shared_width.py TRAIN.npz [--splits 5] [--rows 50]

Reads the features `F` and labels `y` of a training part, and no others: four fifths of each class are learnt by the
closed form, the rest is held out. The features are reduced after their square root, as they are ("1280") and with a
random lift beside them as a second block ("3584", which stands in for the stages of an encoder). "By block" reduces
each block to its share of the width, "mixed" all dimensions together, each block divided by its spread first.

What is compared, for d features and a width of w:

- count sketch: every dimension is added, with a random sign, to one of w (Charikar, Chen, Farach-Colton 2002);
- Gaussian: a matrix of independent normal numbers;
- orthonormal: the same with orthonormal rows (QR);
- Hadamard: random signs, Walsh-Hadamard transform of d padded to a power of two, w of its outputs (Ailon, Chazelle
  2009; Tropp 2011);
- cosine: the same with the discrete cosine transform, whose d outputs are orthonormal for any d;
- channels: w of the dimensions, chosen at random.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter

import numpy as np
from scipy.fft import dct
from scipy.linalg import hadamard

from i2cansay import SharedI2CANSAY
from i2cansay.core.statistics.blocks import Blocks
from i2cansay.core.types import Features, Float64, Rows
from i2cansay.learners.shared.feature_map import FeatureMap
from i2cansay.learners.shared.reduction import shares

WIDTHS = {1280: (768, 384), 3584: (1536, 1024)}
MIXED = ("count sketch", "orthonormal", "cosine")
Sketch = Callable[[Features], Features]


def count_sketch(d: int, width: int, rng: np.random.Generator) -> Sketch:
    """Return the fold by random places and signs."""
    matrix = np.zeros((width, d), dtype=np.float32)
    matrix[rng.integers(width, size=d), np.arange(d)] = rng.choice([-1.0, 1.0], size=d)
    return lambda X: X @ matrix.T


def gaussian(d: int, width: int, rng: np.random.Generator) -> Sketch:
    """Return a dense random projection."""
    matrix = rng.standard_normal((width, d), dtype=np.float32) / np.float32(np.sqrt(width))
    return lambda X: X @ matrix.T


def orthonormal(d: int, width: int, rng: np.random.Generator) -> Sketch:
    """Return one whose rows are orthonormal."""
    matrix = np.linalg.qr(rng.standard_normal((d, width), dtype=np.float32))[0]
    return lambda X: X @ matrix


def by_hadamard(d: int, width: int, rng: np.random.Generator) -> Sketch:
    """Return the sub-sampled randomised Hadamard transform."""
    padded = 1 << (d - 1).bit_length()
    signs, taken = rng.choice([-1.0, 1.0], size=d), rng.choice(padded, width, replace=False)
    rows = (hadamard(padded, dtype=np.int8)[taken, :d] * signs).astype(np.float32)
    return lambda X: X @ rows.T


def by_cosine(d: int, width: int, rng: np.random.Generator) -> Sketch:
    """Return the sub-sampled randomised cosine transform."""
    signs, taken = rng.choice(np.array([-1, 1], dtype=np.float32), size=d), rng.permutation(d)[:width]
    return lambda X: np.asarray(dct(X * signs, norm="ortho")[:, np.sort(taken)])


def channels(d: int, width: int, rng: np.random.Generator) -> Sketch:
    """Return random dimensions."""
    taken = np.sort(rng.permutation(d)[:width])
    return lambda X: X[:, taken]


SKETCHES = {
    "count sketch": count_sketch,
    "Gaussian": gaussian,
    "orthonormal": orthonormal,
    "Hadamard": by_hadamard,
    "cosine": by_cosine,
    "channels": channels,
}


def split(y: Rows, seed: int) -> Rows:
    """Return four fifths of the rows of each class."""
    order = np.random.default_rng(seed).permutation(len(y))
    kept = [order[y[order] == label] for label in np.unique(y)]
    return np.concatenate([rows[: len(rows) * 4 // 5] for rows in kept])


def accuracy(X: Features, y: Rows, learnt: Rows, blocks: Sequence[int]) -> float:
    """Return the share of held-out rows that the closed form decides rightly, in percent."""
    model = SharedI2CANSAY(blocks=tuple(blocks), lift=0, feature_transform="none", analogies=False)
    held = np.setdiff1d(np.arange(len(y)), learnt)
    return 100 * float(model.partial_fit(X[learnt], y[learnt]).score(X[held], y[held]))


def reduced(
    X: Features, widths: Sequence[int], width: int, name: str, rng: np.random.Generator
) -> tuple[Features, Sequence[int]]:
    """Return the features reduced block by block, and the widths of the reduced blocks."""
    given = shares(widths, width)
    parts = [
        SKETCHES[name](d, w, rng)(X[:, block])
        for block, d, w in zip(Blocks(widths), widths, given, strict=True)
    ]
    return np.concatenate(parts, axis=1), given


def spreads(X: Features, y: Rows, widths: Sequence[int]) -> Float64:
    """Return the standard deviation within the classes of each block, for each of its dimensions."""
    away = X - np.stack([X[y == label].mean(axis=0) for label in np.unique(y)])[y]
    return Blocks(widths).expand(
        np.sqrt(Blocks(widths).means(np.square(away).mean(axis=0, dtype=np.float64)))
    )


def study(F: Features, y: Rows, splits: int) -> None:
    """Print the accuracies."""
    rooted = np.sqrt(np.maximum(F, 0)).astype(np.float32)
    for total, narrower in WIDTHS.items():
        found: dict[tuple[str, int], list[float]] = {}
        for seed in range(splits):
            learnt, d = split(y, seed), rooted.shape[1]
            X = FeatureMap(d, transform="none", lift=total - d, seed=seed).apply(rooted)
            widths = (d, total - d) if total > d else (d,)
            found.setdefault(("all", total), []).append(accuracy(X, y, learnt, widths))
            even = (X / spreads(X[learnt], y[learnt], widths)).astype(np.float32)
            for width in narrower:
                for name in SKETCHES:
                    by_block = reduced(X, widths, width, name, np.random.default_rng(seed))
                    found.setdefault((f"{name}, by block", width), []).append(
                        accuracy(by_block[0], y, learnt, by_block[1])
                    )
                    if len(widths) > 1 and name in MIXED:
                        mixed = reduced(even, (total,), width, name, np.random.default_rng(seed))
                        found.setdefault((f"{name}, mixed", width), []).append(
                            accuracy(mixed[0], y, learnt, mixed[1])
                        )
        print(f"\n{total} dimensions: {np.mean(found['all', total]):.1f} as they are")
        for name in dict.fromkeys(name for name, _ in found if name != "all"):
            cells = [
                f"{np.mean(found[name, w]):.1f} ± {np.std(found[name, w], ddof=1):.1f}" for w in narrower
            ]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)


def cost(rows: int) -> None:
    """Print seconds to draw and to apply, and megabytes, at 3584 dimensions reduced to 1536."""
    X = np.random.default_rng(0).standard_normal((rows, 3584)).astype(np.float32)
    for name in ("Gaussian", "orthonormal", "cosine"):
        begin = perf_counter()
        sketch = SKETCHES[name](3584, 1536, np.random.default_rng(0))
        drawn, times = perf_counter() - begin, []
        for _ in range(20):
            begin = perf_counter()
            sketch(X)
            times.append(perf_counter() - begin)
        print(f"{name}: drawn in {drawn:.2f} s, {rows} rows in {1e3 * np.median(times):.2f} ms")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("features", type=Path)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--rows", type=int, default=50, help="of a batch, for the times")
    wish = parser.parse_args()
    cost(wish.rows)
    with np.load(wish.features) as file:
        F, y = file["F"].astype(np.float32), np.unique(file["y"], return_inverse=True)[1]
    study(F, y, wish.splits)


if __name__ == "__main__":
    main()
