"""What every learner has from its base: growth, refusals, refitting, state; seen through two simple ones."""

import copy
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from i2cansay import I2CANSAY, LEARNERS, make_learner
from i2cansay.learners import learner_class
from i2cansay.testing.blobs import batches, blobs
from i2cansay.testing.requirements import state_difference


def test_the_table_names_what_it_knows() -> None:
    with pytest.raises(ValueError, match=r"there is no learner 'nobody'; known are .*i2cansay"):
        learner_class("nobody")
    with pytest.raises(ValueError, match="ncm has no parameter speed; it has metric"):
        make_learner("ncm", speed=3)
    assert type(make_learner("i2cansay", lr=0.5)) is I2CANSAY
    assert make_learner("i2cansay", lr=0.5).get_params()["lr"] == 0.5


def test_every_name_of_the_table_leads_to_a_class_of_its_own() -> None:
    classes = [learner_class(name) for name in LEARNERS]
    assert len(set(classes)) == len(classes)


def test_fit_is_shuffled_batches_of_the_learners_size() -> None:
    X, y = blobs()
    seen: list[int] = []

    class Counting(I2CANSAY):
        def _learn(self, X: Any, rows: Any, weights: Any) -> None:
            seen.append(len(X))
            super()._learn(X, rows, weights)

    Counting(batch_size=20, random_state=0).fit(X, y)
    assert seen == [20, 20, 8]


def test_a_generator_as_seed_gives_another_stream_each_time_a_seed_the_same() -> None:
    X, y = blobs(spread=3.0)
    rng = np.random.default_rng(0)
    one, two = (I2CANSAY(random_state=rng).partial_fit(X, y).state() for _ in range(2))
    assert state_difference(one, two) is not None
    one, two = (I2CANSAY(random_state=np.random.default_rng(0)).partial_fit(X, y).state() for _ in range(2))
    assert state_difference(one, two) is None
    legacy = [I2CANSAY(random_state=np.random.RandomState(3)).partial_fit(X, y).state() for _ in range(2)]
    assert state_difference(*legacy) is None


def test_a_learner_without_a_seed_to_set_is_deterministic() -> None:
    X, y = blobs()
    one, two = (make_learner("ncm").fit(X, y).state() for _ in range(2))
    assert state_difference(one, two) is None


def test_data_frames_are_known_by_their_columns(tmp_path: Any) -> None:
    X, y = blobs(n_features=2)
    frame = pd.DataFrame(X, columns=["width", "height"])
    model = I2CANSAY(random_state=0).partial_fit(frame, y)
    assert model.feature_names_in_.tolist() == ["width", "height"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.partial_fit(frame[["height", "width"]], y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)
    again = I2CANSAY(random_state=0).set_state(model.state())
    assert again.feature_names_in_.tolist() == ["width", "height"]
    assert again.fit(X, y) is again
    assert not hasattr(again, "feature_names_in_")


def test_a_wrong_width_asks_about_the_encoder() -> None:
    model = I2CANSAY().partial_fit(np.zeros((2, 5)), ["a", "b"])
    for wrong in (np.zeros((2, 4)), np.zeros((2, 4)).tolist(), np.zeros((2, 6), dtype=np.float16)):
        with pytest.raises(ValueError, match=r"X has [46] features, but I2CANSAY is expecting 5.*encoder"):
            model.predict(wrong)


def test_a_bad_value_is_named_with_its_place() -> None:
    X = np.ones((3, 4), dtype=np.float32)
    model = I2CANSAY().partial_fit(X, ["a", "b", "a"])
    for value, word in ((np.nan, "NaN"), (-np.inf, "infinity"), (1e20, "1e\\+20")):
        X[2, 1] = value
        with pytest.raises(ValueError, match=f"contains {word} at row 2, column 1"):
            model.partial_fit(X, ["a", "b", "a"])


def test_the_context_of_a_pipeline_survives_refitting() -> None:
    X, y = blobs(per_class=20)
    model = make_pipeline(StandardScaler(), I2CANSAY(random_state=0))
    assert model.fit(X, y).fit(X, y).score(X, y) > 0.9
    assert cross_val_score(model, X, y, cv=3).mean() > 0.9


def test_what_scikit_learn_hangs_on_an_estimator_stays() -> None:
    model = I2CANSAY(random_state=0)
    model.hung_on = "by someone else"
    model.partial_fit(*blobs()).fit(*blobs())
    model.set_state({})
    assert model.hung_on == "by someone else"


def test_an_empty_state_is_a_learner_that_has_seen_nothing() -> None:
    model = I2CANSAY(random_state=0).partial_fit(*blobs())
    assert model.set_state({}).state() == {}
    with pytest.raises(NotFittedError):
        model.predict(blobs().X)
    assert not hasattr(model, "n_features_in_")
    model.partial_fit([[1.0, 2.0]], ["another width, another type"])


def test_clone_is_untaught_and_deepcopy_is_taught() -> None:
    X, y = blobs()
    model = I2CANSAY(random_state=0).partial_fit(X, y)
    assert clone(model).state() == {}
    twin = copy.deepcopy(model)
    assert state_difference(model.state(), twin.state()) is None
    twin.partial_fit(X, y)
    assert state_difference(model.state(), twin.state()) is not None
    assert model.class_counts_.tolist() == [12.0] * 4


def test_parameters_are_checked_when_learning_begins_and_leave_no_trace() -> None:
    X, y = blobs()
    model = I2CANSAY(lr=-1.0)
    before = dict(vars(model))
    for call in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=r"lr must be a number above 0, got -1\.0"):
            call(X, y)
        assert vars(model) == before


