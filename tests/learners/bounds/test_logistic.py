import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from i2cansay.learners.bounds.logistic import _Problem, fit_logistic


def draw(n: int = 150, d: int = 6) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + np.eye(d)[y]  # correlated
    return X - X.mean(axis=0), y, rng.uniform(0.5, 2.0, n)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_agrees_with_scikit_learn(C: float) -> None:
    X, y, weights = draw()
    reference = LogisticRegression(C=C, tol=1e-10, max_iter=5000).fit(X, y, weights)
    fit = fit_logistic(X, y, weights, n_classes=3, C=C, max_iter=500)
    expected = X @ reference.coef_.T + reference.intercept_
    logits = fit.logits(X)
    assert fit.converged
    np.testing.assert_allclose(
        logits - logits.mean(axis=1, keepdims=True),
        expected - expected.mean(axis=1, keepdims=True),
        atol=5e-3 * np.abs(expected).max(),
    )


def test_gradient_equals_finite_differences() -> None:
    X, y, weights = draw(40, 3)
    problem = _Problem(X, y, weights, n_classes=3, C=0.7)
    at = np.random.default_rng(1).standard_normal(12)
    _, gradient = problem.objective(at)
    for i, step in enumerate(1e-6 * np.eye(12)):
        difference = problem.objective(at + step)[0] - problem.objective(at - step)[0]
        assert gradient[i] == pytest.approx(difference / 2e-6, rel=1e-4, abs=1e-7)


def test_coordinates_go_there_and_back() -> None:
    X, y, weights = draw()
    problem = _Problem(X, y, weights, n_classes=3, C=0.7)
    rng = np.random.default_rng(1)
    W, b = rng.standard_normal((3, 6)), rng.standard_normal(3)
    for found, given in zip(problem.plain(problem.conditioned(W, b)), (W, b), strict=True):
        np.testing.assert_allclose(found, given, rtol=1e-9)


def test_start_at_the_solution_saves_the_way_and_float32_is_enough() -> None:
    X, y, weights = draw()
    cold = fit_logistic(X, y, weights, n_classes=3, C=1.0, max_iter=500)
    warm = fit_logistic(X, y, weights, n_classes=3, C=1.0, max_iter=500, start=cold)
    assert warm.n_iter < cold.n_iter / 2
    single = fit_logistic(X.astype(np.float32), y, weights, n_classes=3, C=1.0, max_iter=500)
    assert single.converged
    np.testing.assert_allclose(single.weights, cold.weights, atol=0.02 * np.abs(cold.weights).max())
    assert not fit_logistic(X, y, weights, n_classes=3, C=1.0, max_iter=1).converged
