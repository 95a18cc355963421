"""The recorded sweeps, and that they are played on training samples which were not learnt."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from i2cansay.experiments.declare.declaration import load_table
from i2cansay.experiments.declare.tuning import HELD, Setting, Tuning, hold_out, load_tunings, play_trial
from i2cansay.learners import LEARNERS, learner_class
from i2cansay.streams import low_data

TUNINGS = load_tunings()
SETTING = Setting("blobs", "blobs", 0.5, "step:2", "by class", memory_size=50)
PAGE = Path(__file__).parents[3] / "docs" / "compared-methods.md"
# Long enough to hold 5,000 samples out beside the draw.
LABELS = np.tile(np.arange(4), 3000)


def test_every_rival_of_tables_1_and_2_that_is_built_has_its_record() -> None:
    rivals = {
        row.learner
        for name in ("table1", "table2")
        for block in load_table(name).blocks
        for row in block.rows
    } - {"i2cansay", "naive"}
    assert rivals & set(LEARNERS) == set(TUNINGS)


@pytest.mark.parametrize("tuning", TUNINGS.values(), ids=TUNINGS)
def test_what_was_chosen_is_the_default_and_was_tried(tuning: Tuning) -> None:
    known = learner_class(tuning.learner)().get_params(deep=False)
    assert {name: known[name] for name in tuning.chosen} == dict(tuning.chosen)
    trials = [{**known, **trial.parameters} for sweep in tuning.sweeps for trial in sweep.trials]
    for name, value in tuning.chosen.items():
        assert any(trial[name] == value for trial in trials)


@pytest.mark.parametrize("tuning", TUNINGS.values(), ids=TUNINGS)
def test_trials_can_be_played_and_have_a_figure(tuning: Tuning) -> None:
    known = set(learner_class(tuning.learner)().get_params(deep=False))
    for sweep in tuning.sweeps:
        assert sweep.setting.held in HELD
        assert sweep.seeds
        for trial in sweep.trials:
            assert set(trial.parameters) <= known
            assert 0 < trial.accuracy < 100


@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize("seed", [0, 1])
def test_what_is_held_out_is_not_learnt(held: str, seed: int) -> None:
    setting = replace(SETTING, held=held)
    learnt, out = hold_out(LABELS, setting, seed)
    assert not np.intersect1d(learnt, out).size
    assert len(np.unique(learnt)) == len(learnt)
    assert len(np.unique(out)) == len(out)
    draw = low_data(LABELS, setting.fraction, seed)
    if held == "outside":
        np.testing.assert_array_equal(learnt, draw)
        assert len(out) == 5000
    else:
        np.testing.assert_array_equal(np.sort(np.concatenate([learnt, out])), np.sort(draw))
        assert len(out) / len(draw) == pytest.approx(0.2, abs=0.02)
    if held == "by class":
        assert len(set(np.bincount(LABELS[out]))) == 1


def test_another_way_to_hold_out_is_refused() -> None:
    with pytest.raises(ValueError, match="'outside', 'chance', 'fifth', 'by class', not 'test'"):
        hold_out(LABELS, replace(SETTING, held="test"), 0)


def test_a_trial_is_the_accuracy_on_what_was_held_out() -> None:
    """A class mean is right about blobs; with the labels of what is held out turned round it is wrong about all."""
    y = np.tile(np.arange(4), 50)
    X = 10 * np.eye(4)[y] + np.random.default_rng(0).normal(size=(200, 4))
    assert play_trial("ncm", {}, SETTING, seed=0, X=X, y=y) == 100
    _, held = hold_out(y, SETTING, 0)
    turned = X.copy()
    turned[held] = X[held][:, [1, 0, 3, 2]]
    assert play_trial("ncm", {}, SETTING, seed=0, X=turned, y=y) == 0


def test_the_memory_of_the_setting_is_given_and_can_be_overruled() -> None:
    y = np.tile(np.arange(4), 50)
    X = 10 * np.eye(4)[y] + np.random.default_rng(0).normal(size=(200, 4))
    usual = play_trial("gdumb", {}, SETTING, seed=0, X=X, y=y)
    assert usual > play_trial("gdumb", {"memory_size": 1}, SETTING, seed=0, X=X, y=y)


@pytest.mark.skipif(not PAGE.is_file(), reason="no documents here")
def test_the_page_names_every_method_and_what_was_chosen() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for tuning in TUNINGS.values():
        chosen = ", ".join(f"`{name}={value}`" for name, value in tuning.chosen.items())
        assert f"| `{tuning.learner}` | {chosen} |" in text
