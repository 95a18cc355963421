import numpy as np
import pytest

from i2cansay.core.linalg.low_rank import low_rank
from i2cansay.core.linalg.scaled import ScaledMatrix
from i2cansay.core.linalg.symmetric import SymmetricMatrix

SIZES = (1, 2, 3, 8, 31)


def scaled(size: int, n: int = 40) -> tuple[ScaledMatrix, np.ndarray]:
    rng = np.random.default_rng(size)
    matrix, factors = SymmetricMatrix(size), 10.0 ** rng.uniform(-3, 3, size)
    matrix.add_gram(rng.standard_normal((n, size)))
    return ScaledMatrix(matrix, factors), matrix.dense() * np.outer(factors, factors)


@pytest.mark.parametrize("size", SIZES)
def test_it_is_the_matrix_times_both_factors(size: int) -> None:
    matrix, dense = scaled(size)
    assert matrix.size == size
    np.testing.assert_allclose(matrix.diagonal(), np.diag(dense), rtol=1e-14)
    assert matrix.trace() == pytest.approx(np.trace(dense))
    assert matrix.sum_of_squares() == pytest.approx((dense**2).sum())
    index = np.random.default_rng(1).permutation(size)
    np.testing.assert_allclose(matrix.rows(index), dense[index], rtol=1e-14)
    copy = matrix.matrix.copy()
    copy.scale_by(matrix.factors)
    np.testing.assert_allclose(copy.dense(), dense, rtol=1e-14)


@pytest.mark.parametrize("size", SIZES)
def test_factor_solves_for_the_scaled_matrix_and_leaves_it_alone(size: int) -> None:
    matrix, dense = scaled(size)
    before, rng = matrix.matrix.packed.copy(), np.random.default_rng(2)
    B, rows = rng.standard_normal((2, size)), rng.standard_normal((3, size))
    solved = matrix.factor(shift=0.5, scale=0.1, plus=lambda: [rows]).solve(B)
    expected = 0.1 * dense + 0.5 * np.eye(size) + np.einsum("ni,nj->ij", rows, rows)
    np.testing.assert_allclose(solved @ expected, B, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(matrix.matrix.packed, before)


def test_powers_of_two_that_cancel_change_no_bit() -> None:
    matrix, _ = scaled(8)
    powers = 2.0 ** np.array([-300, -20, -3, 0, 1, 5, 40, 300])
    other = matrix.matrix.copy()
    other.scale_by(powers)
    same = ScaledMatrix(other, matrix.factors / powers)
    B, index = np.ones((1, 8)), np.arange(8)
    assert not np.array_equal(other.packed, matrix.matrix.packed)
    np.testing.assert_array_equal(same.rows(index), matrix.rows(index))
    np.testing.assert_array_equal(same.factor(shift=0.5).solve(B), matrix.factor(shift=0.5).solve(B))
    assert same.sum_of_squares() == matrix.sum_of_squares()


def test_a_factor_of_zero_takes_a_dimension_out() -> None:
    matrix, _ = scaled(5)
    without = ScaledMatrix(matrix.matrix, np.where(np.arange(5) == 2, 0.0, matrix.factors))
    inverse = without.factor(shift=0.5).inverse().dense()
    np.testing.assert_allclose(inverse[2], [0, 0, 2, 0, 0])


def test_few_rows_of_it_are_found() -> None:
    matrix, dense = scaled(31, n=4)
    few = low_rank(matrix, most=4)
    assert few is not None
    assert len(few.rows) == 4
    np.testing.assert_allclose(few.rows.T @ few.rows, dense, rtol=1e-9, atol=1e-9 * dense.max())
