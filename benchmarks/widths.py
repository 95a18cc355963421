"""Accuracy for the size of the model: reductions of the stage features at several widths, and what a lesson costs.

    python benchmarks/widths.py [accuracy] [cost]

Runs are kept in benchmarks/records/widths.jsonl (``--records``): what is missing there is measured. ``accuracy`` is
that of the closed form on 10,000 training samples held out; no test sample is looked at. Statistics are gathered
once, at all 4256 dimensions: those of reduced features are a product with them. What is compared:

- rotation: signs and cosine transform, as `width=` has it; nothing is stored;
- components: the first principal components of 2,500 *other* images, of CIFAR-10 for CIFAR-100 and the reverse, with
  blocks divided by their standard deviation there; in a package they would weigh 2 bytes for each number;
- channels: those that explain most of the others, on the same other images, by pivoted Cholesky.

``cost`` teaches a sample to a model of 100 classes and commits it as the service does: the bytes of the state that
change, and the processor time until they are on the disk. A wall clock would measure the disk and other work.
"""

import argparse
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from figures import Run, play
from scipy.linalg import eigh, lapack
from shared_constants import SMALL, Column

from i2cansay.core.statistics import discriminant
from i2cansay.core.statistics.blocks import Blocks
from i2cansay.core.statistics.scatter import SharedScatter
from i2cansay.core.types import Features, Float64, Rows
from i2cansay.experiments.report.study_tables import Values
from i2cansay.experiments.run.shared_features import share_features
from i2cansay.learners import make_learner
from i2cansay.learners.shared.reduction import Reduction
from i2cansay.service.storage.blocks import changed_blocks
from i2cansay.service.storage.database import Changes, Database
from i2cansay.service.storage.model_records import ModelFacts

RECORDS = Path(__file__).parent / "records" / "widths.jsonl"
TABLE = "accuracy for the size of the model"
WIDTHS = (768, 1024, 1536, 2048)
COLUMNS = SMALL[3:]
OTHER = {"cifar10": "cifar100", "cifar100": "cifar10"}
OTHER_ROWS = 2500
STRENGTH = 0.02
SPLITS = 3


class Statistics(NamedTuple):
    """What the closed form needs of the samples learnt, and the samples held out."""

    matrix: Float64
    means: Float64
    counts: Float64
    held: Features
    y_held: Rows
    blocks: tuple[int, ...]

    def accuracy(self) -> Values:
        """Return the accuracy of the closed form, and of discriminant analysis with OAS shrinkage, in percent."""
        scatter = SharedScatter(len(self.matrix), self.blocks)
        state = {
            "count": self.counts,
            "mean": self.means,
            "total": np.array([self.counts.sum()]),
            "centre": self.counts @ self.means / self.counts.sum(),
            "matrix": lapack.dtrttf(self.matrix)[0],
        }
        scatter.restore(state, len(self.means))
        shrinkage = discriminant.cross_validated_shrinkage(scatter)
        scores = discriminant.shrink_means(scatter, shrinkage, STRENGTH).scores.of(self.held)
        plain = SharedScatter(len(self.matrix))
        plain.restore(state, len(self.means))
        slda = discriminant.discriminant(plain, plain.oas_shrinkage()).of(self.held)
        return {"accuracy": self._right(scores), "accuracy, SLDA": self._right(slda)}

    def _right(self, scores: Features) -> float:
        return 100 * float((scores.argmax(axis=1) == self.y_held).mean())


class Other(NamedTuple):
    """What is known from other images: factors of the dimensions, components (d, k), channels in their order."""

    factors: Float64
    components: Float64
    channels: Rows


@lru_cache(maxsize=SPLITS)
def gathered(column: Column, seed: int) -> Statistics:
    """Return the statistics of all dimensions."""
    split = column.split(seed)
    scatter, held = split.mapped(sum(split.blocks))
    means = scatter.means
    return Statistics(
        scatter.matrix.dense(), means.mean, means.count, held.astype(np.float32), split.y_held, split.blocks
    )


