"""Parameters that are set while a learner learns."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from i2cansay import load, make_learner
from i2cansay.learners.base import OnlineClassifier

PAPER: dict[str, Any] = {"name": "i2cansay", "random_state": 0}
SHARED: dict[str, Any] = {"name": "i2cansay_shared", "random_state": 0, "lift": 4}


def draw() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    return rng.standard_normal((90, 5)) + 2 * np.eye(3, 5)[y], y


def taught(**parameters: Any) -> Any:
    X, y = draw()
    model = make_learner(**parameters)
    for start in range(0, 90, 15):
        model.partial_fit(X[start : start + 15], y[start : start + 15])
    return model


@pytest.mark.parametrize(
    ("made", "later", "match"),
    [
        (PAPER, {"lr": -1.0}, "lr"),
        (PAPER, {"beta": float("nan")}, "beta"),
        (PAPER, {"distance": "none"}, "distance"),
        (SHARED, {"lr": 0.5, "shrinkage": "bad"}, "shrinkage"),
        (SHARED, {"forgetting": 1.5}, "forgetting"),
        (SHARED, {"prior": "flat"}, "prior"),
        (SHARED, {"n_pseudo": -3}, "n_pseudo"),
        (SHARED, {"epochs": 0}, "epochs"),
        ({"name": "slda"}, {"shrinkage": -1.0}, "shrinkage"),
        (SHARED, {"lr": 0.5, "nonsense": 1}, "nonsense"),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(
    made: dict[str, Any], later: dict[str, Any], match: str
) -> None:
    model, twin = taught(**made), taught(**made)
    with pytest.raises(ValueError, match=match):
        model.set_params(**later)
    assert model.get_params() == twin.get_params()
    X, y = draw()
    for learner in (model, twin):
        learner.partial_fit(X[:30], y[:30])
    np.testing.assert_array_equal(model.class_scores(X), twin.class_scores(X))


@pytest.mark.parametrize(
    ("made", "later"),
    [
        (PAPER, {"significance": False}),
        (PAPER, {"memory_size": 5}),
        (PAPER, {"momentum": 0.5}),
        (SHARED, {"lift": 0}),
        (SHARED, {"analogies": False}),
        (SHARED, {"forgetting": 0.1}),
        (SHARED, {"feature_transform": "none"}),
    ],
)
def test_what_learning_began_with_waits_for_a_new_beginning(
    tmp_path: Path, made: dict[str, Any], later: dict[str, Any]
) -> None:
    X, y = draw()
    model = taught(**made)
    before, file = model.class_scores(X), tmp_path / "model.i2cs"
    model.set_params(**later)
    np.testing.assert_array_equal(model.class_scores(X), before)
    with pytest.raises(ValueError, match=next(iter(later)) + " changed after learning began"):
        model.save(file)
    with pytest.raises(ValueError, match="changed after learning began"):
        model.merge(taught(**{**made, **later}))
    assert not file.exists()
    np.testing.assert_array_equal(model.class_scores(X), before)
    model.set_params(**{name: make_learner(**made).get_params()[name] for name in later}).save(file)
    np.testing.assert_array_equal(load(file).class_scores(X), before)
    model.set_params(**later).fit(X, y).save(file)
    np.testing.assert_array_equal(load(file).class_scores(X), model.class_scores(X))


def test_unlearning_stays_refused_where_samples_have_faded() -> None:
    X, y = draw()
    model = taught(**SHARED, forgetting=0.01).set_params(forgetting=0.0)
    with pytest.raises(ValueError, match="fade"):
        model.unlearn(X[:1], y[:1])


def test_a_choice_of_shrinkage_made_before_does_not_outlive_it() -> None:
    X, _ = draw()
    model = taught(**SHARED, shrinkage=0.9).set_params(shrinkage="gcv")
    assert model.shrinkage_ == taught(**SHARED, analogies=False).shrinkage_
    assert np.isfinite(model.class_scores(X)).all()


@pytest.mark.parametrize("later", [{"lr": 0.3}, {"n_pseudo": 0.0}, {"batch_size": 7}, {"lift": 0}])
def test_shrinkage_and_inverse_stay_where_they_do_not_rest_on_what_was_set(later: dict[str, Any]) -> None:
    model = taught(**SHARED)
    before = model.state()
    model.set_params(**later)
    for name, array in model.state().items():
        np.testing.assert_array_equal(array, before[name])
    model.set_params(shrink_means=0.5)
    assert model.state()["head.due"] == 0.0


def test_how_fast_samples_fade_may_change_and_that_they_fade_may_not(tmp_path: Path) -> None:
    X, y = draw()
    model, faster = (taught(**SHARED, forgetting=0.01) for _ in range(2))
    faster.set_params(forgetting=0.05).save(tmp_path / "model.i2cs")
    waiting = taught(**SHARED, forgetting=0.01).set_params(forgetting=0.0)
    for learner in (model, faster, waiting):
        learner.partial_fit(X, y)
    assert faster.class_counts_.sum() < 0.5 * model.class_counts_.sum()
    np.testing.assert_array_equal(waiting.class_counts_, model.class_counts_)


def test_a_learner_that_names_no_structural_parameters_has_none() -> None:
    assert OnlineClassifier.structural == ()
    make_learner("ncm")._check_structural()
    taught(name="ncm")._check_structural()
