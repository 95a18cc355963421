from dataclasses import replace

import pytest

from i2cansay.experiments.declare.choice import Choice
from i2cansay.experiments.declare.declaration import load_table
from i2cansay.experiments.run.filling import RecordIndex, measure
from i2cansay.experiments.run.forecast import Durations, Forecast, forecast
from i2cansay.experiments.run.planning import make_plan
from i2cansay.experiments.run.record import Record
from tests.experiments.samples import CELL, make_record


def timed(seconds: float, *, seed: int = 0, learner: str = "naive", **cell: object) -> Record:
    """A record of 100 rows of 8 features that took so many seconds."""
    made = make_record(seed=seed, learner=learner)
    return replace(
        made,
        seconds=seconds,
        cell={**made.cell, **cell},
        features={"fingerprint": "f", "train": [100, 8]},
    )


def test_other_seeds_of_a_run_tell_its_time() -> None:
    durations = Durations([timed(2.0), timed(3.0, seed=1), timed(40.0, seed=2), timed(500.0, stream="iid")])
    assert durations.seconds(CELL.with_seed(7)) == 3.0


def test_without_such_a_run_the_same_learner_on_the_same_features_does() -> None:
    durations = Durations(
        [timed(2.0, stream="iid"), timed(4.0, stream="gaussian"), timed(90.0, fraction=0.5)]
    )
    assert durations.seconds(CELL) == 3.0


def test_without_those_the_time_grows_with_samples_and_features() -> None:
    wide = {**timed(1.0).features, "train": [200, 40]}
    elsewhere = replace(timed(1.0, learner="ncm", dataset="dogs"), features=wide)
    durations = Durations([timed(2.0), elsewhere])
    # ten times the numbers of the record of `naive`, and half of that for half of the samples
    assert durations.seconds(replace(CELL, dataset="dogs")) == pytest.approx(20.0)
    assert durations.seconds(replace(CELL, dataset="dogs", fraction=0.5)) == pytest.approx(10.0)


def test_an_unknown_learner_or_unknown_features_have_no_estimate() -> None:
    durations = Durations([timed(2.0)])
    assert durations.seconds(replace(CELL, learner="slda")) is None
    assert durations.seconds(replace(CELL, dataset="birds")) is None


def of_table4(seeds: int, records: list[Record]) -> Forecast:
    plan = make_plan(load_table("table4"), Choice(encoder="eyes", seeds=seeds))
    return forecast(measure(plan, RecordIndex(records)), Durations(records))


def played(seed: int, commit: str) -> Record:
    """A record of the last row of Table 4."""
    plan = make_plan(load_table("table4"), Choice(encoder="eyes", seeds=5))
    (row,) = [row for row in plan.rows if row.declared.name == "ican_isay"]
    (entry,) = row.entries
    assert entry.cell is not None
    cell = entry.cell.with_seed(seed)
    return replace(
        make_record(),
        key=cell.key("f"),
        cell=cell.identity(),
        parameters=cell.all_parameters(),
        seconds=60.0,
        commit=commit,
    )


def test_a_table_counts_what_is_there_and_what_is_to_be_played() -> None:
    made = of_table4(5, [played(0, "c"), played(1, "c-dirty")])
    (row,) = [row for row in made.rows if row.title == "ICAN + ISAY"]
    assert (row.n_there, row.seconds) == (2, (60.0, 60.0, 60.0))
    assert made.n_there == 2
    assert made.n_to_play == len(make_plan(load_table("table4"), Choice(seeds=5)).cells()) - 2
    assert made.dirty == 1


def test_cells_without_an_estimate_are_counted_apart() -> None:
    made = of_table4(1, [])
    assert made.n_unknown == made.n_to_play == 7
    assert made.seconds == 0
