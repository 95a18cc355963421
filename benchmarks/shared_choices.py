"""Choices of the shared mode and its peers, made on training samples held out: see `STUDIES` for each.

Its constants are in `shared_constants.py`.

    python benchmarks/shared_choices.py [significance] [calibration] [bandwidth] [ranpac] [ranpac-wide]

Runs are kept in benchmarks/records/shared_choices.jsonl (``--records``): what is missing there is measured.
Where a column takes a part of the training samples, the accuracy is that on others of
them (10,000 at most); else a fifth is held out. No test sample is looked at. Features are found as the command line
finds them.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from figures import Run, play
from shared_behaviour import ENCODER, calibration_error

from i2cansay.core.paper.head import softmax
from i2cansay.core.paper.isay import Significance, importance
from i2cansay.core.paper.moments import ClassMoments
from i2cansay.core.statistics import temperature
from i2cansay.core.statistics.discriminant import cross_validated_penalty, shrink_means, shrinkage_of
from i2cansay.core.statistics.scatter import SharedScatter
from i2cansay.core.types import Features, Rows
from i2cansay.experiments.declare.declaration import Column, load_table
from i2cansay.experiments.report.study_tables import Values
from i2cansay.experiments.run.shared_features import share_features
from i2cansay.learners import base, make_learner
from i2cansay.learners.shared.feature_map import FeatureMap
from i2cansay.streams import low_data, make_stream

RECORDS = Path(__file__).parent / "records" / "shared_choices.jsonl"
COLUMNS = load_table("shared-step").columns
HELD_OUT = 10_000
TAU_WEIGHTS = (0.0, 10.0, 100.0, 300.0)
REMEMBERED_ROWS = (25.0, 75.0, 225.0, 1000.0)
CALIBRATION_COUNTS = (0.0, 0.25, 0.5, 0.9)
BANDWIDTHS = (1.0, 2.0, 4.0, 8.0, 16.0)
RIDGE_PENALTIES = (100.0, 300.0, 1000.0, 3000.0, 10_000.0)


@dataclass(frozen=True)
class Parts:
    """Training rows and others that are held out, as the encoder gave them."""

    X: Features
    y: Rows
    X_held: Features
    y_held: Rows

    @classmethod
    def of(cls, column: Column, seed: int) -> "Parts":
        """Draw both from the training part of a data set."""
        X, y = share_features(column.dataset, column.encoder or ENCODER).open("train")
        y = np.unique(y, return_inverse=True)[1]
        kept = low_data(y, 0.8 if column.fraction is None else column.fraction, seed)
        others = np.random.default_rng(seed).permutation(np.setdiff1d(np.arange(len(y)), kept))[:HELD_OUT]
        train, held = (np.asarray(X[rows], dtype=np.float32) for rows in (kept, others))
        return cls(train, y[kept], held, y[others])

    def accuracy(self, scores: Features) -> float:
        """Return the share of held-out rows whose highest score is their class's, in percent."""
        return 100 * float((scores.argmax(axis=1) == self.y_held).mean())


@dataclass(frozen=True)
class MappedParts(Parts):
    """The same, mapped as the shared mode maps them, with their statistics."""

    scatter: SharedScatter
    penalty: float

    @property
    def shrinkage(self) -> float:
        """The shrinkage as the shared mode has it."""
        return shrinkage_of(self.scatter, self.penalty)

    @classmethod
    def mapped(cls, column: Column, lift: int, seed: int) -> "MappedParts":
        """Draw, map and gather."""
        parts = Parts.of(column, seed)
        features = FeatureMap(parts.X.shape[1], transform="auto", lift=lift, seed=seed)
        features.decide(parts.X[:50])
        X, held = features.apply(parts.X), features.apply(parts.X_held)
        scatter = SharedScatter(features.width)
        scatter.resize(int(parts.y.max()) + 1)
        for start in range(0, len(X), 1000):
            scatter.add(X[start : start + 1000], parts.y[start : start + 1000])
        return cls(X, parts.y, held, parts.y_held, scatter, cross_validated_penalty(scatter))


def by_significance(column: Column, lift: int, seed: int) -> Values:
    """Return the accuracy with the correction of Eq. 6-9 computed in decorrelated coordinates.

    These are the principal axes of the shrunk covariance, each divided by its spread: there the pooled covariance is
    the identity, and what is left of a class's spread by dimension is its own.
    """
    split = MappedParts.mapped(column, lift, seed)
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
    for name, strength in (("plain", 0.0), ("shrunk means", 0.02)):
        logits = shrink_means(scatter, split.shrinkage, strength).scores.of(split.X_held)
        for weight in TAU_WEIGHTS:
            found[f"{name}, logits + {weight:g} tau/C"] = split.accuracy(logits + weight / classes * tau)
        found[f"{name}, Eq. 9: softmax + tau"] = split.accuracy(softmax(logits.copy()) + tau)
    found["tau alone"] = split.accuracy(tau)
    return found


