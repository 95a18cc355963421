"""The recorded sweeps, and that they are played on training samples which were not learnt."""

from pathlib import Path

import numpy as np
import pytest

from i2cansay.evaluate import last_accuracy
from i2cansay.experiments.declare.cell import Cell
from i2cansay.experiments.declare.choice import Choice
from i2cansay.experiments.declare.declaration import load_table
from i2cansay.experiments.declare.tuning import Tuning, load_tunings
from i2cansay.experiments.run.filling import RecordIndex, fill_table
from i2cansay.experiments.run.held_out import HELD_OUT, hold_out
from i2cansay.experiments.run.planning import make_plan
from i2cansay.experiments.run.playing import play_cell
from i2cansay.experiments.run.record_folder import load_records
from i2cansay.experiments.run.shared_features import share_features
from i2cansay.learners import LEARNERS, learner_class
from i2cansay.streams import low_data

TUNINGS = load_tunings()
PAGE = Path(__file__).parents[3] / "docs" / "compared-methods.md"
DISTANCES = Path(__file__).parents[3] / "benchmarks" / "records" / "distance.jsonl"
# Long enough to hold 5,000 samples out beside the draw.
LABELS = np.tile(np.arange(4), 3000)


def test_every_rival_that_is_built_has_its_record() -> None:
    rivals = {
        row.learner
        for name in ("table1", "table2", "table3")
        for block in load_table(name).blocks
        for row in block.rows
    } - {"i2cansay", "naive", "dsdm_sessions"}  # the last has the values of dsdm
    rivals -= {
        "ncm",
        "slda",
        "ridge",
        "i2cansay_shared",
    }  # nothing of theirs is chosen by the data of a table
    of_today = {"gacl", "foal", "klda", "ranpac", "single_prompt"}  # they stand in a table of ours
    assert rivals & set(LEARNERS) == set(TUNINGS) - of_today - {"i2cansay"}


@pytest.mark.parametrize("tuning", TUNINGS.values(), ids=TUNINGS)
def test_what_was_chosen_is_the_default_and_was_tried(tuning: Tuning) -> None:
    known = learner_class(tuning.learner)().get_params(deep=False)
    assert {name: known[name] for name in tuning.chosen} == dict(tuning.chosen)
    trials = [{**known, **trial.parameters} for sweep in tuning.sweeps for trial in sweep.trials]
    for name, value in tuning.chosen.items():
        assert any(trial[name] == value for trial in trials)


def test_what_was_chosen_for_one_data_set_was_tried_there_and_is_played_there() -> None:
    tunings = [tuning for tuning in TUNINGS.values() if tuning.chosen_in]
    assert tunings
    for tuning in tunings:
        for dataset, values in tuning.chosen_in.items():
            sweeps = [sweep for sweep in tuning.sweeps if sweep.setting.dataset == dataset]
            known = learner_class(tuning.learner)().get_params(deep=False)
            trials = [{**known, **trial.parameters} for sweep in sweeps for trial in sweep.trials]
            assert {**known, **values} in trials
            cells = [
                cell
                for row in make_plan(load_table("table2"), Choice(dataset=dataset)).rows
                for entry in row.entries
                for cell in entry.cells()
                if cell.learner == tuning.learner
            ]
            assert cells
            for cell in cells:
                assert {name: cell.all_parameters()[name] for name in values} == dict(values)


def test_what_was_chosen_for_one_encoder_was_tried_there_and_is_played_there() -> None:
    tunings = [tuning for tuning in TUNINGS.values() if tuning.chosen_on]
    assert {tuning.learner for tuning in tunings} == {"ewc", "lwf", "icarl", "eeil"}
    for tuning in tunings:
        known = learner_class(tuning.learner)().get_params(deep=False)
        for encoder, values in tuning.chosen_on.items():
            sweeps = [sweep for sweep in tuning.sweeps if sweep.setting.encoder == encoder]
            best = max((trial for sweep in sweeps for trial in sweep.trials), key=lambda each: each.accuracy)
            tried = [{**known, **trial.parameters} for sweep in sweeps for trial in sweep.trials]
            assert {**known, **values} in tried
            assert values.items() <= {**known, **best.parameters}.items()
            rows = make_plan(load_table("table3"), Choice(dataset="cifar100", encoder=encoder)).rows
            cells = [cell for row in rows for entry in row.entries for cell in entry.cells()]
            played = [cell.all_parameters() for cell in cells if cell.learner == tuning.learner]
            assert played
            # A linear iCaRL trains nothing, whatever the rate.
            trained = [each for each in played if (tuning.learner, each["head"]) != ("icarl", "linear")]
            assert all(values.items() <= each.items() for each in trained)


