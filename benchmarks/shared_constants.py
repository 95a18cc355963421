"""The constants of the shared mode, each tried beside its neighbours on training samples held out.

    python benchmarks/shared_constants.py [one-sample] [closed-form] [head] [growth] [--column TITLE ...]

Runs are kept in benchmarks/records/shared_constants.jsonl (``--records``): what is missing there is measured. Every
study is of features of the last layer and of the stages of EfficientNet-Lite0, found as the command line finds them,
and without a lift. Where a column takes a part of the training samples, the accuracy is that on 10,000 others of
them; else a fifth is held out. No test sample is looked at.

Constants that have gone (docs/shared-mode-details.md) are in records of the commits that had them.

What is in closed form needs the statistics once. Heads that differ in their steps only are trained side by side,
with the same inverse; a constant of a module is set for the length of a step, under its own name.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple, TypeAlias
from unittest.mock import patch

import numpy as np
from figures import Run, play

from i2cansay.core.linalg.row_buffer import RowBuffer
from i2cansay.core.statistics import discriminant
from i2cansay.core.statistics.scatter import SharedScatter
from i2cansay.core.types import Features, Rows
from i2cansay.experiments.report.study_tables import Values
from i2cansay.experiments.run.shared_features import share_features
from i2cansay.learners.shared import head_schedule, preconditioned_head, shared_i2cansay
from i2cansay.learners.shared.feature_map import FeatureMap
from i2cansay.learners.shared.shared_i2cansay import SharedI2CANSAY
from i2cansay.streams import low_data, make_stream

RECORDS = Path(__file__).parent / "records" / "shared_constants.jsonl"
LAST, STAGES = "efficientnet-lite0", "efficientnet-lite0+stages"
Constants: TypeAlias = Mapping[str, float]
HELD_OUT = 10_000
SHRINK_MEANS = (0.0, 0.005, 0.02, 0.1, 0.5)
USUAL_STRENGTH = 0.02
LEAST_SHARES = {"penalty not lowered": 1.0, "penalty lowered to a quarter at most": 0.25}
USUAL_LENGTHS = (0.0, 20.0, 50.0, 100.0, 200.0, 400.0, 1000.0, 1e6)
GROWTHS = (0.3, 1.0, 3.0)
HEAD_SHARES = (0.0, 1 / 6, 1 / 3, 1 / 2, 1.0)


@dataclass(frozen=True)
class Column:
    """Training samples of a data set, as an encoder gives them."""

    title: str
    dataset: str
    encoder: str
    stream: str
    fraction: float | None = None
    batch_size: int = 50
    lift: int | Literal["auto", "wide"] = 0
    width: int | None = None

    def split(
        self, seed: int, *, per_class: int | None = None, of: tuple[Features, Rows] | None = None
    ) -> "Split":
        """Draw what is learnt, and from the rest what is held out, of these training samples or of its own."""
        if of is None:
            found = share_features(self.dataset, self.encoder)
            (X, y), blocks = found.open("train"), found.blocks
        else:
            (X, y), blocks = of, (of[0].shape[1],)
        y = np.unique(y, return_inverse=True)[1]
        if per_class is None:
            learnt = low_data(y, self.fraction or 0.8, seed)
        else:
            order = np.random.default_rng(seed).permutation(len(y))
            learnt = np.concatenate(
                [order[y[order] == label][:per_class] for label in range(int(y.max()) + 1)]
            )
        others = np.random.default_rng(seed).permutation(np.setdiff1d(np.arange(len(y)), learnt))[:HELD_OUT]
        return Split(X[learnt], y[learnt], X[others], y[others], blocks)


class Split(NamedTuple):
    """Rows that are learnt, rows that are held out, and the widths of their blocks."""

    X: Features
    y: Rows
    X_held: Features
    y_held: Rows
    blocks: tuple[int, ...]

    def accuracy(self, scores: Features) -> float:
        """Return the share of held-out rows whose highest score is that of their class, in percent."""
        return 100 * float((scores.argmax(axis=1) == self.y_held).mean())

    def mapped(
        self, width: int | None = None, lift: int | Literal["auto", "wide"] = 0
    ) -> tuple[SharedScatter, Features]:
        """Return the statistics of what is learnt, and what is held out, both mapped as the shared mode does."""
        features = FeatureMap(
            self.X.shape[1], blocks=self.blocks, width=width, transform="auto", lift=lift, seed=0
        )
        features.decide(self.X[:50])
        scatter = SharedScatter(features.width, features.blocks)
        scatter.resize(int(self.y.max()) + 1)
        for start in range(0, len(self.X), 1000):
            some = slice(start, start + 1000)
            scatter.add(features.apply(self.X[some]), self.y[some])
        return scatter, features.apply(self.X_held)


SMALL = (
    Column("CIFAR-10 10%", "cifar10", LAST, "step:2", 0.1),
    Column("CIFAR-100 30%", "cifar100", LAST, "step:5", 0.3),
    Column("CUB-200", "cub200", LAST, "step:5"),
    Column("CIFAR-10 10%, stages", "cifar10", STAGES, "step:2", 0.1),
    Column("CIFAR-100 30%, stages", "cifar100", STAGES, "step:5", 0.3),
)
WHOLE_LAST = (
    Column("CIFAR-10", "cifar10", LAST, "step:2"),
    Column("CIFAR-100", "cifar100", LAST, "step:5"),
)
WHOLE_STAGES = (
    Column("CIFAR-10, stages", "cifar10", STAGES, "step:2"),
    Column("CIFAR-100, stages", "cifar100", STAGES, "step:5"),
)


REDUCED = tuple(
    replace(column, title=f"{column.title}, 1536", width=1536) for column in (SMALL[4], *WHOLE_STAGES)
)
BESIDE_A_LIFT = tuple(
    replace(column, title=f"{column.title}, and a lift", lift=3584) for column in (SMALL[4], WHOLE_STAGES[1])
)


# -- in closed form ----------------------------------------------------------------------------------------------


def closed_form(column: Column, seed: int) -> Values:
    """Return the accuracy for each strength of the shrunk means, and with a penalty that is lowered less."""
    split = column.split(seed)
    scatter, held = split.mapped(column.width, column.lift)
    penalty = discriminant.cross_validated_penalty(scatter)

    def accuracy(shrinkage: float, strength: float) -> float:
        return split.accuracy(discriminant.shrink_means(scatter, shrinkage, strength).scores.of(held))

    total, usual = scatter.means.total, discriminant.shrinkage_of(scatter, penalty)
    share, found = min(1.0, scatter.width / total), {}
    for name, least in LEAST_SHARES.items():
        lowered = penalty * max(least, share)
        found[name] = accuracy(lowered / (lowered + total), USUAL_STRENGTH)
    return found | {f"shrink_means {strength:g}": accuracy(usual, strength) for strength in SHRINK_MEANS}


def one_sample(column: Column, seed: int) -> Values:
    """Return the accuracy after one sample of every class, for each usual length of the means."""
    split = column.split(seed, per_class=1)
    (scatter, held), found = split.mapped(), {}
    for length in USUAL_LENGTHS:
        with patch.object(discriminant, "USUAL_LENGTH", length):
            solved = discriminant.shrink_means(scatter, 1.0, USUAL_STRENGTH)
        found[f"USUAL_LENGTH {length:g}"] = split.accuracy(solved.scores.of(held))
    return found


# -- the head ----------------------------------------------------------------------------------------------------

INF = float("inf")
AS_IT_IS = "as it is"
VARIANTS: Mapping[str, Constants] = {
    AS_IT_IS: {},
    **{f"lr {lr:g}": {"lr": lr} for lr in (0.005, 0.01, 0.04)},
    **{f"SAMPLES_PER_DEGREE {samples:g}": {"SAMPLES_PER_DEGREE": samples} for samples in (40.0, 160.0, INF)},
    "DEGREES_PER_CLASS inf": {"DEGREES_PER_CLASS": INF},
    **{
        f"FULL_STEP_UP_TO_PER_CLASS {samples:g}": {"FULL_STEP_UP_TO_PER_CLASS": samples}
        for samples in (125.0, 250.0, 1000.0, INF)
    },
}
"""Heads that differ in their steps only: they share statistics and inverse."""
SMALL_LESSONS: Mapping[str, Constants] = {
    f"FULL_STEP_FROM_SAMPLES {samples}": {"FULL_STEP_FROM_SAMPLES": samples} for samples in (1, 10, 200)
}
"""Tried where lessons are smaller than 50 samples."""
MODULES: tuple[ModuleType, ...] = (preconditioned_head, head_schedule)


@contextmanager
def set_to(model: SharedI2CANSAY, constants: Constants) -> Iterator[None]:
    """Give constants other values, whether they are the model's parameters or those of a module."""
    with ExitStack() as stack:
        for name, value in constants.items():
            owners = (owner for owner in (model, *MODULES) if hasattr(owner, name))
            stack.enter_context(patch.object(next(owners), name, value))
        yield