def by_calibration(column: Column, lift: int, seed: int) -> Values:
    """Return the expected calibration error, in %, for what the temperature of probabilities is learnt from."""
    parts, found = Parts.of(column, seed), {}
    for rows in REMEMBERED_ROWS:
        for count in CALIBRATION_COUNTS:
            with (
                patch.object(temperature, "REMEMBERED_ROWS", rows),
                patch.object(base, "CALIBRATION_COUNT", count),
            ):
                model = taught(parts, {"lift": lift, "analogies": False}, column.stream, seed)
            right = model.predict(parts.X_held) == parts.y_held
            error = calibration_error(model.predict_proba(parts.X_held), right)
            found[f"{rows:g} rows remembered, classes from {count:g} of the usual count"] = 100 * error
    return found


def by_bandwidth(column: Column, lift: int, seed: int) -> Values:
    """Return the accuracy of the peer with random Fourier features for bandwidths of its kernel; no lift."""
    parts, found = Parts.of(column, seed), {}
    for bandwidth in BANDWIDTHS:
        model = make_learner("rff_lda", bandwidth=bandwidth, random_state=seed)
        for start in range(0, len(parts.X), 1000):  # any batches are the same to it
            model.partial_fit(parts.X[start : start + 1000], parts.y[start : start + 1000])
        found[f"bandwidth {bandwidth:g}"] = parts.accuracy(model.class_scores(parts.X_held))
    return found


def by_ridge_penalty(column: Column, lift: int, seed: int) -> Values:
    """Return the accuracy of RanPAC of this many projections, for penalties in units of their mean square."""
    parts, found = Parts.of(column, seed), {}
    model: Any = make_learner("ranpac", n_projections=lift, penalty=RIDGE_PENALTIES[0], random_state=seed)
    model.partial_fit(parts.X, parts.y)  # any batches are the same to it
    for penalty in RIDGE_PENALTIES:
        model.set_params(penalty=penalty)
        model._rule.clear()  # else it would count from the next sample on
        found[f"penalty {penalty:g}"] = parts.accuracy(model.class_scores(parts.X_held))
    return found


def taught(parts: Parts, parameters: Mapping[str, Any], stream: str, seed: int) -> Any:
    """Return the shared mode after a stream of the training rows."""
    model = make_learner("i2cansay_shared", random_state=seed, **parameters)
    for batch in make_stream(stream, parts.y, seed=seed):
        model.partial_fit(parts.X[batch.rows], parts.y[batch.rows])
    return model


@dataclass(frozen=True)
class Study:
    """What is tried, the title of its table, the lifts and columns it is tried with, and on how many splits."""

    measure: Callable[[Column, int, int], Values]
    title: str
    lifts: tuple[int, ...]
    columns: tuple[str, ...] = tuple(column.name for column in COLUMNS)
    splits: int = 3

    def runs(self) -> Iterator[Run]:
        """Yield a run per data set and lift."""
        for column in COLUMNS:
            for lift in self.lifts if column.name in self.columns else ():
                name = column.name if lift == 0 else f"{column.name}, lift {lift}"
                yield Run(self.title, name, partial(self.measure, column, lift))


SMALL = ("CIFAR-10 10%", "CIFAR-100 30%", "CUB-200")
STUDIES = {
    "significance": Study(
        by_significance, "Significance in decorrelated coordinates: accuracy in %", (0,), splits=1
    ),
    "calibration": Study(
        by_calibration, "Calibration: expected calibration error in %", (0,), SMALL, splits=1
    ),
    "bandwidth": Study(
        by_bandwidth, "Bandwidth of the random Fourier features: accuracy in %", (0,), SMALL, splits=1
    ),
    "ranpac": Study(by_ridge_penalty, "Penalty of RanPAC: accuracy in %", (5000,), SMALL, splits=1),
    "ranpac-wide": Study(by_ridge_penalty, "Penalty of RanPAC: accuracy in %", (10_000,), splits=1),
}


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("studies", nargs="*", help=f"of {', '.join(STUDIES)}; all by default")
    parser.add_argument("--records", type=Path, default=RECORDS)
    wish = parser.parse_args()
    for name in wish.studies or STUDIES:
        for run in STUDIES[name].runs():
            play(run, STUDIES[name].splits, wish.records)


if __name__ == "__main__":
    main()
