"""Records played again: the same figures now, and a figure that moved is seen."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from i2cansay.experiments import Cell, Record, run_cells
from i2cansay.experiments.run.replay import cell_of, find_features, pick_records, replay
from tests.experiments.samples import make_record


@pytest.fixture
def stored(blobs: tuple[str, str], tmp_path: Path) -> list[Record]:
    cells = [Cell(*blobs, "step:1", name, seed=seed) for name in ("i2cansay", "ncm") for seed in (0, 1)]
    return run_cells(cells, tmp_path / "records", jobs=1)


def test_a_record_played_again_is_equal(stored: list[Record]) -> None:
    sources, missing = find_features(stored)
    assert not missing
    assert [done.is_equal for done in replay(stored, sources)] == [True] * 4


def test_a_moved_figure_is_seen(stored: list[Record]) -> None:
    record = stored[0]
    last = record.outcome.checkpoints[-1]
    worse = replace(last, correct=(0, *last.correct[1:]))
    outcome = replace(record.outcome, checkpoints=(*record.outcome.checkpoints[:-1], worse))
    swapped = replace(record, predictions=(record.predictions + 1).astype(np.uint16))
    sources, _ = find_features(stored)
    moved, changed = replay([replace(record, outcome=outcome), swapped], sources)
    assert not moved.is_within(0.1)
    assert changed.is_within(0.1)
    assert changed.share_changed == 1
    assert not changed.is_equal


def test_a_cell_that_fails_says_why_and_the_next_is_played(stored: list[Record]) -> None:
    broken = replace(stored[0], parameters={**stored[0].parameters, "courage": 1})
    sources, _ = find_features(stored)
    first, second = replay([broken, stored[1]], sources)
    assert "courage" in first.problem
    assert not first.is_within(100)
    assert second.is_equal


def test_a_changed_default_does_not_change_the_replay(stored: list[Record]) -> None:
    assert cell_of(stored[0]).parameters == stored[0].parameters


def test_what_the_features_tell_is_left_to_them(blobs: tuple[str, str], tmp_path: Path) -> None:
    (record,) = run_cells([Cell(*blobs, "step:1", "i2cansay_shared")], tmp_path / "records", jobs=1)
    assert record.parameters["blocks"] is None
    assert set(record.parameters) - set(cell_of(record).parameters) == {"blocks"}
    sources, _ = find_features([record])
    (done,) = replay([record], sources)
    assert done.is_equal
    told = replace(record, parameters={**record.parameters, "blocks": [1, 2]})
    assert cell_of(told).parameters["blocks"] == [1, 2]


def test_other_features_under_the_same_name_are_not_replayed_on(stored: list[Record]) -> None:
    other = replace(stored[0], features={**stored[0].features, "fingerprint": "f" * 64})
    sources, missing = find_features([other])
    assert not sources
    assert "are not those of the records" in next(iter(missing.values()))


def test_features_that_are_not_at_hand_are_named() -> None:
    sources, missing = find_features([make_record()])
    assert not sources
    assert missing["cats", "eyes"] == "there are no features of cats with eyes"


def test_a_few_draws_see_every_learner(stored: list[Record]) -> None:
    chosen = pick_records(stored, 2, seed=0)
    assert {record.cell["learner"] for record in chosen} == {"i2cansay", "ncm"}
    assert len(pick_records(stored, 100, seed=0)) == len(stored)
    assert pick_records([], 3, seed=0) == []