class ManyHeads(SharedI2CANSAY):
    """The shared mode with a head for each of several sets of constants, all of which see the same analogies."""

    parts = SharedI2CANSAY.parts
    calibrates = False

    def use(self, variants: Mapping[str, Constants]) -> None:
        """Begin with these."""
        self.variants, self._of_variant = variants, dict[str, RowBuffer]()

    def _step(self, *arguments: Any, **named: Any) -> None:
        drawn = self._rng.bit_generator.state
        for name, constants in self.variants.items():
            self._rng.bit_generator.state = drawn
            with self.as_variant(name), set_to(self, constants):
                super()._step(*arguments, **named)

    @contextmanager
    def as_variant(self, name: str) -> Iterator[None]:
        """Have the weights of one of them for a while."""
        assert self._head is not None
        weights = self._of_variant.setdefault(
            name, RowBuffer(width=self._scatter.matrix.size, dtype=np.float32)
        )
        weights.resize(len(self._scatter.means))
        with patch.object(self._head, "_weights", weights):
            yield


def head(column: Column, seed: int) -> Values:
    """Return the accuracy with analogies for each set of constants and some shares of the head.

    A share of 0 is the closed form alone, with the penalty that was chosen with an inverse; beside it is the closed
    form with the penalty that all samples ask for.
    """
    split, found = column.split(seed), {}
    usual = shared_i2cansay.HEAD_SHARE
    model = ManyHeads(blocks=split.blocks, lift=column.lift, random_state=seed)
    model.use({**VARIANTS, **(SMALL_LESSONS if column.batch_size < 50 else {})})
    for batch in make_stream(column.stream, split.y, seed=seed, batch_size=column.batch_size):
        model.partial_fit(split.X[batch.rows], split.y[batch.rows])

    def accuracy(name: str, share: float) -> float:
        with (
            model.as_variant(name),
            set_to(model, model.variants[name]),
            patch.object(shared_i2cansay, "HEAD_SHARE", share),
        ):
            return split.accuracy(model.class_scores(split.X_held))

    for name in model.variants:
        for share in HEAD_SHARES if name == AS_IT_IS else (usual, 1.0):
            found[name if share == usual else f"{name}, HEAD_SHARE {share:.2g}"] = accuracy(name, share)
    model._shrinkage.expire()
    model._solution.clear()
    found[f"{AS_IT_IS}, HEAD_SHARE 0, penalty of all samples"] = accuracy(AS_IT_IS, 0.0)
    return found


