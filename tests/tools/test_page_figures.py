"""Figures in sentences are those of the records, and a place that says nothing is an error."""

from pathlib import Path

import pytest
from page_figures import Figures

from i2cansay.experiments.declare.choice import Choice
from i2cansay.experiments.declare.declaration import load_table
from i2cansay.experiments.report.publication import Publication
from i2cansay.experiments.run.filling import RecordIndex, fill_table

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not (ROOT / "results").is_dir(), reason="no published results here")

RUNS = {("encoders", "net, cifar10", seed): {"best": 90.0 + seed} for seed in range(3)}
COLUMN = "CIFAR-100 30%"


@pytest.fixture(scope="module")
def figures() -> Figures:
    published = RecordIndex(Publication.load(ROOT / "results").methods)
    plan = fill_table(load_table("shared-step"), published, Choice(rows=("paper", "ridge", "joint")))
    return Figures({"shared-step": plan, "again": plan}, RUNS)


def shown(figures: Figures, row: str) -> tuple[float, float]:
    (entry,) = (
        entry
        for each in figures.plans["again"].rows
        if each.declared.name == row
        for entry in each.entries
        if entry.column.name == COLUMN
    )
    assert entry.ours is not None
    return entry.ours.mean, entry.ours.std


def test_every_kind_of_place_is_filled(figures: Figures) -> None:
    (paper, deviation), (ridge, _) = shown(figures, "paper"), shown(figures, "ridge")
    for place, value in (
        (f"paper / {COLUMN}", paper),
        (f"again: paper / {COLUMN}", paper),
        (f"again: paper / {COLUMN} ±", deviation),
        (f"ridge - paper / {COLUMN}", ridge - paper),
        (f"again: paper - ridge / {COLUMN}", paper - ridge),
        ("encoders / net, cifar10 / best", 91.0),
    ):
        source = f"<!-- figure: {place} -->"
        filled = figures.fill(f"1.2%{source}, -0.3{source} and 5.6")
        assert filled == f"{value:.1f}%{source}, {value:.1f}{source} and 5.6"


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("paper", "expected"),
        ("nowhere: paper / CUB-200", "there is no such table; there are shared-step, again"),
        ("nobody / CUB-200", "0 places"),
        ("paper / nowhere", "0 places"),
        ("encoders / net / worst", "not played"),
    ],
)
def test_a_place_that_says_nothing_is_an_error(figures: Figures, place: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        figures.fill(f"1.2<!-- figure: {place} -->")
