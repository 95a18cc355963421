"""Choices of the shared mode, made on training samples held out: penalty, drawing in, and whether to have ISAY.

    python benchmarks/shared_choices.py [penalty] [draw-in] [significance] [--seeds 3]

Each name prints one table, all of them by default. Where a column takes a part of the training samples, the
accuracy is that on others of them (10,000 at most); else a fifth is held out. No test sample is looked at. All is
closed form, so that the order of the samples has no part in it; features are found as the command line finds them.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from i2cansay.core.discriminant import cross_validated_penalty, drawn_in, shrinkage_of
from i2cansay.core.feature_map import FeatureMap
from i2cansay.core.head import softmax
from i2cansay.core.isay import Significance, importance
from i2cansay.core.moments import ClassMoments
from i2cansay.core.scatter import SharedScatter
from i2cansay.core.types import Features, Rows
from i2cansay.experiments.shared_features import share_features
from i2cansay.experiments.statistics import spread
from i2cansay.streams import low_data

HELD_OUT = 10_000
LIFT = 1024
"""Enough to see what a lift changes, at a tenth of the time of the widest."""
PENALTY_SHARES = (2.0, 1.0, 0.5, 0.25, 0.125)
DRAW_IN = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5)
TAU_WEIGHTS = (0.0, 10.0, 100.0, 300.0)
COLUMNS = (
    ("CIFAR-10 10%", "cifar10", "efficientnet-lite0", 0.1),
    ("CIFAR-10", "cifar10", "efficientnet-lite0", None),
    ("CIFAR-100 30%", "cifar100", "efficientnet-lite0", 0.3),
    ("CIFAR-100", "cifar100", "efficientnet-lite0", None),
    ("CUB-200", "cub200", "efficientnet-lite0", None),
    ("CIFAR-100, DeiT-Tiny", "cifar100", "deit_tiny", None),
)


@dataclass(frozen=True)
class Split:
    """Training rows and others that are held out, mapped as the shared mode maps them, and their statistics."""

    X: Features
    y: Rows
    X_held: Features
    y_held: Rows
    scatter: SharedScatter
    penalty: float

    @property
    def shrinkage(self) -> float:
        """The shrinkage as the shared mode has it."""
        return shrinkage_of(self.scatter, self.penalty)

    @classmethod
    def of(cls, dataset: str, encoder: str, fraction: float | None, lift: int, seed: int) -> "Split":
        """Draw training and held-out rows from the training part of a data set."""
        X, y = share_features(dataset, encoder).open("train")
        y = np.unique(y, return_inverse=True)[1]
        kept = low_data(y, 0.8 if fraction is None else fraction, seed)
        others = np.random.default_rng(seed).permutation(np.setdiff1d(np.arange(len(y)), kept))[:HELD_OUT]
        features = FeatureMap(X.shape[1], transform="auto", lift=lift, seed=seed)
        features.decide(X[:50])
        mapped, held = (features.apply(np.asarray(X[rows], dtype=np.float32)) for rows in (kept, others))
        scatter = SharedScatter(features.width)
        scatter.resize(int(y.max()) + 1)
        for start in range(0, len(kept), 1000):
            scatter.add(mapped[start : start + 1000], y[kept[start : start + 1000]])
        return cls(mapped, y[kept], held, y[others], scatter, cross_validated_penalty(scatter))

    def accuracy(self, scores: Features) -> float:
        """Return the share of held-out rows whose highest score is their class's, in percent."""
        return 100 * float((scores.argmax(axis=1) == self.y_held).mean())


def by_penalty(split: Split) -> dict[str, float]:
    """Return the accuracy for shares of the penalty that cross-validation finds, and for what the mode takes."""
    total, found = split.scatter.means.total, {}
    for share in PENALTY_SHARES:
        penalty = share * split.penalty
        rule = drawn_in(split.scatter, penalty / (penalty + total), 0.02).scores
        found[f"{share:g} of the penalty"] = split.accuracy(rule.of(split.X_held))
    rule = drawn_in(split.scatter, split.shrinkage, 0.02).scores
    found["as it is"] = split.accuracy(rule.of(split.X_held))
    return found


def by_draw_in(split: Split) -> dict[str, float]:
    """Return the accuracy for each strength."""
    return {
        f"draw_in {value:g}": split.accuracy(
            drawn_in(split.scatter, split.shrinkage, value).scores.of(split.X_held)
        )
        for value in DRAW_IN
    }


def by_significance(split: Split) -> dict[str, float]:
    """Return the accuracy with the correction of Eq. 6-9 computed in decorrelated coordinates.

    These are the principal axes of the shrunk covariance, each divided by its spread: there the pooled covariance is
    the identity, and what is left of a class's spread by dimension is its own.
    """
    scatter, width = split.scatter, split.scatter.matrix.size
    covariance = scatter.matrix.dense() * ((1 - split.shrinkage) / scatter.means.total)
    covariance[np.diag_indices(width)] += split.shrinkage * scatter.mean_variance
    values, vectors = np.linalg.eigh(covariance)
    rotation = (vectors / np.sqrt(values)).astype(np.float32)
    centre = scatter.means.mean.mean(axis=0).astype(np.float32)
    flat, held = (split.X - centre) @ rotation, (split.X_held - centre) @ rotation
    moments, significance, classes = ClassMoments(width), Significance(width), len(scatter.means)
    moments.resize(classes)
    significance.resize(classes)
    for start in range(0, len(flat), 1000):
        significance.mark(moments.add(flat[start : start + 1000], split.y[start : start + 1000], None))
    tau = importance(significance.distances(held, moments, "euclidean"), "paper")
    found = {}
    for name, draw_in in (("plain", 0.0), ("drawn in", 0.02)):
        logits = drawn_in(scatter, split.shrinkage, draw_in).scores.of(split.X_held)
        for weight in TAU_WEIGHTS:
            found[f"{name}, logits + {weight:g} tau/C"] = split.accuracy(logits + weight / classes * tau)
        found[f"{name}, Eq. 9: softmax + tau"] = split.accuracy(softmax(logits.copy()) + tau)
    found["tau alone"] = split.accuracy(tau)
    return found


def show(title: str, study: Callable[[Split], dict[str, float]], lifts: Sequence[int], seeds: int) -> None:
    """Print one table: a line per choice, a column per data set and lift."""
    heads, columns = [], []
    for name, dataset, encoder, fraction in COLUMNS:
        for lift in lifts:
            runs = [study(Split.of(dataset, encoder, fraction, lift, seed)) for seed in range(seeds)]
            heads.append(name if lift == 0 else f"{name}, lift {lift}")
            columns.append({choice: spread([run[choice] for run in runs]) for choice in runs[0]})
    print(f"\n### {title}, held-out training samples, accuracy in %, {seeds} splits\n")
    print("| | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|", sep="\n")
    for choice in columns[0]:
        places = [f"{column[choice].mean:.2f} ± {column[choice].std:.2f}" for column in columns]
        print(f"| {choice} | " + " | ".join(places) + " |", flush=True)


def main() -> None:
    """Print the tables that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", default=["penalty", "draw-in", "significance"])
    parser.add_argument("--seeds", type=int, default=3)
    wish = parser.parse_args()
    if "penalty" in wish.what:
        show("Share of the penalty", by_penalty, (LIFT,), wish.seeds)
    if "draw-in" in wish.what:
        show("Drawing in", by_draw_in, (0, LIFT), wish.seeds)
    if "significance" in wish.what:
        show("Significance in decorrelated coordinates", by_significance, (0,), wish.seeds)


if __name__ == "__main__":
    main()