def test_probabilities_are_calibrated_on_overlapping_classes() -> None:
    train, test = (
        blobs(n_classes=4, per_class=800, spread=2.5),
        blobs(n_classes=4, per_class=800, spread=2.5, seed=1),
    )
    model = I2CANSAY(lr=0.01, random_state=0)
    for X, y in batches(train, (20,)):
        model.partial_fit(X, y)
    probabilities = model.predict_proba(test.X)
    accuracy = float(np.mean(model.predict(test.X) == test.y))
    assert 0.4 < accuracy < 0.95
    assert probabilities.max(axis=1).mean() == pytest.approx(accuracy, abs=0.1)
    sure = probabilities.max(axis=1) > np.median(probabilities.max(axis=1))
    right = model.predict(test.X) == test.y
    assert right[sure].mean() > right[~sure].mean() + 0.1  # so that one can threshold on it


@pytest.mark.parametrize("name", ["i2cansay", "slda", "ncm"])
def test_rows_of_too_low_a_probability_get_no_label(name: str) -> None:
    X, y = blobs(n_classes=3, spread=6.0)
    model = make_learner(name)
    for _ in range(3):
        model.partial_fit(X, np.array(["a", "b", "c"])[y])
    highest = model.predict_proba(X).max(axis=1)
    threshold = float(np.median(highest))
    plain, some = model.predict(X), model.predict(X, reject_below=threshold)
    assert some.dtype == object
    assert [label is None for label in some] == (highest < threshold).tolist()
    assert 0 < (highest < threshold).sum() < len(X)
    assert (some == plain)[highest >= threshold].all()
    assert model.predict(X, reject_below=0).tolist() == plain.tolist()
    assert {type(label) for label in model.predict(X, reject_below=0)} == {str}


def test_a_threshold_that_is_no_probability_is_refused() -> None:
    model = make_learner("ncm").partial_fit(*blobs())
    with pytest.raises(ValueError, match="reject_below must be a number from 0 to 1, got 90"):
        model.predict(blobs().X, reject_below=90)


def test_two_classes_decide_by_sign() -> None:
    X, y = blobs(n_classes=2)
    model = I2CANSAY(random_state=0).partial_fit(X, np.where(y == 0, "no", "yes"))
    assert (np.where(model.decision_function(X) > 0, "yes", "no") == model.predict(X)).all()
    assert model.class_scores(X).shape == (len(X), 2)


def test_a_label_outside_the_announced_classes_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\[3\] in y do not exist in the initial classes"):
        I2CANSAY().partial_fit([[1.0], [2.0]], [1, 3], classes=[1, 2])
    model = I2CANSAY().partial_fit([[1.0], [2.0]], [1, 1], classes=[1, 2])
    assert model.classes_.tolist() == [1]  # a class gets its column with its first sample


@pytest.mark.parametrize(("name", "plain"), [("i2cansay", True), ("slda", True), ("i2cansay_shared", False)])
def test_where_means_are_plain_the_mean_of_one_sample_is_that_sample(name: str, plain: bool) -> None:
    X = np.array([[4.0, 9.0], [16.0, 1.0]])
    model: Any = make_learner(name)
    assert model.plain_means is plain
    assert np.array_equal(model.partial_fit(X, [0, 1]).class_means_, X) is plain


def test_a_learner_of_your_own_goes_by_module_and_class() -> None:
    own = make_learner("i2cansay.learners.closed_form.ncm:NearestClassMean", metric="cosine")
    assert own.get_params() == {"metric": "cosine"}
    with pytest.raises(ValueError, match="expected 'fractions:Fraction' to be a learner"):
        make_learner("fractions:Fraction")