@cache
def other_images(column: Column) -> Other:
    """Return components and channels of the training images of another data set."""
    found = share_features(OTHER[column.dataset], column.encoder)
    X = found.open("train")[0]
    rows = np.sort(np.random.default_rng(0).choice(len(X), OTHER_ROWS, replace=False))
    roots = np.sqrt(np.maximum(X[rows], 0))
    roots -= roots.mean(axis=0)
    blocks = Blocks(found.blocks)
    factors = blocks.expand(blocks.means(np.square(roots).mean(axis=0, dtype=np.float64)) ** -0.5)
    roots *= factors.astype(np.float32)
    # Fewer rows than dimensions: their products are the smaller matrix, with the same components.
    values, vectors = eigh(roots @ roots.T, subset_by_index=(len(roots) - max(WIDTHS), len(roots) - 1))
    components = roots.T @ (vectors / np.sqrt(values))
    pivots = lapack.dpstrf((roots.T @ roots).astype(np.float64))[1]
    return Other(factors, components[:, ::-1].astype(np.float64), pivots - 1)


@lru_cache(maxsize=SPLITS)
def in_components(column: Column, seed: int) -> Statistics:
    """Return the statistics of the widest set of components; narrower ones are its first."""
    whole, other = gathered(column, seed), other_images(column)
    basis = other.components * other.factors[:, None]
    matrix, means = basis.T @ (whole.matrix @ basis), whole.means @ basis
    held = whole.held @ basis.astype(np.float32)
    return Statistics(matrix, means, whole.counts, held, whole.y_held, (basis.shape[1],))


def all_dimensions(column: Column, seed: int) -> Values:
    """Return the accuracy without any reduction."""
    return gathered(column, seed).accuracy()


def rotated(column: Column, width: int, seed: int) -> Values:
    """Return the accuracy of the rotation that the learner has."""
    whole = gathered(column, seed)
    reduction = Reduction(whole.blocks, width)
    reduced = reduction.apply
    return whole._replace(
        matrix=reduced(reduced(whole.matrix).T),
        means=reduced(whole.means),
        held=reduced(whole.held).astype(np.float32),
        blocks=reduction.widths,
    ).accuracy()


def components(column: Column, width: int, seed: int) -> Values:
    """Return the accuracy in the first principal components of other images."""
    widest = in_components(column, seed)
    return widest._replace(
        matrix=np.ascontiguousarray(widest.matrix[:width, :width]),
        means=widest.means[:, :width],
        held=widest.held[:, :width],
        blocks=(width,),
    ).accuracy()


def channels(column: Column, width: int, seed: int) -> Values:
    """Return the accuracy with some of the channels."""
    whole = gathered(column, seed)
    chosen = np.sort(other_images(column).channels[:width])
    ends = np.cumsum(whole.blocks)
    return whole._replace(
        matrix=whole.matrix[np.ix_(chosen, chosen)],
        means=whole.means[:, chosen],
        held=whole.held[:, chosen],
        blocks=tuple(np.bincount(np.searchsorted(ends, chosen, side="right")).tolist()),
    ).accuracy()


# -- what a lesson costs -----------------------------------------------------------------------------------------

