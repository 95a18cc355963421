import numpy as np
import pytest
from sklearn.linear_model import RidgeCV

from i2cansay.core.linalg import symmetric
from i2cansay.core.linalg.symmetric import SymmetricMatrix
from i2cansay.core.statistics.cross_validation import PENALTIES, cross_validated_ridge
from i2cansay.core.statistics.ridge_statistics import RidgeStatistics


def draw(n: int = 60, d: int = 5, noise: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    return np.eye(d)[y] + noise * rng.standard_normal((n, d)) + 3, y


def explicit_error(X: np.ndarray, Y: np.ndarray, shift: float, *, intercept: bool) -> float:
    """Return the error by the whole hat matrix, (n, n)."""
    n = len(X)
    constant = np.full((n, n), 1 / n) if intercept else np.zeros((n, n))
    X = X - constant @ X
    hat = X @ np.linalg.solve(X.T @ X + shift * np.eye(X.shape[1]), X.T) + constant
    return float(n * ((Y - hat @ Y) ** 2).sum() / (n - np.trace(hat)) ** 2)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("n", "d", "noise"), [(60, 5, 1.0), (60, 5, 0.1), (200, 20, 3.0), (20, 30, 1.0)])
def test_is_the_least_error_of_the_whole_hat_matrix(intercept: bool, n: int, d: int, noise: float) -> None:
    X, y = draw(n, d, noise)
    statistics = RidgeStatistics(d)
    statistics.resize(3)
    statistics.add(X, y)
    rule, penalty = statistics.solve_cross_validated(intercept=intercept)
    unit = X.var(axis=0).mean() if intercept else (X**2).mean()
    errors = [explicit_error(X, np.eye(3)[y], p * unit, intercept=intercept) for p in PENALTIES]
    assert penalty == PENALTIES[int(np.argmin(errors))]
    expected = statistics.solve(penalty=penalty, relative=True, intercept=intercept)
    np.testing.assert_allclose(rule.of(X), expected.of(X), rtol=1e-8, atol=1e-10)


def test_error_is_that_of_the_hat_matrix() -> None:
    X, y = draw()
    Y, gram = np.eye(3)[y], SymmetricMatrix(5)
    gram.add_gram(X)
    found = cross_validated_ridge(gram, lambda: [Y.T @ X], squares=60.0, n=60, unit=1.0)
    assert found.error == pytest.approx(explicit_error(X, Y, found.penalty, intercept=False), rel=1e-8)


def test_error_with_an_intercept_taken_out_is_that_of_the_hat_matrix_with_it() -> None:
    X, y = draw()
    Y, centred, gram = np.eye(3)[y], X - X.mean(axis=0), SymmetricMatrix(5)
    gram.add_gram(centred)
    around = Y - Y.mean(axis=0)
    found = cross_validated_ridge(
        gram, lambda: [around.T @ centred], squares=float((around**2).sum()), n=60, unit=1.0, fitted=1.0
    )
    assert found.error == pytest.approx(explicit_error(X, Y, found.penalty, intercept=True), rel=1e-8)


@pytest.mark.parametrize("noise", [0.3, 1.0, 3.0])
def test_is_within_a_step_of_leaving_one_out(noise: float) -> None:
    X, y = draw(300, 20, noise)
    Y = np.eye(3)[y] - np.eye(3)[y].mean(axis=0)
    X = X - X.mean(axis=0)
    unit = X.var(axis=0).mean()
    reference = RidgeCV(alphas=[p * unit for p in PENALTIES], fit_intercept=False).fit(X, Y)
    gram = SymmetricMatrix(20)
    gram.add_gram(X)
    found = cross_validated_ridge(gram, lambda: [Y.T @ X], squares=float((Y**2).sum()), n=300, unit=unit)
    assert abs(np.log10(found.penalty) - np.log10(reference.alpha_ / unit)) < 0.6


def test_signs_estimate_the_trace_of_an_inverse(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = draw(400, 300)
    gram = SymmetricMatrix(300)
    gram.add_gram(X)
    exact = gram.factor(shift=100.0).trace_of_inverse()
    assert exact == pytest.approx(np.trace(np.linalg.inv(gram.dense() + 100 * np.eye(300))))
    monkeypatch.setattr(symmetric, "EXACT_UP_TO", 0)
    estimated = gram.factor(shift=100.0).trace_of_inverse()
    assert estimated == pytest.approx(exact, rel=0.02)
    assert estimated != exact


def test_one_sample_and_no_spread_are_solved() -> None:
    for X in (np.zeros((1, 3)), np.ones((1, 3)), np.ones((4, 3))):
        statistics = RidgeStatistics(3)
        statistics.resize(1)
        statistics.add(X, np.zeros(len(X), dtype=np.int64))
        for intercept in (True, False):
            rule, penalty = statistics.solve_cross_validated(intercept=intercept)
            assert np.isfinite(rule.of(X)).all()
            assert penalty > 0


@pytest.mark.parametrize("lowest", [0.0, 0.02, 5.0, 1e5, 1e30])
@pytest.mark.parametrize(("n", "d", "noise"), [(60, 5, 1.0), (200, 20, 3.0)])
def test_weaker_penalties_than_the_lowest_are_left_out(lowest: float, n: int, d: int, noise: float) -> None:
    X, y = draw(n, d, noise)
    Y, gram = np.eye(3)[y] - 1 / 3, SymmetricMatrix(d)
    X = X - X.mean(axis=0)
    gram.add_gram(X)
    allowed = [penalty for penalty in PENALTIES if penalty >= lowest] or [PENALTIES[-1]]
    errors = [explicit_error(X, Y, penalty, intercept=False) for penalty in allowed]
    found = cross_validated_ridge(
        gram, lambda: [Y.T @ X], squares=float((Y**2).sum()), n=n, unit=1.0, lowest=lowest
    )
    assert found.penalty == allowed[int(np.argmin(errors))]


def test_penalty_alone_is_the_same_and_spares_the_weights() -> None:
    rng, gram = np.random.default_rng(0), SymmetricMatrix(12)
    X, y = rng.standard_normal((300, 12)), rng.integers(0, 200, 300)
    gram.add_gram(X)
    Y = np.eye(200)[y]
    kept = cross_validated_ridge(gram, lambda: [Y.T @ X], squares=300.0, n=300, unit=1.0)
    blocks = np.array_split(Y.T @ X, 3)
    spared = cross_validated_ridge(gram, lambda: blocks, squares=300.0, n=300, unit=1.0, keep_weights=False)
    assert spared.weights.shape == (0, 12)
    assert spared.penalty == kept.penalty
    assert spared.error == pytest.approx(kept.error)
