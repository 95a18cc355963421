"""A pickle holds parameters and state, and goes on as the original; copies are what they were."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_iris

from i2cansay import LEARNERS, make_learner
from i2cansay.testing import small_learner

X, Y = load_iris(return_X_y=True)
PLAIN = (str, int, float, bool, type(None))


def pickled(learner: Any) -> Any:
    return pickle.loads(pickle.dumps(learner))  # noqa: S301  our own bytes


@pytest.mark.parametrize("name", LEARNERS)
def test_a_pickle_goes_on_as_the_original(name: str) -> None:
    model = small_learner(name)
    assert pickled(model).state() == {}
    model.partial_fit(X[::2], Y[::2])
    again = pickled(model)
    for learner in (model, again):
        learner.partial_fit(X[1::2], Y[1::2])
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert {part: array.tobytes() for part, array in again.state().items()} == {
        part: array.tobytes() for part, array in model.state().items()
    }


@pytest.mark.parametrize("name", LEARNERS)
def test_it_consists_of_plain_values_and_arrays_of_numbers(name: str) -> None:
    taken = small_learner(name).partial_fit(X, Y).__getstate__()
    assert set(taken) == {"parameters", "state"}
    for value in taken["parameters"].values():
        assert all(isinstance(item, PLAIN) for item in (value if isinstance(value, tuple) else [value]))
    assert {array.dtype.kind for array in taken["state"].values()} <= set("fiub")


def test_a_generator_as_random_state_is_not_drawn_from() -> None:
    model = make_learner("i2cansay", random_state=np.random.default_rng(7)).partial_fit(X, Y)
    again = pickled(model)
    assert again.random_state.bit_generator.state == model.random_state.bit_generator.state
    np.testing.assert_array_equal(again.fit(X, Y).predict_proba(X), model.fit(X, Y).predict_proba(X))


def test_requests_for_metadata_are_kept() -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_learner("slda").set_fit_request(sample_weight=True).set_score_request(sample_weight="w")
    model.partial_fit(X, Y)
    assert model.__getstate__()["requests"] == {
        "fit": {"sample_weight": True},
        "score": {"sample_weight": "w"},
    }
    with sklearn.config_context(enable_metadata_routing=True):
        routing = pickled(model).get_metadata_routing()
    assert routing.fit.requests["sample_weight"] is True
    assert routing.score.requests["sample_weight"] == "w"
    assert routing.partial_fit.requests["sample_weight"] is None


def test_a_learner_that_could_not_be_resumed_is_not_pickled() -> None:
    model = make_learner("i2cansay_shared").partial_fit(X, Y).set_params(lift=8)
    with pytest.raises(ValueError, match="lift changed after learning began"):
        pickle.dumps(model)
    assert copy.deepcopy(model).lift == 8


@pytest.mark.parametrize("taken", [{}, {"_labels": 1}, {"parameters": {}, "state": None}])
def test_anything_else_is_refused(taken: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected the parameters and the state of a NearestClassMean"):
        make_learner("ncm").__setstate__(taken)


def test_a_damaged_state_is_refused() -> None:
    taken = make_learner("ncm").partial_fit(X, Y).__getstate__()
    taken["state"]["labels"] = taken["state"]["labels"][:-2]
    with pytest.raises(ValueError):
        make_learner("ncm").__setstate__(taken)


@pytest.mark.parametrize("name", ["i2cansay", "i2cansay_shared", "ncm", "slda"])
def test_a_copy_shares_the_parts_and_a_deep_copy_has_its_own(name: str) -> None:
    model = make_learner(name).partial_fit(X, Y)
    shallow, deep = copy.copy(model), copy.deepcopy(model)
    before = model.predict_proba(X)
    assert shallow.__dict__ == model.__dict__
    deep.partial_fit(X + 1.0, np.roll(Y, 50))
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert not np.allclose(deep.predict_proba(X), before)