STAGES = (1280, 1152, 1152, 672)
CLASSES = 100
LESSONS = 5
CLOSED_FORM = {"analogies": False, "lift": 0}
LEARNERS: Mapping[str, tuple[str, Mapping[str, Any], tuple[int, ...]]] = {
    "paper mode": ("i2cansay", {}, (1280,)),
    "shared mode": ("i2cansay_shared", {}, (1280,)),
    "shared mode, wide": ("i2cansay_shared", {"lift": "wide"}, (1280,)),
    "last layer": ("i2cansay_shared", CLOSED_FORM, (1280,)),
    "SLDA, OAS": ("slda", {"shrinkage": "oas"}, (1280,)),
    "ridge, GCV": ("ridge", {"penalty": "gcv"}, (1280,)),
    "RanPAC 5,000": ("ranpac", {"n_projections": 5000}, (1280,)),
    "RanPAC 10,000": ("ranpac", {}, (1280,)),
    "random Fourier LDA": ("rff_lda", {"bandwidth": 4.0}, (1280,)),
    "F-OAL": ("foal", {}, (1280,)),
    "FeCAM": ("fecam", {"gamma1": 1.0, "gamma2": 1.0}, (1280,)),
    "all dimensions": ("i2cansay_shared", CLOSED_FORM | {"width": sum(STAGES)}, STAGES),
    **{f"rotation {width}": ("i2cansay_shared", CLOSED_FORM | {"width": width}, STAGES) for width in WIDTHS},
    "stages: SLDA, OAS": ("slda", {"shrinkage": "oas"}, STAGES),
    "stages: ridge, GCV": ("ridge", {"penalty": "gcv"}, STAGES),
    "stages: paper mode": ("i2cansay", {}, STAGES),
    "stages: RanPAC 5,000": ("ranpac", {"n_projections": 5000}, STAGES),
    "stages: RanPAC 10,000": ("ranpac", {}, STAGES),
    "stages: F-OAL": ("foal", {}, STAGES),
    "stages: analogies": ("i2cansay_shared", {"lift": 0, "width": sum(STAGES)}, STAGES),
}


def cost(name: str, seed: int) -> Values:
    """Return the MB of 100 classes, and of one more sample the MB that it changes and the ms until it is durable."""
    learner, parameters, blocks = LEARNERS[name]
    model = make_learner(learner, **parameters)
    if len(blocks) > 1 and "blocks" in model.get_params():
        model.set_params(blocks=blocks)
    rng = np.random.default_rng(seed)
    X, y = rng.random((2 * CLASSES, sum(blocks)), dtype=np.float32), np.arange(2 * CLASSES) % CLASSES
    model.partial_fit(X, y)
    facts = ModelFacts("model", learner, dict(parameters), None, 1, 0.0)
    changed, times = 0, []
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.sqlite"
        before = copied(model.state())
        Database.create(path, facts, before)
        database = Database(path)
        database.read()
        for lesson in range(LESSONS):
            begin = process_time()
            model.partial_fit(X[lesson : lesson + 1] * 1.5, y[lesson : lesson + 1])
            after = copied(model.state())
            database.commit(lesson + 2, after, {}, Changes())
            times.append(process_time() - begin)
            changed, before = sum(len(block.data) for block in changed_blocks(after, before)), after
        database.close()
    saved = sum(array.nbytes for array in before.values())
    return {"MB": saved / 1e6, "MB written": changed / 1e6, "ms": 1e3 * min(times)}


def copied(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return arrays of their own: the learner goes on changing its."""
    return {name: np.array(array) for name, array in state.items()}


def accuracies() -> Iterator[Run]:
    """Yield a run per reduction, width and data set."""
    for column in COLUMNS:
        yield Run(TABLE, f"all dimensions, {column.title}", partial(all_dimensions, column))
        for width in WIDTHS:
            for kind, measure in (("rotation", rotated), ("components", components), ("channels", channels)):
                yield Run(TABLE, f"{kind} {width}, {column.title}", partial(measure, column, width))


def last_layers() -> Iterator[Run]:
    """Yield the runs of the last layer alone."""
    for last, column in zip(SMALL, COLUMNS, strict=False):
        yield Run(TABLE, f"last layer, {column.title}", partial(all_dimensions, last))


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("studies", nargs="*", help="of accuracy, cost; all by default")
    parser.add_argument("--records", type=Path, default=RECORDS)
    parser.add_argument("--splits", type=int, default=5, help="at most so many; fewer take less time")
    wish = parser.parse_args()
    if "accuracy" in wish.studies or not wish.studies:
        for run in (*last_layers(), *accuracies()):
            play(run, min(SPLITS, wish.splits), wish.records)
    if "cost" in wish.studies or not wish.studies:
        for name in LEARNERS:
            play(Run(TABLE, f"{name}, cost", partial(cost, name)), 1, wish.records)


if __name__ == "__main__":
    main()
