import numpy as np
import pytest
from sklearn.linear_model import Ridge

from i2cansay.core.statistics.ridge_statistics import RidgeStatistics


def draw(n: int = 60, d: int = 5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, d)) + 3, np.arange(n) % 3


def taught(X: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> RidgeStatistics:
    statistics = RidgeStatistics(X.shape[1])
    statistics.resize(3)
    statistics.add(X, y, weights)
    return statistics


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_agrees_with_scikit_learn(intercept: bool, weighted: bool) -> None:
    X, y = draw()
    weights = np.linspace(0.5, 2, 60) if weighted else None
    reference = Ridge(alpha=0.7, fit_intercept=intercept).fit(X, np.eye(3)[y], weights)
    rule = taught(X, y, weights).solve(penalty=0.7, relative=False, intercept=intercept)
    np.testing.assert_allclose(rule.of(X), reference.predict(X), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("intercept", [True, False])
def test_relative_penalty_does_not_see_the_scale(intercept: bool) -> None:
    X, y = draw()
    small, large = taught(1e-6 * X, y), taught(1e6 * X, y)
    scores = [s.solve(penalty=1.0, relative=True, intercept=intercept) for s in (small, large)]
    np.testing.assert_allclose(scores[0].of(1e-6 * X), scores[1].of(1e6 * X), rtol=1e-6)


def test_relative_penalty_is_in_units_of_the_mean_variance() -> None:
    X, y = draw()
    statistics = taught(X, y)
    relative = statistics.solve(penalty=2.0, relative=True, intercept=True)
    absolute = statistics.solve(penalty=2.0 * X.var(axis=0).mean(), relative=False, intercept=True)
    np.testing.assert_allclose(relative.weights, absolute.weights, rtol=1e-9)


def test_merging_halves_equals_one_pass() -> None:
    X, y = draw()
    half = taught(X[:25], y[:25])
    half.merge(taught(X[25:], y[25:]), np.arange(3))
    solve = {"penalty": 1.0, "relative": True, "intercept": True}
    rules = [s.solve(**solve) for s in (half, taught(X, y))]  # type: ignore[arg-type]
    np.testing.assert_allclose(rules[0].of(X), rules[1].of(X), rtol=1e-9)


def test_state_goes_round() -> None:
    X, y = draw()
    statistics, twin = taught(X, y), RidgeStatistics(5)
    twin.restore(statistics.state(), 3)
    for part in (statistics, twin):
        part.add(X[:7] + 1, y[:7])
    for name, array in statistics.state().items():
        np.testing.assert_array_equal(twin.state()[name], array)
