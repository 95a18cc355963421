"""A learner as a classifier of river, by river's own checks."""

import copy
import pickle
from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import pytest

river = pytest.importorskip("river")
pd = pytest.importorskip("pandas")

from river import checks, compat, evaluate, metrics, preprocessing, stream  # noqa: E402
from sklearn.datasets import load_iris, load_wine  # noqa: E402

from i2cansay.adapters.river_classifier import SKIPPED_CHECKS, RiverClassifier  # noqa: E402
from i2cansay.learners import make_learner  # noqa: E402

pytestmark = pytest.mark.adapters
X, Y = load_iris(return_X_y=True)
NAMES = ["a", "b", "c", "d"]
ROWS = [dict(zip(NAMES, row.tolist(), strict=True)) for row in X]
LABELS = np.array(["setosa", "versicolor", "virginica"])[Y].tolist()
SPREAD = np.random.default_rng(0).permutation(len(X)).tolist()


def taught(**parameters: Any) -> Any:
    model = RiverClassifier("slda", **parameters)
    for row in SPREAD:
        model.learn_one(ROWS[row], LABELS[row])
    return model


# -- river's checks ---------------------------------------------------------------------------------------------


def all_checks() -> Iterator[Any]:
    for parameters in RiverClassifier._unit_test_params():
        for number, check in enumerate(checks.yield_checks(RiverClassifier(**parameters))):
            name = f"{parameters.get('learner', 'default')}-{number}-{check.__name__}"
            yield pytest.param(parameters, check, id=name)


@pytest.mark.parametrize(("parameters", "check"), list(all_checks()))
def test_check_of_river(parameters: dict[str, Any], check: Any) -> None:
    model = RiverClassifier(**parameters)
    if check.__name__ not in SKIPPED_CHECKS:
        check(model.clone())
        return
    with pytest.raises(AssertionError):  # else take it off the list
        check(model.clone())


def test_there_are_checks_and_few_are_skipped() -> None:
    names = [check.__name__ for check in checks.yield_checks(RiverClassifier())]
    assert len(names) >= 60
    assert sum(name in SKIPPED_CHECKS for name in names) <= 3
    assert RiverClassifier()._unit_test_skips() == set(SKIPPED_CHECKS)


@pytest.mark.parametrize("name", ["ncm", "slda"])
def test_labels_of_a_batch_are_those_of_its_samples(name: str) -> None:
    """What is left of the skipped check: only probabilities depend on how samples are batched."""
    one, many = RiverClassifier(name), RiverClassifier(name)
    for row in SPREAD:
        one.learn_one(ROWS[row], LABELS[row])
    for start in range(0, len(X), 30):
        rows = SPREAD[start : start + 30]
        many.learn_many(pd.DataFrame(X[rows], columns=NAMES), pd.Series([LABELS[row] for row in rows]))
    frame = pd.DataFrame(X, columns=NAMES)
    assert one.predict_many(frame).tolist() == many.predict_many(frame).tolist()


# -- why there is an adapter ------------------------------------------------------------------------------------


def test_river_s_own_wrapper_gives_probabilities_to_the_wrong_classes() -> None:
    classes = ["ant", "bee", "cat"]
    wrapped = compat.SKL2RiverClassifier(make_learner("slda"), classes=classes)
    ours = RiverClassifier("slda")
    for x, label in [(0.0, "bee"), (0.2, "bee"), (5.0, "cat"), (5.2, "cat")] * 5:
        wrapped.learn_one({"x": x}, label)
        ours.learn_one({"x": x}, label)
    found = wrapped.predict_proba_one({"x": 5.1})
    assert wrapped.predict_one({"x": 5.1}) == "cat"
    assert set(found) == {"ant", "bee"}  # the two columns are of bee and cat
    assert found["bee"] > 0.9
    right = ours.predict_proba_one({"x": 5.1})
    assert set(right) == {"bee", "cat"}
    assert right["cat"] == pytest.approx(found["bee"])


# -- what it does -----------------------------------------------------------------------------------------------


def test_it_learns_as_the_learner_does() -> None:
    learner = make_learner("slda")
    for row in SPREAD:
        learner.partial_fit(X[row : row + 1], LABELS[row : row + 1])
    model = taught()
    assert model.model.state().keys() == learner.state().keys()
    probabilities = model.predict_proba_many(pd.DataFrame(X, columns=NAMES))
    assert list(probabilities.columns) == learner.classes_.tolist()
    np.testing.assert_allclose(probabilities.to_numpy(), learner.predict_proba(X), rtol=1e-6)
    assert [model.predict_one(row) for row in ROWS] == learner.predict(X).tolist()


def test_a_new_class_may_come_at_any_time() -> None:
    model = taught()
    for _ in range(5):
        model.learn_one(dict.fromkeys(NAMES, -9.0), "lupin")
    assert model.predict_one(dict.fromkeys(NAMES, -9.0)) == "lupin"
    assert len(model.predict_proba_one(ROWS[0])) == 4


