"""Figures in sentences are those of the records, and a place that says nothing is an error."""

from dataclasses import replace
from pathlib import Path

import pytest
from page_figures import Figures

from i2cansay.experiments.declare.choice import Choice
from i2cansay.experiments.declare.declaration import load_table
from i2cansay.experiments.report.plan_models import paired_records
from i2cansay.experiments.report.publication import Publication
from i2cansay.experiments.run.filling import RecordIndex, fill_table
from i2cansay.experiments.run.metric import metric_of
from i2cansay.experiments.run.plan import Entry
from i2cansay.experiments.run.seed_statistics import Spread, spread

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not (ROOT / "results").is_dir(), reason="no published results here")

RUNS = {
    ("encoders", "net, cifar10", seed): {"best": 90.0 + seed, "NCM": 80.0, "1 - highest": 7.0}
    for seed in range(3)
}
COLUMN, OTHER_COLUMN = "CIFAR-100 30%", "CIFAR-10 10%"


@pytest.fixture(scope="module")
def figures() -> Figures:
    published = RecordIndex(Publication.load(ROOT / "results").methods)
    plan = fill_table(load_table("shared-step"), published, Choice(rows=("paper", "ridge", "joint")))
    return Figures({"shared-step": plan, "again": plan}, RUNS)


def entry_of(figures: Figures, row: str, column: str = COLUMN) -> Entry:
    (entry,) = (
        entry
        for each in figures.plans["again"].rows
        if each.declared.name == row
        for entry in each.entries
        if entry.column.name == column
    )
    return entry


def shown(figures: Figures, row: str, column: str = COLUMN) -> Spread:
    entry = entry_of(figures, row, column)
    assert entry.ours is not None
    return entry.ours


def test_every_kind_of_place_is_filled(figures: Figures) -> None:
    paper, ridge = shown(figures, "paper"), shown(figures, "ridge")
    for place, value in (
        (f"paper / {COLUMN}", paper.mean),
        (f"again: paper / {COLUMN}", paper.mean),
        (f"again: paper / {COLUMN} ±", paper.std),
        (f"ridge - paper / {COLUMN}", ridge.mean - paper.mean),
        (f"again: paper - ridge / {COLUMN}", paper.mean - ridge.mean),
        ("encoders / net, cifar10 / best", 91.0),
        ("encoders / net, cifar10 / best - NCM", 11.0),
        ("encoders / net, cifar10 / 1 - highest", 7.0),
    ):
        source = f"<!-- figure: {place} -->"
        filled = figures.fill(f"1.2%{source}, -0.3{source} and 5.6")
        assert filled == f"{value:.1f}%{source}, {value:.1f}{source} and 5.6"


def test_the_deviation_of_a_difference_is_that_of_its_pairs(figures: Figures) -> None:
    accuracy = metric_of("last")
    paper, ridge = (
        {record.seed: accuracy(record) for record in entry_of(figures, row, COLUMN).records}
        for row in ("paper", "ridge")
    )
    std = spread(ridge[seed] - paper[seed] for seed in paper).std
    assert figures.find(f"ridge - paper / {COLUMN} ±") == f"{std:.1f}" != "0.0"


def test_the_least_and_the_most_of_several_columns(figures: Figures) -> None:
    gains = [
        shown(figures, "ridge", column).mean - shown(figures, "paper", column).mean
        for column in (COLUMN, OTHER_COLUMN)
    ]
    assert f"{min(gains):.1f}" != f"{max(gains):.1f}"
    for word, value in (("least", min(gains)), ("most", max(gains))):
        assert figures.find(f"ridge - paper / {word} of {COLUMN}; {OTHER_COLUMN}") == f"{value:.1f}"


def test_megabytes_are_whole_numbers(figures: Figures) -> None:
    size = entry_of(figures, "paper").records[0].state_bytes
    source = f"<!-- figure: paper / {COLUMN} MB -->"
    assert (
        figures.fill(f"99 MB{source}, 9{source}") == f"{size / 1e6:.0f} MB{source}, {size / 1e6:.0f}{source}"
    )


def test_differences_are_paired_by_seed(figures: Figures) -> None:
    """Rows with other numbers of seeds are compared on those they share, in either order."""
    plan = figures.plans["again"]
    one, many = entry_of(figures, "ridge"), entry_of(figures, "paper")
    short = replace(one, records=one.records[:1], fixed=False)
    last = metric_of(one.column.metric)
    (same_seed,) = (each for each in many.records if each.seed == short.records[0].seed)
    assert [(a.seed, b.seed) for a, b in paired_records(short, many)] == [(same_seed.seed, same_seed.seed)]
    rows = [
        replace(row, entries=tuple(short if entry is one else entry for entry in row.entries))
        for row in plan.rows
    ]
    again = Figures({"again": replace(plan, rows=tuple(rows))}, {})
    gap = last(short.records[0]) - last(same_seed)
    assert again.find(f"again: ridge - paper / {COLUMN}") == f"{gap:.1f}"
    assert again.find(f"again: paper - ridge / {COLUMN}") == f"{-gap:.1f}"


def test_an_entry_that_is_the_same_for_every_seed_is_compared_with_each(figures: Figures) -> None:
    many = entry_of(figures, "paper")
    fixed = replace(entry_of(figures, "ridge"), records=entry_of(figures, "ridge").records[:1], fixed=True)
    assert paired_records(fixed, many) == [(fixed.records[0], record) for record in many.records]
    assert paired_records(many, fixed) == [(record, fixed.records[0]) for record in many.records]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("paper", "expected"),
        ("nowhere: paper / CUB-200", "there is no such table; there are shared-step, again"),
        ("nobody / CUB-200", "0 places"),
        ("paper / nowhere", "0 places"),
        ("encoders / net / worst", "not played"),
        ("encoders / net, cifar10 / best - worst", "not played"),
        (f"ridge - paper / {COLUMN} MB", "expected"),
        (f"ridge / least of {COLUMN}; {OTHER_COLUMN} ±", "expected"),
        (f"ridge / {COLUMN}; {OTHER_COLUMN}", "0 places"),
    ],
)
def test_a_place_that_says_nothing_is_an_error(figures: Figures, place: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        figures.fill(f"1.2<!-- figure: {place} -->")
