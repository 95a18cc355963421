import numpy as np
import pytest

from i2cansay.core.linalg import symmetric
from i2cansay.core.linalg.symmetric import MatrixTooLarge, SymmetricMatrix


def filled(size: int, n: int = 40, seed: int = 0) -> tuple[SymmetricMatrix, np.ndarray]:
    X = np.random.default_rng(seed).standard_normal((n, size))
    matrix = SymmetricMatrix(size)
    matrix.add_gram(X)
    return matrix, np.einsum("ni,nj->ij", X, X)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 8, 31])
def test_packed_triangle_is_the_whole_matrix(size: int) -> None:
    matrix, dense = filled(size)
    np.testing.assert_allclose(matrix.dense(), dense, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(matrix.diagonal(), np.diag(dense), rtol=1e-12)
    assert matrix.trace() == pytest.approx(np.trace(dense))
    assert matrix.sum_of_squares() == pytest.approx((dense**2).sum())


@pytest.mark.parametrize("size", [1, 2, 3, 8, 31])
def test_rows_are_those_of_the_whole_matrix(size: int) -> None:
    matrix, _ = filled(size)
    index = np.random.default_rng(1).permutation(size)
    np.testing.assert_array_equal(matrix.rows(index), matrix.dense()[index])
    assert matrix.rows(index[:0]).shape == (0, size)


def test_sums_are_taken_away_by_a_negative_scale() -> None:
    matrix, dense = filled(5)
    extra = np.random.default_rng(1).standard_normal((3, 5)).astype(np.float32)
    matrix.add_gram(extra)
    matrix.add_gram(extra, scale=-1.0)
    np.testing.assert_allclose(matrix.dense(), dense, rtol=1e-12)


def test_add_and_copy_do_not_share_memory() -> None:
    matrix, dense = filled(4)
    twin = matrix.copy()
    twin.add(matrix)
    np.testing.assert_allclose(twin.dense(), 2 * dense)
    np.testing.assert_allclose(matrix.dense(), dense)


@pytest.mark.parametrize("size", [1, 6, 9])
def test_solve_agrees_with_numpy(size: int) -> None:
    matrix, dense = filled(size)
    B = np.random.default_rng(2).standard_normal((3, size))
    expected = np.linalg.solve(0.5 * dense + 2.0 * np.eye(size), B.T).T
    np.testing.assert_allclose(matrix.solve(B, shift=2.0, scale=0.5), expected, rtol=1e-9)


def test_solve_leaves_matrix_and_right_side_alone() -> None:
    matrix, dense = filled(6)
    B = np.ones((2, 6))
    matrix.solve(B, shift=1.0)
    np.testing.assert_allclose(matrix.dense(), dense)
    assert (B == 1).all()


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_singular_matrix_with_a_negligible_shift_stays_finite(scale: float) -> None:
    matrix = SymmetricMatrix(3)
    matrix.add_gram(scale * np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]))
    assert np.isfinite(matrix.solve(np.eye(3), shift=1e-300)).all()


def test_restore_refuses_another_size() -> None:
    with pytest.raises(ValueError, match="expected 6 numbers"):
        SymmetricMatrix(3).restore(np.zeros(10))


@pytest.mark.parametrize("size", [1, 2, 6, 9, 300])
def test_inverse_agrees_with_numpy_and_leaves_the_matrix_alone(size: int) -> None:
    matrix, dense = filled(size)
    expected = np.linalg.inv(0.5 * dense + 2.0 * np.eye(size))
    inverse = matrix.inverse(shift=2.0, scale=0.5)
    np.testing.assert_allclose(inverse.dense(), expected, rtol=1e-9, atol=1e-12)
    narrow = inverse.into_dense32()
    assert narrow.dtype == np.float32
    assert narrow.flags.c_contiguous  # else every product with it would copy it
    np.testing.assert_allclose(narrow, expected, rtol=1e-6, atol=1e-7)
    assert inverse.size == 0  # it is used up
    np.testing.assert_allclose(matrix.dense(), dense)


def test_narrowing_block_by_block_rounds_every_number_once(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix, dense = filled(50)
    for block in (1, 7, 10_000):
        monkeypatch.setattr(symmetric, "NARROWED", block)
        np.testing.assert_array_equal(matrix.copy().into_dense32(), dense.astype(np.float32))


@pytest.mark.parametrize("size", [1, 6, 9])
def test_one_factor_solves_more_than_once(size: int) -> None:
    matrix, dense = filled(size)
    factor, whole = matrix.factor(shift=2.0, scale=0.5), 0.5 * dense + 2.0 * np.eye(size)
    for rows in (np.ones((1, size)), np.arange(3.0 * size).reshape(3, size)):
        np.testing.assert_allclose(factor.solve(rows) @ whole, rows, rtol=1e-9, atol=1e-9)
    assert factor.solve(np.ones((0, size))).shape == (0, size)


def test_factor_with_rows_added_leaves_the_matrix_alone() -> None:
    matrix, dense = filled(6)
    blocks = [np.arange(12.0).reshape(2, 6), np.ones((1, 6))]
    inverse = matrix.factor(shift=2.0, scale=0.5, plus=lambda: blocks).inverse().dense()
    rows = np.concatenate(blocks)
    whole = 0.5 * dense + rows.T @ rows + 2.0 * np.eye(6)
    np.testing.assert_allclose(inverse @ whole, np.eye(6), atol=1e-9)
    np.testing.assert_allclose(matrix.dense(), dense)


def test_singular_matrix_is_inverted_to_something_finite() -> None:
    matrix = SymmetricMatrix(3)
    matrix.add_gram(np.ones((2, 3)))
    assert np.isfinite(matrix.inverse(shift=1e-300).packed).all()


def test_memory_that_may_only_be_read_is_copied_when_unpickled() -> None:
    matrix, dense = filled(4)
    frozen = matrix.__dict__ | {"packed": matrix.packed.copy()}
    frozen["packed"].flags.writeable = False
    twin = SymmetricMatrix(0)
    twin.__setstate__(frozen)
    twin.add_gram(np.ones((1, 4)))
    np.testing.assert_allclose(twin.dense(), dense + 1)
    np.testing.assert_allclose(matrix.dense(), dense)


def test_a_matrix_larger_than_the_machine_says_what_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MatrixTooLarge, match=r"1000000 dimensions takes 4000\.0 GB.*ncm"):
        SymmetricMatrix(1_000_000)
    monkeypatch.setattr(
        "i2cansay.core.linalg.symmetric.physical_memory", lambda: None
    )  # not told on every system

    def refuse(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("i2cansay.core.linalg.symmetric.np.zeros", refuse)
    with pytest.raises(MatrixTooLarge, match="more than there is"):
        SymmetricMatrix(100)
