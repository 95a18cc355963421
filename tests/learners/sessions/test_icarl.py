"""iCaRL: its exemplars, its answers, and what its training keeps."""

from typing import Any

import numpy as np
import pytest

from i2cansay.learners.closed_form.ncm import NearestClassMean
from i2cansay.learners.sessions.exemplars import unit_rows
from i2cansay.learners.sessions.icarl import ICaRL
from i2cansay.learners.sessions.losses import sigmoid
from tests.learners.sessions.material import clouds, sessions, taught

FAST: dict[str, Any] = {"hidden": 16, "lr": 0.1, "epochs": 10, "batch_size": 20, "random_state": 0}


def nearest_exemplar_mean(X: np.ndarray, rows: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the class of the nearest mean of exemplars, all of length one, by the plain formula."""
    means = np.stack([unit_rows(rows[classes == each]).mean(axis=0) for each in np.unique(classes)])
    distances = np.linalg.norm(unit_rows(X)[:, None] - unit_rows(means), axis=2)
    answers: np.ndarray = distances.argmin(axis=1)
    return answers


def test_without_a_trained_layer_it_is_the_nearest_mean_of_its_exemplars() -> None:
    X, y = clouds()
    model = taught(ICaRL(memory_size=30, head="linear", random_state=0), X, y)
    X_test, _ = clouds(500, seed=1)
    np.testing.assert_array_equal(model.predict(X_test), nearest_exemplar_mean(X_test, *model.exemplars_))
    assert (model._network.arrays()["weights"] == 0).all()


def test_without_a_trained_layer_it_is_the_learner_of_class_means_on_its_exemplars() -> None:
    X, y = clouds()
    model = taught(ICaRL(memory_size=30, head="linear", random_state=0), X, y)
    rows, classes = model.exemplars_
    means = NearestClassMean(metric="cosine").partial_fit(unit_rows(rows), classes)
    X_test, _ = clouds(500, seed=1)
    nearest = np.sort(means.decision_function(unit_rows(X_test)), axis=1)
    decided = nearest[:, -1] - nearest[:, -2] > 1e-5  # rounding may decide a tie
    assert decided.mean() > 0.99
    np.testing.assert_array_equal(model.predict(X_test)[decided], means.predict(unit_rows(X_test))[decided])


def test_with_one_it_is_the_same_in_the_hidden_layer() -> None:
    X, y = clouds()
    model = taught(ICaRL(memory_size=30, **FAST), X, y)
    X_test, _ = clouds(500, seed=1)
    rows, classes = model.exemplars_
    units = model._network.units
    expected = nearest_exemplar_mean(units(X_test.astype(np.float32)), units(rows), classes)
    assert (model.predict(X_test) == expected).mean() > 0.99  # rounding may decide a tie
    assert model._network.arrays()["weights"].any()


def test_the_memory_is_shared_by_the_classes_seen() -> None:
    X, y = clouds()
    model = ICaRL(memory_size=24, **FAST)
    for number, session in enumerate(sessions(X, y)):
        model.partial_fit(*session)
        n_seen = 2 * (number + 1)
        assert np.bincount(model.exemplars_[1]).tolist() == [24 // n_seen] * n_seen


def test_the_length_of_a_feature_does_not_matter_to_an_answer() -> None:
    X, y = clouds()
    model = taught(ICaRL(memory_size=30, head="linear", random_state=0), X, y)
    np.testing.assert_array_equal(model.predict(10 * X), model.predict(X))


def test_old_outputs_are_distilled() -> None:
    X, y = clouds()
    first, second, *_ = sessions(X, y, step=3)
    model = ICaRL(memory_size=60, **FAST).partial_fit(*first)
    old, _ = model.exemplars_
    before = sigmoid(model._logits(old))
    model.partial_fit(*second)
    after = sigmoid(model._logits(old))
    assert np.abs(after[:, :3] - before).mean() < 0.1
    assert after[:, 3:].mean() < 0.2  # and they are not taken for the new classes


def test_a_class_without_an_exemplar_is_never_named() -> None:
    X, y = clouds()
    model = taught(ICaRL(memory_size=4, **FAST), X, y)
    assert len(model.exemplars_[0]) == 4
    assert set(model.predict(X).tolist()) <= {0, 1, 2, 3}


def test_a_memory_of_no_sample_is_refused() -> None:
    with pytest.raises(ValueError, match="memory_size must be a whole number of at least 1"):
        ICaRL(memory_size=0).partial_fit(np.eye(2), [0, 1])