def test_it_takes_its_place_in_a_pipeline_of_river() -> None:
    model = preprocessing.StandardScaler() | RiverClassifier("slda")
    data = stream.iter_sklearn_dataset(load_wine(), shuffle=True, seed=1)
    assert evaluate.progressive_val_score(data, model, metrics.Accuracy()).get() > 0.85


def test_polars_in_polars_out() -> None:
    pl = pytest.importorskip("polars")
    model = RiverClassifier("slda")
    frame = pl.DataFrame(X, schema=NAMES)
    assert model.predict_many(frame).to_list() == [None] * len(X)
    model.learn_many(frame, pl.Series(LABELS))
    assert isinstance(model.predict_many(frame), pl.Series)
    assert model.predict_proba_many(frame).columns == ["setosa", "versicolor", "virginica"]


def test_before_the_first_lesson_nothing_is_known() -> None:
    model, frame = RiverClassifier(), pd.DataFrame(X[:3], columns=NAMES, index=[5, 6, 7])
    assert model.predict_one(ROWS[0]) is None
    assert model.predict_proba_one(ROWS[0]) == {}
    assert model.predict_many(frame).tolist() == [None] * 3
    assert model.predict_proba_many(frame).shape == (3, 0)


def test_features_that_are_absent_are_zero_and_others_are_left_out() -> None:
    model = taught()
    full = model.predict_proba_one({**ROWS[0], "b": 0.0, "new": 1e6})
    assert model.predict_proba_one({name: ROWS[0][name] for name in "acd"}) == full
    before = model.model.n_features_in_
    model.learn_one({**ROWS[0], "new": 1e6}, "setosa")
    assert model.model.n_features_in_ == before


def test_strict_refuses_other_features_and_learns_nothing() -> None:
    model = taught(strict=True)
    state = pickle.dumps(model.model.state())
    with pytest.raises(ValueError, match=r"the same 4 features .* got 3; they differ in 'b'"):
        model.learn_one({name: ROWS[0][name] for name in "acd"}, "setosa")
    with pytest.raises(ValueError, match="they differ in 'e'"):
        model.predict_many(pd.DataFrame([{**ROWS[0], "e": 1.0}]))
    assert pickle.dumps(model.model.state()) == state


def test_named_features_are_in_this_order() -> None:
    model = RiverClassifier("ncm", features=["d", "a"])
    model.learn_one({"a": 1.0, "b": 2.0, "d": 4.0}, "x")
    assert model.model.state()["means.mean"].tolist() == [[4.0, 1.0]]


def test_text_is_refused_with_its_name() -> None:
    model, text = RiverClassifier("ncm"), cast(Any, "red")
    with pytest.raises(ValueError, match="'b' is 'red'; encode it first"):
        model.learn_one({"a": 1.0, "b": text}, "x")
    model.learn_one({"z": 1.0}, "x")  # the failed lesson has left no names behind
    assert model.model.n_features_in_ == 1


def test_weights_count() -> None:
    model = RiverClassifier("ncm")
    model.learn_one({"a": 7.0, "b": 7.0}, "x", w=0.0)
    assert model.predict_one({"a": 0.0}) is None
    model.learn_one({"a": 0.0}, "x", w=3.0)
    model.learn_one({"a": 4.0}, "x")
    assert model.model.state()["means.mean"].tolist() == [[1.0]]
    model.learn_many(pd.DataFrame({"a": [9.0, 1.0]}), pd.Series(["x", "x"]), w=[0.0, 4.0])
    assert model.model.state()["means.mean"].tolist() == [[1.0]]


def test_a_learner_that_was_given_is_copied_with_what_it_knows() -> None:
    given = make_learner("slda").fit(pd.DataFrame(X, columns=NAMES), LABELS)
    before = given.predict_proba(pd.DataFrame(X, columns=NAMES))
    model = RiverClassifier(given)
    assert model.predict_one(ROWS[0]) == "setosa"
    model.learn_one(dict.fromkeys(NAMES, 9.0), "lupin")
    np.testing.assert_array_equal(given.predict_proba(pd.DataFrame(X, columns=NAMES)), before)
    assert len(model.clone().predict_proba_one(ROWS[0])) == 3


def test_a_seed_is_for_learners_that_draw() -> None:
    assert RiverClassifier("i2cansay", seed=5).model.get_params()["random_state"] == 5
    assert RiverClassifier("ncm", seed=5).model.get_params().keys() == make_learner("ncm").get_params().keys()


def test_a_learner_that_must_be_told_of_sessions_is_refused() -> None:
    with pytest.raises(ValueError, match="has to be told where sessions end"):
        RiverClassifier("ewc")


def test_copies_go_their_own_way() -> None:
    model = taught()
    twin = copy.deepcopy(model)
    twin.learn_one(dict.fromkeys(NAMES, 9.0), "lupin")
    assert len(model.predict_proba_one(ROWS[0])) == 3
