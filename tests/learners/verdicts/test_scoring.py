from pathlib import Path

import numpy as np
import pytest

from i2cansay import I2CANSAY, SharedI2CANSAY, from_bytes, load, make_learner
from i2cansay.core import score_blocks
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.verdicts import scoring
from i2cansay.testing.blobs import blobs


def shared() -> SharedI2CANSAY:
    return SharedI2CANSAY(analogies=False, lift=0)


def taught(
    model: OnlineClassifier, lesson: int = 1, ask: bool = True, per_class: int = 60
) -> OnlineClassifier:
    X, y = blobs(n_classes=3, per_class=per_class, spread=1.5)
    for start in range(0, len(y), lesson):
        model.partial_fit(X[start : start + lesson], y[start : start + lesson])
        if ask:
            model.class_scores(X[:1])
    return model


@pytest.mark.parametrize("model", [shared(), I2CANSAY(random_state=0), make_learner("slda")])
def test_lessons_with_questions_in_between_are_all_scored(model: OnlineClassifier) -> None:
    # But those of classes that have fewer samples than others, and the first two.
    assert taught(model)._evidence.n_scored > 150


def test_a_lazy_learner_that_nobody_asks_is_scored_as_it_grows() -> None:
    scored = taught(shared(), ask=False)._evidence.n_scored
    assert 5 < scored < 30


def test_a_batch_of_one_class_is_evidence_of_a_few_samples() -> None:
    model = taught(shared(), lesson=20)
    model.class_scores(np.zeros((1, 6)))
    before = model._evidence.n_scored
    X, y = blobs(n_classes=3, per_class=60, spread=1.5, seed=1)
    model.partial_fit(X[y == 1], y[y == 1])
    assert model._evidence.n_scored == before + 5


def test_first_samples_of_a_class_do_not_count() -> None:
    model = taught(shared())
    before = model._evidence.n_scored
    for _ in range(10):
        model.class_scores(np.zeros((1, 6)))
        model.partial_fit(np.full((1, 6), 9.0), [7])
    assert model._evidence.n_scored == before


def test_unlearning_leaves_the_scores() -> None:
    model = taught(shared())
    evidence = {name: array for name, array in model.state().items() if name.startswith("evidence.")}
    X, y = blobs(n_classes=3, per_class=60, spread=1.5)
    model.unlearn(X[-5:], y[-5:])
    assert all(np.array_equal(model.state()[name], array) for name, array in evidence.items())


def test_something_far_away_is_new_and_the_known_is_not() -> None:
    model = taught(I2CANSAY(random_state=0), per_class=100)
    X, _ = blobs(n_classes=3, per_class=100, spread=1.5, seed=1)
    assert np.mean(model.verdicts(X) == "new") < 0.15
    assert model.verdicts(np.array([[40.0, -40.0, 40.0, -40.0, 40.0, -40.0]])).tolist() == ["new"]


def test_a_state_from_before_scores_were_counted_has_none() -> None:
    model = taught(shared())
    old = {name: array for name, array in model.state().items() if not name.startswith("evidence.")}
    old["progress"] = old["progress"][:3]
    loaded = shared().set_state(old)
    X, _ = blobs(n_classes=3)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded._evidence.n_scored == 0
    assert loaded.predict_set(X).all()
    assert set(loaded.verdicts(X)) == {"unsure"}


def test_calibrating_replaces_scores_on_request() -> None:
    model = taught(shared())
    X, y = blobs(n_classes=3, per_class=20, spread=1.5, seed=1)
    before = model._evidence.n_scored
    assert model.calibrate(X, y)._evidence.n_scored == before + 60
    assert model.calibrate(X, y, start_over=True)._evidence.n_scored == 60


def test_bytes_are_a_file(tmp_path: Path) -> None:
    model = taught(shared())
    X, _ = blobs(n_classes=3)
    path = tmp_path / "model.i2cs"
    path.write_bytes(model.to_bytes())
    model_of_file = load(path)
    model.save(path)
    for again in (model_of_file, from_bytes(path.read_bytes())):
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("damage", ["cut", "flipped", "text", "empty"])
def test_damaged_bytes_are_refused(damage: str) -> None:
    data = taught(shared()).to_bytes()
    flipped = data[:-9] + bytes([data[-9] ^ 1]) + data[-8:]
    bad = {"cut": data[:-40], "flipped": flipped, "text": b"not a model", "empty": b""}[damage]
    with pytest.raises(ValueError, match="in these bytes is"):
        from_bytes(bad)


def scored_twice(model: OnlineClassifier, calibrated: bool) -> OnlineClassifier:
    X, y = blobs(n_classes=30, per_class=8, spread=1.5)
    model = type(model)(**model.get_params()).partial_fit(X[:120], y[:120])
    return model.calibrate(X[120:], y[120:]) if calibrated else model.partial_fit(X[120:], y[120:])


@pytest.mark.parametrize("calibrated", [False, True], ids=["before a lesson", "calibrate"])
@pytest.mark.parametrize("model", [shared(), I2CANSAY(random_state=0), make_learner("slda")])
@pytest.mark.parametrize(("kept", "tolerance"), [(30, 1e-9), (16, 0.02)], ids=["all kept", "joined"])
def test_scores_in_blocks_say_what_they_say_together(
    model: OnlineClassifier,
    calibrated: bool,
    kept: int,
    tolerance: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = scored_twice(model, calibrated)
    monkeypatch.setattr(score_blocks, "SCORES_AT_A_TIME", 7 * 30)
    monkeypatch.setattr(scoring, "KEPT", 0)
    monkeypatch.setattr(scoring, "LEAST_KEPT", kept)
    parts = scored_twice(model, calibrated)
    assert parts._temperature.value == pytest.approx(whole._temperature.value, rel=tolerance)
    assert parts._evidence.n_scored == whole._evidence.n_scored > 0
    moved = np.abs(parts._evidence._counts - whole._evidence._counts).sum() / 2
    assert moved <= 10 * tolerance * whole._evidence.n_scored
