"""Which maps of EfficientNet-Lite0 its stages are made of, decided on training samples held out.

    python benchmarks/stage_choice.py [--column TITLE ...] [--splits N]

All candidates are encoded once, as blocks of one feature store; a choice of blocks is a choice of columns of it. The
accuracy is that of the closed form on 10,000 training samples that were not learnt, with features reduced to the
widths of `best`, 4256, and of `small`, 1536. No test sample is looked at. Runs are kept in
benchmarks/records/stage_choice.jsonl (``--records``): what is missing there is measured.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np
from figures import Run, play
from scipy.linalg import lapack
from shared_constants import SMALL, USUAL_STRENGTH, WHOLE_STAGES, Column

from i2cansay.core.statistics import discriminant
from i2cansay.core.statistics.scatter import SharedScatter
from i2cansay.core.types import Features, Float64, Rows
from i2cansay.datasets import get_dataset
from i2cansay.encoders.efficientnet import EFFICIENTNET_LITE0
from i2cansay.encoders.stages import Stage
from i2cansay.experiments.report.study_tables import Values
from i2cansay.features import FeatureStore, encode_dataset
from i2cansay.learners.choices import BEST_WIDTH, SMALL_WIDTH
from i2cansay.learners.shared.reduction import Reduction

RECORDS = Path(__file__).parent / "records" / "stage_choice.jsonl"
TABLE = "choice of stages"
# `tools/stage_scales.py` measured the scales.
STAGES = (
    Stage("block15.expansion", 1.7),
    Stage("block12.expansion", 2.4),
    Stage("block10.expansion", 3.8),
    Stage("block11.expansion", 2.1),
)
THREE = ("last", "block15.expansion", "block12.expansion")
CHOICES: Mapping[str, tuple[str, ...]] = {
    "last, 15, 12": THREE,
    "last, 15, 12, 10": (*THREE, "block10.expansion"),
    "last, 15, 12, 11": (*THREE, "block11.expansion"),
    "last, 15, 12, 10, 11": (*THREE, "block10.expansion", "block11.expansion"),
}
COLUMNS = (*SMALL[3:], *WHOLE_STAGES)
SPLITS = 3
ROWS_AT_A_TIME = 2000


@cache
def candidates(dataset: str) -> FeatureStore:
    """Return the training features of all candidates, encoding what is not encoded yet."""
    recipe = replace(EFFICIENTNET_LITE0, stages=STAGES)
    encoder = recipe.open(name=recipe.name, features="stages")
    return encode_dataset(get_dataset(dataset), encoder, "train")


def gather(X: Features, y: Rows) -> tuple[Float64, Float64, Float64]:
    """Return the scatter around the class means, (d, d), the means, (c, d), and the counts, (c,)."""
    counts = np.bincount(y).astype(np.float64)
    squares, sums = np.zeros((X.shape[1],) * 2), np.zeros((len(counts), X.shape[1]))
    for start in range(0, len(X), ROWS_AT_A_TIME):
        roots = root(X[start : start + ROWS_AT_A_TIME])
        np.add.at(sums, y[start : start + ROWS_AT_A_TIME], roots)
        squares += roots.T @ roots
    means = sums / counts[:, None]
    return squares - (means.T * counts) @ means, means, counts


def root(X: Features) -> Features:
    """Return the square root in single precision."""
    roots: Features = np.sqrt(np.asarray(X, dtype=np.float32))
    return roots


def accuracies(column: Column, seed: int) -> Values:
    """Return the accuracy of every choice, as it is used and at the width of `small`, in percent."""
    store = candidates(column.dataset)
    split = column.split(seed, of=(store.features, store.labels))
    matrix, means, counts = gather(split.X, split.y)
    held, found = root(split.X_held), {}
    ends = np.cumsum([0, *(block.width for block in store.blocks)])
    columns = {block.name: np.arange(*ends[i : i + 2]) for i, block in enumerate(store.blocks)}
    for name, blocks in CHOICES.items():
        chosen = np.concatenate([columns[block] for block in blocks])
        widths = [len(columns[block]) for block in blocks]
        statistics = matrix[np.ix_(chosen, chosen)], means[:, chosen], counts
        for width in (BEST_WIDTH, SMALL_WIDTH):
            reduction = Reduction(widths, width)
            scatter = reduced(*statistics, reduction)
            shrinkage = discriminant.cross_validated_shrinkage(scatter)
            scores = discriminant.shrink_means(scatter, shrinkage, USUAL_STRENGTH).scores
            found[f"{name}; {width}"] = split.accuracy(scores.of(reduction.apply(held[:, chosen])))
    return found


def reduced(matrix: Float64, means: Float64, counts: Float64, reduction: Reduction) -> SharedScatter:
    """Return the statistics of reduced features: a product with those of all dimensions."""
    matrix, means = reduction.apply(reduction.apply(matrix).T), reduction.apply(means)
    scatter = SharedScatter(len(matrix), reduction.widths)
    scatter.restore(
        {
            "count": counts,
            "mean": means,
            "total": np.array([counts.sum()]),
            "centre": counts @ means / counts.sum(),
            "matrix": lapack.dtrttf(matrix)[0],
        },
        len(means),
    )
    return scatter


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=Path, default=RECORDS)
    parser.add_argument("--column", action="append", default=[], help="only this one; repeatable")
    parser.add_argument("--splits", type=int, default=SPLITS, help="at most so many; fewer take less time")
    wish = parser.parse_args(arguments)
    for column in COLUMNS:
        if not wish.column or column.title in wish.column:
            play(Run(TABLE, column.title, partial(accuracies, column)), wish.splits, wish.records)


if __name__ == "__main__":
    main()