def growth(column: Column, seed: int) -> Values:
    """Return the accuracy with analogies for inverses that are made more often, and less."""
    split, found = column.split(seed), {}
    for growth in GROWTHS:
        model = SharedI2CANSAY(blocks=split.blocks, lift=column.lift, random_state=seed)
        model.calibrates = False
        with patch.object(preconditioned_head, "GROWTH", growth):
            for batch in make_stream(column.stream, split.y, seed=seed, batch_size=column.batch_size):
                model.partial_fit(split.X[batch.rows], split.y[batch.rows])
        found[f"GROWTH {growth:g}"] = split.accuracy(model.class_scores(split.X_held))
    return found


# -- what is played ----------------------------------------------------------------------------------------------


class Study(NamedTuple):
    """Runs, and on how many splits each is played."""

    runs: tuple[Run, ...]
    splits: int


def study(
    table: str, measure: Callable[[Column, int], Values], columns: tuple[Column, ...], splits: int
) -> Study:
    """Return a run per column."""
    return Study(tuple(Run(table, column.title, partial(measure, column)) for column in columns), splits)


ONE_BY_ONE = Column("CIFAR-10 4%, one by one", "cifar10", LAST, "step:2", 0.04, batch_size=1)
LIFTED = tuple(
    replace(column, title=f"{column.title}, lifted", lift="auto") for column in (*SMALL[:3], *WHOLE_LAST)
)
WIDE = replace(SMALL[1], title="CIFAR-100 30%, wide", lift="wide")
STUDIES = {
    "one-sample": study(
        "constants, one sample per class", one_sample, (*WHOLE_LAST, SMALL[2], *WHOLE_STAGES), 5
    ),
    "closed-form": study(
        "constants of the closed form, four blocks",
        closed_form,
        (*SMALL[3:], *WHOLE_STAGES, *REDUCED, *SMALL[:3], *WHOLE_LAST, *BESIDE_A_LIFT),
        3,
    ),
    "head": study(
        "constants of the head that are left",
        head,
        (*SMALL, ONE_BY_ONE, *LIFTED, WIDE, *WHOLE_LAST, *WHOLE_STAGES),
        3,
    ),
    "growth": study("how often the head's inverse is made", growth, (*SMALL, WHOLE_STAGES[0]), 3),
}


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("studies", nargs="*", help=f"of {', '.join(STUDIES)}; all by default")
    parser.add_argument("--records", type=Path, default=RECORDS)
    parser.add_argument("--column", action="append", default=[], help="only this one; repeatable")
    parser.add_argument("--from-split", type=int, default=0, help="leave out those before")
    parser.add_argument("--splits", type=int, default=5, help="at most so many; fewer take less time")
    wish = parser.parse_args()
    for name in wish.studies or STUDIES:
        for run in STUDIES[name].runs:
            if wish.column and run.name not in wish.column:
                continue
            play(run, min(STUDIES[name].splits, wish.splits), wish.records, first=wish.from_split)


if __name__ == "__main__":
    main()
