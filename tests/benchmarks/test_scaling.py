"""The cost model counts what is done, the simulation behaves like a cluster, and the page has its figures."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import scaling
from scaling import PAGE, Cluster, Load, Rates, costs, rates_of, recorded, simulate, tables, written

from i2cansay.learners import make_learner

RATES = Rates(encoded=50, learnt=1e10, solved=1e9, scored=1e10, merged=1e9)
STEADY = Cluster(4, spread=0.0, deaths=0.0)


@given(st.integers(1, 3000))
def test_a_tree_of_parts_has_a_merge_less_than_parts(parts: int) -> None:
    load = Load(1e6, 100, 64, parts)
    assert sum(merges for merges, _ in load.levels()) == parts - 1
    assert len(load.levels()) == (parts - 1).bit_length()


def test_costs_grow_as_they_should() -> None:
    load = Load(1e6, 1000, 1024, 16)
    one, twice = costs(load, RATES), costs(Load(2e6, 1000, 1024, 16), RATES)
    assert twice["encode"] == 2 * one["encode"]
    assert twice["learn"] == 2 * one["learn"]
    assert twice["state bytes"] == one["state bytes"]
    assert costs(Load(1e6, 2000, 1024, 16), RATES)["answer"] == 2 * one["answer"]


def test_the_state_is_what_a_learner_takes() -> None:
    told = make_learner("ncm").state_bytes(1024, 1000)
    means = Load(1e6, 1000, 1024, 1).state_bytes - Load(1e6, 0, 1024, 1).state_bytes
    assert told is not None
    assert means <= told <= 3 * means  # spare room and what predictions need come on top
    saved = make_learner("best").partial_fit([[0.0] * 64, [1.0] * 64], ["a", "b"]).state()
    assert sum(array.nbytes for name, array in saved.items() if name.startswith("scatter")) == pytest.approx(
        Load(2, 2, 64, 1).state_bytes, rel=0.1
    )


def test_a_part_knows_no_more_classes_than_it_has_images() -> None:
    load = Load(1e6, 1e6, 64, 1000)
    assert load.merged_bytes(0) < load.merged_bytes(5) < load.merged_bytes(10) == load.state_bytes


def test_more_workers_help_up_to_the_parts() -> None:
    def seconds(workers: int) -> float:
        return simulate(10.0, 64, [], Cluster(workers, spread=0.0, deaths=0.0))

    assert [seconds(workers) for workers in (1, 8, 64, 640)] == [640.0, 80.0, 10.0, 10.0]


def test_death_and_differences_cost_time() -> None:
    steady = simulate(600.0, 200, [], STEADY)
    assert steady == 200 / 4 * 600
    assert simulate(600.0, 200, [], Cluster(4, spread=0.3, deaths=0.0)) > steady
    dying = simulate(600.0, 200, [], Cluster(4, spread=0.0, deaths=1.0))
    assert steady < dying < 2 * steady


def test_the_page_is_written_between_its_marks() -> None:
    page = written(PAGE.read_text(encoding="utf-8"), "tables", tables(RATES))
    assert page.count("| a billion |") == 2
    assert written(page, "tables", tables(RATES)) == page
    with pytest.raises(ValueError, match="found them 0 times"):
        written("no marks", "tables", "")


def test_rates_follow_from_the_record() -> None:
    closed = {"estimator": "closed form", "d": 1000, "first top": 3.0, "top": 1.0}
    figures: dict[str, Any] = {
        "encoder": [
            {"images": "PNG 32 x 32", "pipeline": 0.001, "threads": 2},
            {"images": "JPEG 640 x 427", "pipeline": 0.01, "threads": 2},
        ],
        "growth": {"width": [{"d": d, "seconds": {"closed form": 0.05}} for d in (100, 1000)]},
        "class_scale": [closed | {"c": c} for c in (1000, 10_000)]
        + [closed | {"c": 10_000, "estimator": "paper"}],
        "answer_time": [{"d": 3000, "c": 100, "anew": 1.0}],
        "learner": {"predicting": [{"rows": 1000, "d": 100, "c": 100, "seconds": {"closed form": 0.002}}]},
    }
    found = recorded({name: {"figures": part} for name, part in figures.items()})
    assert found["encoded"] == 50
    assert found["learnt"] == pytest.approx(50 * 1e6 / 0.05)
    assert found["scored"] == pytest.approx(2e7 / 0.002)
    # Of solving, the slower of both: 9e9 + 1.8e9 operations in a second, 3.3e8 + 2e10 in two.
    assert found["solved"] == pytest.approx(min(10.8e9, (1e9 / 3 + 2e10) / 2))
    del figures["growth"], figures["answer_time"]
    less = recorded(
        {name: {"figures": part} for name, part in figures.items()} | {"growth": {"problem": "none"}}
    )
    assert less.keys() == {"encoded", "solved", "scored"}
    assert recorded({}) == {}


def test_the_page_is_written_from_the_record_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, known = tmp_path / "scaling.md", tmp_path / "rates.json"
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    known.write_text(json.dumps({"merged": 1.25e9}))
    monkeypatch.setattr(scaling, "PAGE", page)
    monkeypatch.setattr("sys.argv", ["scaling.py", "--write", "--rates", str(known)])
    scaling.main()
    text = page.read_text(encoding="utf-8")
    assert "1.25 GB/s at merging" in text
    assert "encoding, learning, solving, scoring follow from the record of `make bench` of 20" in text
    assert "Measured by this script: merging." in text


def test_what_the_record_lacks_is_measured() -> None:
    rates = rates_of({"encoded": 50.0, "learnt": 1.0}, width=64, classes=5)
    assert (rates.encoded, rates.learnt) == (50, 1)
    assert min(rates.solved, rates.scored, rates.merged) > 0


@pytest.mark.slow
def test_rates_are_measured() -> None:
    rates = rates_of({}, width=128, classes=5, images=2)
    assert min(rates.encoded, rates.learnt, rates.solved, rates.scored, rates.merged) > 0
