"""The shared mode beside its peers, and what each of its ingredients brings: plays the cells, writes the tables.

    python benchmarks/shared_mode.py play --records FOLDER [--seeds 5] [--only shared] [--column "CUB-200"]
    python benchmarks/shared_mode.py pack --records FOLDER --to benchmarks/records/shared_mode.jsonl
    python benchmarks/shared_mode.py table --records benchmarks/records/shared_mode.jsonl [--ablation]

Cells that are finished are not played again. Peers whose decision does not depend on the order of the samples are
played on one stream only; with all the data nothing differs from seed to seed then but random projections, and peers
without those are played once.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import t as student_t

from i2cansay.evaluate import last_accuracy
from i2cansay.experiments import Cell, Record, load_records, paired_difference, run_cells, spread
from i2cansay.experiments.run.record_folder import pack_records
from i2cansay.learners import make_learner

LITE, DEIT = "efficientnet-lite0", "deit_tiny"
KINDS = ("step", "Gaussian")


@dataclass(frozen=True)
class Column:
    """A data set, a share of it, and the classes of a session."""

    title: str
    dataset: str
    fraction: float | None
    step: int
    encoder: str = LITE

    def streams(self) -> tuple[str, str]:
        """Return the two streams it is played on."""
        return f"step:{self.step}", "gaussian"


@dataclass(frozen=True)
class Row:
    """A learner with parameters, and others in some columns."""

    title: str
    learner: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    in_column: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def given(self, column: Column) -> Mapping[str, Any]:
        """Return the parameters it is played with there."""
        return {**self.parameters, **self.in_column.get(column.title, {})}

    @property
    def random(self) -> bool:
        """Whether something is drawn that the order of the samples has no part in."""
        drawn = {"ranpac": True, "rff_lda": True, "i2cansay_shared": self.parameters.get("lift") != 0}
        return drawn.get(self.learner, False)

    @property
    def order_free(self) -> bool:
        """Whether one stream tells all."""
        made = make_learner(self.learner, **self.parameters)
        return made.order_free or not made.streaming


COLUMNS = (
    Column("CIFAR-10 10%", "cifar10", 0.1, 2),
    Column("CIFAR-10", "cifar10", None, 2),
    Column("CIFAR-100 30%", "cifar100", 0.3, 5),
    Column("CIFAR-100", "cifar100", None, 5),
    Column("CUB-200", "cub200", None, 5),
    Column("CIFAR-100, DeiT-Tiny", "cifar100", None, 5, DEIT),
)
SHARED = Row("**shared mode**", "i2cansay_shared")
WIDE = Row("**shared mode, wide**", "i2cansay_shared", {"lift": "wide"})
PAPER = Row("paper mode", "i2cansay")
# The best of `shared_choices.py table ranpac-wide` in each column, where it is not 1,000.
HELD_OUT_PENALTIES = {
    "CIFAR-10 10%": {"penalty": 3000.0},
    "CIFAR-10": {"penalty": 3000.0},
    "CIFAR-100": {"penalty": 300.0},
    "CIFAR-100, DeiT-Tiny": {"penalty": 300.0},
}
ROWS = (
    PAPER,
    SHARED,
    WIDE,
    Row("SLDA, epsilon 1e-4", "slda"),
    Row("SLDA, OAS", "slda", {"shrinkage": "oas"}),
    Row("ridge, GCV", "ridge", {"penalty": "gcv"}),
    Row("RanPAC 5,000, GCV", "ranpac", {"n_projections": 5000}),
    Row("RanPAC 5,000, penalty 1,000", "ranpac", {"n_projections": 5000, "penalty": 1000.0}),
    Row("RanPAC 10,000, penalty 1,000", "ranpac", {"penalty": 1000.0}),
    Row("RanPAC 10,000, penalty held out", "ranpac", {"penalty": 1000.0}, HELD_OUT_PENALTIES),
    Row("random Fourier LDA 5,000", "rff_lda", {"bandwidth": 4.0}),
    Row("FeCAM", "fecam"),
    Row("FeCAM, without the root", "fecam", {"feature_transform": "none"}),
    Row("joint (offline limit)", "joint", {"C": "cv", "feature_transform": "cv"}),
)
ABLATION = (
    SHARED,
    Row("without analogies (closed form)", "i2cansay_shared", {"analogies": False}),
    Row("closed form, means not drawn in", "i2cansay_shared", {"analogies": False, "shrink_means": 0.0}),
    Row("closed form, OAS shrinkage", "i2cansay_shared", {"analogies": False, "shrinkage": "oas"}),
    Row(
        "closed form, without the root", "i2cansay_shared", {"analogies": False, "feature_transform": "none"}
    ),
    Row("without the lift", "i2cansay_shared", {"lift": 0}),
    Row("closed form, without the lift", "i2cansay_shared", {"analogies": False, "lift": 0}),
    Row("nothing of all this: SLDA, OAS", "slda", {"shrinkage": "oas"}),
    Row("without covariance and closed form: paper mode", "i2cansay"),
)


def cells(row: Row, column: Column, seeds: int) -> Iterator[Cell]:
    """Give the cells of one place of a table."""
    streams = column.streams()[: 1 if row.order_free else 2]
    n_seeds = 1 if row.order_free and not row.random and column.fraction is None else seeds
    for stream in streams:
        for seed in range(n_seeds):
            yield Cell(
                column.dataset,
                column.encoder,
                stream,
                row.learner,
                row.given(column),
                seed=seed,
                fraction=column.fraction,
                every_session=False,
            )


def found(records: Iterable[Record], row: Row, column: Column, stream: str) -> list[Record]:
    """Return the records of one place, by seed."""
    wanted = Cell(
        column.dataset, column.encoder, stream, row.learner, row.given(column), fraction=column.fraction
    )
    identity, keys = wanted.identity(), ("dataset", "encoder", "stream", "learner", "fraction")
    # All parameters are compared, not only those that were given: a default may have been another then.
    matching = {
        int(record.cell["seed"]): record
        for record in records
        if all(record.cell.get(key) == identity.get(key) for key in keys)
        and wanted.with_seed(int(record.cell["seed"])).fits(record.parameters)
    }
    return [matching[seed] for seed in sorted(matching)]


def percent(record: Record) -> float:
    """Return the last accuracy in percent."""
    return 100 * last_accuracy(record.outcome)


def place(records: Sequence[Record], row: Row, column: Column, stream: str) -> str:
    """Return one place of a table: mean and deviation over seeds."""
    own = found(records, row, column, column.streams()[0] if row.order_free else stream)
    if not own:
        return "-"
    over = spread(percent(record) for record in own)
    return f"{over.mean:.2f}" + (f" ± {over.std:.2f} ({len(own)})" if len(own) > 1 else " (1)")


def table(records: Sequence[Record], rows: Sequence[Row], columns: Sequence[Column], kind: int) -> str:
    """Return a Markdown table of one kind of stream: a column per data set; in brackets the number of seeds."""
    names = [column.title for column in columns]
    lines = [
        f"| last accuracy, %, {KINDS[kind]} | " + " | ".join(names) + " | MB |",
        "|---" * (len(columns) + 2) + "|",
    ]
    for row in rows:
        places = [place(records, row, column, column.streams()[kind]) for column in columns]
        size = found(records, row, COLUMNS[3], COLUMNS[3].streams()[0])
        megabytes = f"{size[0].outcome.state_bytes / 1e6:.0f}" if size else "-"
        lines.append(f"| {row.title} | " + " | ".join(places) + f" | {megabytes} |")
    return "\n".join(lines)


def differences(
    records: Sequence[Record], rows: Sequence[Row], columns: Sequence[Column], kind: int, ours: Row = SHARED
) -> str:
    """Return one of our rows minus every other, paired by seed, with its 95% interval."""
    names = [column.title for column in columns]
    lines = [
        f"| {ours.title.strip('*')} minus, {KINDS[kind]} | " + " | ".join(names) + " |",
        "|---" * (len(columns) + 1) + "|",
    ]
    for row in rows:
        if row == ours:
            continue
        places = []
        for column in columns:
            stream = column.streams()[kind]
            mine = found(records, ours, column, stream)
            theirs = found(records, row, column, column.streams()[0] if row.order_free else stream)
            fixed = row.order_free and not row.random and column.fraction is None
            places.append(difference(mine, theirs, fixed=fixed))
        lines.append(f"| {row.title} | " + " | ".join(places) + " |")
    return "\n".join(lines)


def difference(mine: Sequence[Record], theirs: Sequence[Record], *, fixed: bool) -> str:
    """Return the mean difference over common seeds and its 95% interval.

    A peer that is `fixed`, the same for every seed, is compared with each of ours.
    """
    if not fixed:
        common = {record.cell["seed"] for record in mine} & {record.cell["seed"] for record in theirs}
        mine = [record for record in mine if record.cell["seed"] in common]
        theirs = [record for record in theirs if record.cell["seed"] in common]
    if not mine or not theirs:
        return "-"
    if fixed and len(mine) > 1:
        gaps = np.array([percent(record) - percent(theirs[0]) for record in mine])
        half = float(student_t.ppf(0.975, len(gaps) - 1) * gaps.std(ddof=1) / np.sqrt(len(gaps)))
        return f"{gaps.mean():+.2f} [{gaps.mean() - half:+.2f}, {gaps.mean() + half:+.2f}]"
    if len(mine) == 1:
        return f"{percent(mine[0]) - percent(theirs[0]):+.2f} (one seed)"
    gap = paired_difference(mine, theirs, percent)
    return f"{gap.mean:+.2f} [{gap.low:+.2f}, {gap.high:+.2f}]"


def main() -> None:
    """Play cells, gather finished ones in one file, or print their tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("play", "pack", "table"))
    parser.add_argument("--records", required=True, help="folder of the records, or a packed file")
    parser.add_argument("--to", help="the file to pack into")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", action="append", default=[], help="learners to play; all by default")
    parser.add_argument("--column", action="append", default=[], help="titles of columns; all by default")
    parser.add_argument("--ablation", action="store_true", help="the ingredients in place of the peers")
    wish = parser.parse_args()
    rows = ABLATION if wish.ablation else ROWS
    columns = [column for column in COLUMNS if not wish.column or column.title in wish.column]
    if wish.what == "play":
        chosen = [row for row in rows if not wish.only or row.learner in wish.only]
        wanted = [cell for column in columns for row in chosen for cell in cells(row, column, wish.seeds)]
        run_cells(wanted, wish.records, jobs=wish.jobs)
        return
    records = list(load_records(wish.records))
    if wish.what == "pack":
        pack_records(records, wish.to)
        return
    for kind in range(1 if wish.ablation else 2):
        print(table(records, rows, columns, kind), end="\n\n")
        for ours in (SHARED,) if wish.ablation else (SHARED, WIDE):
            print(differences(records, rows, columns, kind, ours), end="\n\n")


if __name__ == "__main__":
    main()
