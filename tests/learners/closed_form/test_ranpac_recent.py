from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import check_estimator

from i2cansay.core.types import Float64, Rows
from i2cansay.learners.closed_form.ranpac import RanPAC
from i2cansay.learners.closed_form.ranpac_recent import RecentRanPAC
from i2cansay.learners.closed_form.recent_split import PENALTIES, RecentSplit
from i2cansay.testing import check_learner


def draw(n: int = 90, noise: float = 1.0) -> tuple[Float64, Rows]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    return noise * rng.standard_normal((n, 4)) + 2 * np.eye(4)[y], y


def small(**parameters: Any) -> RecentRanPAC:
    return RecentRanPAC(**{"n_projections": 20, "window": 30, "random_state": 0, **parameters})


def test_scikit_learn_and_the_contract_accept_it() -> None:
    check_estimator(small(), on_skip=None, expected_failed_checks=dict(RecentRanPAC.expected_failed_checks))
    check_learner(small())


def test_the_penalty_is_the_best_on_every_fifth_sample_of_the_last_window() -> None:
    X, y = draw()
    model = small()
    for start in range(0, 90, 7):
        model.partial_fit(X[start : start + 7], y[start : start + 7])
    lifted, targets = model._lift(X[60:]), np.eye(3)[y[60:]]
    held = np.arange(30) % 5 == 4
    errors = []
    for penalty in PENALTIES:
        ridge = Ridge(alpha=penalty, fit_intercept=False, solver="svd").fit(lifted[~held], targets[~held])
        errors.append(((ridge.predict(lifted[held]) - targets[held]) ** 2).sum())
    assert model.penalty_ == PENALTIES[int(np.argmin(errors))]
    fixed = RanPAC(n_projections=20, penalty=model.penalty_, relative=False, random_state=0).partial_fit(X, y)
    np.testing.assert_allclose(model.class_scores(X), fixed.class_scores(X), rtol=1e-7, atol=1e-9)


def test_windows_do_not_depend_on_batches() -> None:
    X, y = draw(100)
    states = []
    for size in (1, 7, 100):
        recent = RecentSplit(4, window=30)
        recent.resize(3)
        for start in range(0, 100, size):
            recent.add(X[start : start + size], y[start : start + size])
        assert recent.position == 10
        assert recent.held.together.means.total == 2
        states.append(recent.learnt.solve(penalty=1.0, relative=False, intercept=False).weights)
    np.testing.assert_allclose(states[0], states[1], rtol=1e-9)
    np.testing.assert_allclose(states[0], states[2], rtol=1e-9)


def test_squared_error_is_that_of_the_samples() -> None:
    X, y = draw()
    recent = RecentSplit(4, window=90)
    recent.resize(3)
    recent.add(X, y)
    rule = recent.learnt.solve(penalty=3.0, relative=False, intercept=False)
    held = np.arange(90) % 5 == 4
    expected = ((X[held] @ rule.weights.T - np.eye(3)[y[held]]) ** 2).sum()
    assert recent.held.squared_error(rule) == pytest.approx(expected)


def test_noise_asks_for_more_than_clean_samples_do() -> None:
    X, y = draw(300, noise=0.1)
    clean = small(window=300).partial_fit(X, y).penalty_
    assert small(window=300).partial_fit(X, np.random.default_rng(1).permutation(y)).penalty_ > clean


def test_a_window_survives_saving() -> None:
    X, y = draw()
    model = small().partial_fit(X[:40], y[:40])
    twin = small().set_state(model.state())
    for learner in (model, twin):
        learner.partial_fit(X[40:75], y[40:75])
    assert model.penalty_ == twin.penalty_
    np.testing.assert_array_equal(model.class_scores(X), twin.class_scores(X))


def test_parameters_are_checked() -> None:
    with pytest.raises(ValueError, match="window must be a whole number of at least 10"):
        small(window=3).partial_fit(np.eye(2), [0, 1])