@pytest.mark.parametrize("tuning", TUNINGS.values(), ids=TUNINGS)
def test_trials_can_be_played_and_have_a_figure(tuning: Tuning) -> None:
    known = set(learner_class(tuning.learner)().get_params(deep=False))
    for sweep in tuning.sweeps:
        assert sweep.setting.held in HELD_OUT
        assert sweep.seeds
        for trial in sweep.trials:
            assert set(trial.parameters) <= known
            assert 0 < trial.accuracy < 100 or (np.isnan(trial.accuracy) and not tuning.chosen)


@pytest.mark.parametrize("tuning", TUNINGS.values(), ids=TUNINGS)
def test_the_table_of_a_method_has_every_trial_with_its_seeds_and_its_memory(tuning: Tuning) -> None:
    plan = make_plan(load_table(f"tuning-{tuning.learner}"), Choice())
    cells = [cell for row in plan.rows for entry in row.entries for cell in entry.cells()]
    assert len(cells) == sum(len(sweep.trials) * len(sweep.seeds) for sweep in tuning.sweeps)
    entries = [entry for row in plan.rows for entry in row.entries]
    recorded = [trial.accuracy for sweep in tuning.sweeps for trial in sweep.trials]
    shown = [entry.paper for entry in entries if entry.cell is not None]
    np.testing.assert_array_equal(np.sort(shown), np.sort(recorded))
    for entry in entries:
        if entry.cell is None:
            assert entry.why_empty == "not tried"
            continue
        setting = tuning.sweeps[plan.columns.index(entry.column)].setting
        assert entry.cell.held_out == setting.held
        assert entry.cell.fraction == setting.fraction
        given = entry.cell.all_parameters()
        wanted = entry.cell.parameters.get("memory_size", setting.memory_size)
        assert given.get("memory_size", setting.memory_size) == wanted


def test_a_method_without_sweeps_is_named() -> None:
    with pytest.raises(ValueError, match="no sweeps of 'luck'"):
        load_table("tuning-luck")


@pytest.mark.parametrize("held", HELD_OUT)
@pytest.mark.parametrize("seed", [0, 1])
def test_what_is_held_out_is_not_learnt(held: str, seed: int) -> None:
    learnt, out = hold_out(LABELS, held, fraction=0.5, seed=seed)
    assert not np.intersect1d(learnt, out).size
    assert len(np.unique(learnt)) == len(learnt)
    assert len(np.unique(out)) == len(out)
    draw = low_data(LABELS, 0.5, seed)
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
        hold_out(LABELS, "test", fraction=0.5, seed=0)


def save_blobs(folder: Path, X: np.ndarray, y: np.ndarray) -> None:
    """Put features where they are found by name; the test part is wrong about everything."""
    np.savez(folder / "blobs_made_train.npz", X=X.astype(np.float32), y=y)
    np.savez(folder / "blobs_made_test.npz", X=X.astype(np.float32), y=(y + 1) % 4)


def test_a_trial_is_the_accuracy_on_what_was_held_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A class mean is right about blobs; with what is held out turned round it is wrong about all."""
    monkeypatch.setenv("I2CANSAY_DATA", str(tmp_path))
    monkeypatch.setenv("I2CANSAY_CACHE", str(tmp_path / "cache"))
    y = np.tile(np.arange(4), 50)
    X = 10 * np.eye(4)[y] + np.random.default_rng(0).normal(size=(200, 4))
    cell = Cell("blobs", "made", "step:2", "ncm", fraction=0.5, held_out="by class", every_session=False)
    save_blobs(tmp_path, X, y)
    record = play_cell(cell, share_features("blobs", "made"))
    assert last_accuracy(record.outcome) == 1
    assert sum(record.outcome.test_counts) == 20
    _, held = hold_out(y, "by class", fraction=0.5, seed=0)
    turned = X.copy()
    turned[held] = X[held][:, [1, 0, 3, 2]]
    save_blobs(tmp_path, turned, y)
    assert last_accuracy(play_cell(cell, share_features("blobs", "made")).outcome) == 0


@pytest.mark.skipif(not DISTANCES.is_file(), reason="no records here")
def test_the_figures_of_the_distance_are_those_of_its_records() -> None:
    plan = fill_table(load_table("tuning-i2cansay"), RecordIndex(load_records(DISTANCES)), Choice())
    entries = [entry for row in plan.rows for entry in row.entries]
    assert len(entries) == 6
    for entry in entries:
        assert [record.seed for record in entry.records] == list(entry.seeds)
        assert entry.ours is not None
        assert f"{entry.ours.mean:.1f}" == f"{entry.paper:.1f}"
        assert all(record.cell["held_out"] for record in entry.records)
        assert not any((record.commit or "-dirty").endswith("-dirty") for record in entry.records)


@pytest.mark.skipif(not PAGE.is_file(), reason="no documents here")
def test_the_page_names_every_method_and_what_was_chosen() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for tuning in TUNINGS.values():
        chosen = ", ".join(f"`{name}={value}`" for name, value in tuning.chosen.items()) or "not chosen yet"
        assert f"| `{tuning.learner}` | {chosen} |" in text
