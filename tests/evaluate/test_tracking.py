"""Trackers are told what is played, every checkpoint and the outcome; logs are files that outlive the play."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from i2cansay.evaluate import (
    CsvLog,
    JsonLinesLog,
    Measurement,
    Outcome,
    RunFacts,
    accuracy_curve,
    play,
    prequential_accuracy,
    summarise,
)
from i2cansay.learners import make_learner
from i2cansay.streams import make_stream

rng = np.random.default_rng(0)
Y = np.arange(120) % 4
X = 4.0 * np.eye(4)[Y] + rng.normal(size=(120, 4))


class Notes:
    """Keeps whatever it is told."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def begin(self, facts: RunFacts, /) -> None:
        self.told.append(facts)

    def checkpoint(self, measurement: Measurement, /) -> None:
        self.told.append(measurement)

    def end(self, outcome: Outcome, /) -> None:
        self.told.append(outcome)


def played(*trackers: Any, features: NDArray[Any] = X, **options: Any) -> Outcome:
    stream = make_stream("step:1", Y, seed=3)
    learner = make_learner("ncm", metric="cosine")
    return play(learner, features, Y, stream, X_test=X[:40], y_test=Y[:40], trackers=trackers, **options)


def test_a_tracker_is_told_in_order_what_the_outcome_says() -> None:
    notes = Notes()
    outcome = played(notes)
    facts, *measured, told = notes.told
    assert told == outcome
    assert facts.learner == "NearestClassMean"
    assert facts.parameters["metric"] == "cosine"
    assert facts.flat()["stream.seed"] == 3
    assert (facts.n_features, facts.n_test) == (4, 40)
    assert [item.samples for item in measured] == [item.samples for item in outcome.checkpoints]
    assert [item.classes for item in measured] == [1, 2, 3, 4]
    assert [item.accuracy for item in measured] == pytest.approx(accuracy_curve(outcome))
    assert measured[-1].prequential_accuracy == pytest.approx(prequential_accuracy(outcome))
    assert measured[-1].learning_seconds == outcome.learning_seconds


def test_tracking_changes_nothing() -> None:
    assert played(Notes()).checkpoints == played().checkpoints


def test_what_was_not_measured_is_none_and_no_figure() -> None:
    notes = Notes()
    played(notes, prequential=False, every_session=False)
    _, measurement, _ = notes.told
    assert measurement.prequential_accuracy is None
    assert "prequential_accuracy" not in measurement.figures()


def test_wrong_input_is_told_before_a_tracker_begins() -> None:
    notes = Notes()
    with pytest.raises(ValueError, match="width"):
        played(notes, features=np.zeros((120, 3)))
    assert notes.told == []


def test_an_error_of_a_tracker_ends_the_play(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        played(CsvLog(tmp_path / "missing" / "runs.csv"))


def test_parameters_that_are_not_plain_are_written_as_their_repr() -> None:
    learner = make_learner("i2cansay_shared", blocks=(2, 2), random_state=np.random.default_rng(0))
    parameters = RunFacts.of(learner, {}, n_features=4, n_test=1).parameters
    assert parameters["blocks"] == "(2, 2)"
    assert str(parameters["random_state"]).startswith("Generator(PCG64)")
    assert RunFacts.of(object(), {}, n_features=4, n_test=1).parameters == {}


def test_several_runs_make_one_table(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    outcome = played(CsvLog(path))
    played(CsvLog(path), prequential=False)
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8
    assert {(row["learner"], row["stream"], row["seed"]) for row in rows} == {
        ("NearestClassMean", "step:1", "3")
    }
    assert [float(row["accuracy"]) for row in rows[:4]] == pytest.approx(accuracy_curve(outcome))
    assert [row["prequential_accuracy"] for row in rows[4:]] == [""] * 4


def test_another_table_is_not_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "salaries.csv"
    path.write_text("name,salary\n")
    with pytest.raises(ValueError, match="it begins with 'name,salary'; name another file"):
        played(CsvLog(path))
    assert path.read_text() == "name,salary\n"


def test_json_lines_hold_the_whole_outcome(tmp_path: Path) -> None:
    log = JsonLinesLog(tmp_path / "run.jsonl")
    outcome = played(log)
    lines = [json.loads(line) for line in log.path.read_text(encoding="utf-8").splitlines()]
    assert [line["event"] for line in lines] == ["begin", *["checkpoint"] * 4, "end"]
    assert lines[0]["parameters"]["metric"] == "cosine"
    assert Outcome.from_dict(lines[-1]["outcome"]) == outcome
    assert lines[-1]["metrics"] == summarise(outcome)


def test_a_play_that_fails_leaves_what_it_measured(tmp_path: Path) -> None:
    class Stops(Notes):
        def checkpoint(self, measurement: Measurement, /) -> None:
            if measurement.session == 2:
                raise KeyboardInterrupt

    log = JsonLinesLog(tmp_path / "run.jsonl")
    with pytest.raises(KeyboardInterrupt):
        played(log, Stops())
    assert len(log.path.read_text().splitlines()) == 4
