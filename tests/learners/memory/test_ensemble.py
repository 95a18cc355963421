from typing import Any, Literal

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from i2cansay.learners.memory.ensemble import Ensemble

CENTRES: tuple[Literal["all", "first"], ...] = ("all", "first")


def clouds(n: int = 600, *, seed: int = 0, offset: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 5, n)
    centres = 2 * np.random.default_rng(9).normal(size=(5, 12))
    return centres[y] + rng.normal(size=(n, 12)) + offset, y


def taught(model: Ensemble, X: np.ndarray, y: np.ndarray, batch: int = 50) -> Ensemble:
    for start in range(0, len(X), batch):
        model.partial_fit(X[start : start + batch], y[start : start + batch])
    return model


def by_class(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(y, kind="stable")
    return X[order], y[order]


@pytest.mark.parametrize("parameters", [{}, {"centred_on": "first"}, {"centre": False}])
def test_scikit_learn_accepts_it(parameters: dict[str, Any]) -> None:
    check_estimator(Ensemble(n_classifiers=64, n_active=8, **parameters), on_skip=None)


def test_class_after_class_is_learnt_as_well_as_all_mixed() -> None:
    X, y = clouds(2000)
    X_test, y_test = clouds(seed=1)
    mixed, in_turn = (
        taught(Ensemble(random_state=0), *samples).score(X_test, y_test)
        for samples in ((X, y), by_class(X, y))
    )
    assert in_turn > 0.8
    assert in_turn > mixed - 0.1


def test_a_later_class_leaves_the_scores_of_the_others_alone() -> None:
    X, y = clouds()
    early, late = y < 4, y == 4
    model = taught(Ensemble(centre=False, weight_decay=0.0, random_state=0), X[early], y[early])
    before = model.class_scores(X)
    after = taught(model, X[late], y[late]).class_scores(X)[:, :4]
    np.testing.assert_allclose(after, before, rtol=1e-5, atol=1e-6)


def test_features_far_from_the_origin_are_told_apart_once_centred() -> None:
    X, y = by_class(*clouds(2000, offset=20.0))
    X_test, y_test = clouds(seed=1, offset=20.0)
    centred, plain = (
        taught(Ensemble(centre=centre, random_state=0), X, y).score(X_test, y_test)
        for centre in (True, False)
    )
    assert centred > 0.8
    assert centred > plain + 0.1


def test_the_first_centre_stays_and_the_running_one_moves() -> None:
    X, y = by_class(*clouds(offset=20.0))
    centres = {}
    for centred_on in CENTRES:
        model = taught(Ensemble(n_classifiers=64, centred_on=centred_on, random_state=0), X, y)
        centres[centred_on] = model.state()["mean.value"]
    np.testing.assert_allclose(centres["first"], X[:50].mean(axis=0))
    np.testing.assert_allclose(centres["all"], X.mean(axis=0))


def test_samples_one_by_one_have_the_centre_of_their_first_batch() -> None:
    X, y = clouds(120, offset=20.0)
    model = taught(Ensemble(n_classifiers=64, centred_on="first", random_state=0), X, y, batch=1)
    np.testing.assert_allclose(model.state()["mean.value"], X[:50].mean(axis=0))


def test_with_the_first_centre_a_sample_asks_the_classifiers_it_has_taught() -> None:
    X, y = by_class(*clouds(offset=20.0))
    for centred_on, same in zip(CENTRES, (False, True), strict=True):
        model = Ensemble(n_classifiers=64, n_active=8, centred_on=centred_on, random_state=0)
        taught(model, X[:50], y[:50])
        before = np.sort(model._look_up(X[:50]).active, axis=1)
        after = np.sort(taught(model, X[50:], y[50:])._look_up(X[:50]).active, axis=1)
        assert np.array_equal(before, after) == same


def test_the_length_of_a_step_decides_nothing() -> None:
    X, y = clouds()
    short, long = (taught(Ensemble(lr=lr, weight_decay=0.0, random_state=0), X, y) for lr in (1e-5, 1e-3))
    np.testing.assert_allclose(long.class_scores(X), 100 * short.class_scores(X), rtol=1e-3, atol=1e-6)


def test_a_sample_of_weight_decides_the_sign() -> None:
    X = np.array([[1.0, 2.0], [1.0, -2.0]])
    for weights, sign in (([3.0, 1.0], 1), ([1.0, 3.0], -1)):
        model = Ensemble(n_classifiers=1, centre=False, random_state=0)
        model.partial_fit(X, [0, 0], sample_weight=weights)
        scores = model.class_scores(np.array([[0.0, 1.0]]))
        bias = model.class_scores(np.zeros((1, 2)))
        assert np.sign(scores - bias) == sign


def test_its_size_is_that_of_its_classifiers() -> None:
    X, y = clouds()
    model = taught(Ensemble(n_classifiers=100, random_state=0), X, y)
    state = model.state()
    assert state["classifiers.weights"].nbytes + state["classifiers.biases"].nbytes == 100 * 5 * (12 + 1) * 4
    assert not model.stores_samples


def test_the_seed_makes_the_keys() -> None:
    X, y = clouds()
    scores = [taught(Ensemble(random_state=seed), X, y).class_scores(X) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_classifiers": 0}, "n_classifiers must be a whole number of at least 1"),
        ({"centred_on": "last"}, "centred_on must be"),
        ({"lr": 0.0}, "lr must be a number above 0"),
        ({"weight_decay": -1.0}, "weight_decay must be a number of at least 0"),
        ({"lr": 10.0, "weight_decay": 0.2}, "must be below 1, or the weights change their sign"),
    ],
)
def test_parameters_out_of_range_are_named(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Ensemble(**parameters).partial_fit(np.eye(2), [0, 1])  # type: ignore[arg-type]
