"""What a file of the shared mode gives away: samples, from one file of few samples, and from two files.

    python benchmarks/attacks/covariance.py FEATURES.npz [--choice best] [--draws 3]

FEATURES.npz has the features `X` of real images and their labels `y`, and `blocks`, the widths of their blocks. The
attacker has files only, and knows the program that wrote them.

One file. The matrix of n samples of c classes is ``E E^T``, where the columns of E are the deviations of the samples
from their class means: n - c directions that span the same space, known up to a rotation. The attacker looks in
that space for the directions whose values are least like a normal distribution, as those of real features are
(FastICA, Hyvarinen 1999), and takes as many as there are dimensions. What is printed is the share of a sample's
squared deviation that lies along the direction nearest to it, mean and largest over the samples, beside the same for
random directions in that space. 1 is the sample itself, up to scale and sign, as the class mean is known.

Two files, one sample apart. ``n mean_n - (n - 1) mean_(n-1)`` is the sample as the learner maps it, and for `best`
the map is a square root. For `small` it keeps 1536 of 3584 dimensions, and the attacker takes the shortest vector
that is mapped to it. What is printed is the cosine between the feature and what the attacker has of it.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.fft import idct

from i2cansay.core.linalg.low_rank import low_rank
from i2cansay.core.types import Features, Float64
from i2cansay.learners import make_learner

SIZES = ((1, 2), (1, 5), (1, 10), (5, 2), (5, 5), (10, 10))
ROUNDS, RESTARTS = 60, 4
NORMAL = 0.3746
"""The mean of log cosh of a standard normal number."""
SAME = 0.9
"""Directions of a larger cosine are one."""


class Share(NamedTuple):
    """How much of the samples' squared deviations an attacker has: mean, largest, and by chance."""

    mean: float
    largest: float
    chance: float


def directions(learner: Any, rng: np.random.Generator) -> tuple[Float64, Float64]:
    """Return the directions found, (k, d), and an orthonormal basis, (r, d), of what the matrix spans."""
    scatter = learner._scatter
    spanning = low_rank(scatter.matrix, most=int(scatter.means.total))
    assert spanning is not None
    _, sizes, basis = np.linalg.svd(spanning.rows, full_matrices=False)
    basis = basis[sizes > 1e-6 * sizes[0]]
    seen = unmapped(learner, basis)  # turned back: a random rotation makes everything look normal
    found = unlike_normal(seen * np.sqrt(seen.shape[1]), rng)
    return found @ basis, basis


def unlike_normal(white: Float64, rng: np.random.Generator) -> Float64:
    """Return unit vectors w, (k, r), of which `white`, (r, d), combined by w is least normal; k is r at most."""
    r, d = white.shape
    w = units(rng.standard_normal((RESTARTS * r + 8, r)))
    for _ in range(ROUNDS):
        tanh = np.tanh(w @ white)
        w = units(tanh @ white.T / d - (1 - tanh**2).mean(axis=1)[:, None] * w)
    odd = np.abs(np.log(np.cosh(w @ white)).mean(axis=1) - NORMAL)
    kept: list[Float64] = []
    for each in w[np.argsort(-odd)]:
        if len(kept) < r and all(abs(float(each @ other)) < SAME for other in kept):
            kept.append(each)
    return np.array(kept)


def unmapped(learner: Any, rows: Float64) -> Float64:
    """Return the shortest rows that the reduction of a learner maps to `rows`; the root stays."""
    reduction, start = learner._features._reduction, 0
    if not reduction.needed:
        return rows
    parts = []
    for (signs, kept), width in zip(reduction._drawn, reduction.widths, strict=True):
        whole = np.zeros((len(rows), len(signs)))
        whole[:, kept] = rows[:, start : start + width]
        parts.append(idct(whole, norm="ortho") / signs)
        start += width
    return np.concatenate(parts, axis=1)


def share_of_one_file(learner: Any, X: Features, y: Any, rng: np.random.Generator) -> Share:
    """Attack a learner that was taught `X`, (n, d), of labels `y`, (n,), and nothing else."""
    found, basis = directions(learner, rng)
    mapped = learner._features.apply(X)
    means = np.stack([mapped[y == label].mean(axis=0) for label in y])
    deviations = units(mapped - means)
    shares = np.square(deviations @ found.T).max(axis=1)
    random = units(rng.standard_normal((len(found), len(basis)))) @ basis
    chance = np.square(deviations @ random.T).max(axis=1)
    return Share(float(shares.mean()), float(shares.max()), float(chance.mean()))


def sample_between(before: Any, after: Any, label: Any) -> Float64:
    """Return the feature, (d,), of the one sample of a class that was taught between two files of a model."""
    old, new = (
        (learner.class_counts_[row], learner.class_means_[row])
        for learner in (before, after)
        for row in np.flatnonzero(learner.classes_ == label)
    )
    mapped = new[0] * new[1] - old[0] * old[1]
    root: Float64 = unmapped(after, mapped[None])[0]
    squared: Float64 = np.sign(root) * root**2
    return squared if any(after._features.rooted) else root


def units(rows: Float64) -> Float64:
    """Return rows, (n, d), of length one."""
    long: Float64 = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / long


def cosine(a: Float64, b: Float64) -> float:
    """Return the cosine of the angle between two vectors."""
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def main() -> None:
    """Attack files of more and more samples, and two that are one sample apart."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("features", type=Path)
    parser.add_argument("--choice", choices=("best", "small"), default="best")
    parser.add_argument("--draws", type=int, default=3)
    chosen = parser.parse_args()
    data = np.load(chosen.features)
    X, y = data["X"].astype(np.float32), data["y"]
    blocks = {"blocks": tuple(data["blocks"].tolist())} if "blocks" in data else {}
    print(
        "| classes x samples each | dimensions | recovered, mean | largest | by chance |\n|---|---|---|---|---|"
    )
    for n_classes, each in SIZES:
        draws = []
        for seed in range(chosen.draws):
            rng = np.random.default_rng(seed)
            labels = rng.choice(np.unique(y), n_classes, replace=False)
            rows = np.concatenate(
                [rng.choice(np.flatnonzero(y == label), each, replace=False) for label in labels]
            )
            learner = make_learner(chosen.choice, **blocks).partial_fit(X[rows], y[rows])
            draws.append(share_of_one_file(learner, X[rows], y[rows], rng))
        mean, _, chance = np.mean(draws, axis=0)
        largest = max(draw.largest for draw in draws)
        print(
            f"| {n_classes} x {each} | {n_classes * (each - 1)} | {mean:.2f} | {largest:.2f} | {chance:.2f} |",
            flush=True,
        )
    rng, cosines = np.random.default_rng(0), []
    for _ in range(chosen.draws):
        rows = rng.choice(np.flatnonzero(y == y[0]), 8, replace=False)
        before = make_learner(chosen.choice, **blocks).partial_fit(X[rows[1:]], y[rows[1:]])
        after = make_learner(chosen.choice, **blocks).set_state(before.state())
        after.partial_fit(X[rows[:1]], y[rows[:1]])
        cosines.append(cosine(sample_between(before, after, y[0]), X[rows[0]].astype(np.float64)))
    print(f"two files one sample apart: cosine {np.mean(cosines):.4f} between the feature and what comes out")


if __name__ == "__main__":
    main()
