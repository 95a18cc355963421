import numpy as np
import pytest

from i2cansay.learners.closed_form.correlation import Mahalanobis, shrunk_correlation


def covariance(n: int = 12, d: int = 8) -> np.ndarray:
    return np.cov(np.random.default_rng(0).standard_normal((d, n)) * np.arange(1, d + 1)[:, None], bias=True)


@pytest.mark.parametrize(("gamma1", "gamma2"), [(1.0, 1.0), (100.0, 100.0), (1.0, 0.0)])
def test_agrees_with_the_formula_entry_by_entry(gamma1: float, gamma2: float) -> None:
    S = covariance()
    diagonal, eye = np.diag(S).mean(), np.eye(8)
    rest = S[~eye.astype(bool)].mean()
    shrunk = S + gamma1 * diagonal * eye + gamma2 * rest * (1 - eye)
    deviation = np.sqrt(np.diag(shrunk))
    found = shrunk_correlation(S, gamma1=gamma1, gamma2=gamma2)
    np.testing.assert_allclose(found, shrunk / np.outer(deviation, deviation), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(shrunk_correlation(1e-12 * S, gamma1=gamma1, gamma2=gamma2), found, rtol=1e-9)


def test_no_spread_is_the_identity_and_one_dimension_is_one() -> None:
    np.testing.assert_array_equal(shrunk_correlation(np.zeros((3, 3)), gamma1=1.0, gamma2=1.0), np.eye(3))
    np.testing.assert_allclose(shrunk_correlation(np.array([[4.0]]), gamma1=1.0, gamma2=1.0), [[1.0]])


@pytest.mark.parametrize("d", [1, 7, 8])
def test_distance_is_that_of_the_inverse(d: int) -> None:
    matrix = shrunk_correlation(covariance(d=8)[:d, :d], gamma1=1.0, gamma2=1.0)
    X = np.random.default_rng(1).standard_normal((5, d))
    expected = np.einsum("nd,nd->n", X @ np.linalg.inv(matrix), X)
    np.testing.assert_allclose(Mahalanobis(matrix).squared(X), expected, rtol=1e-4)


def test_singular_matrix_is_shrunk_until_it_is_not() -> None:
    assert np.isfinite(Mahalanobis(np.ones((4, 4))).squared(np.eye(4))).all()


def test_matrix_that_is_not_finite_is_named() -> None:
    with pytest.raises(ValueError, match="not finite"):
        Mahalanobis(np.full((2, 2), np.nan))
