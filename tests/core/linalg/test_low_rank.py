import numpy as np
import pytest

from i2cansay.core.linalg import low_rank as thin_module
from i2cansay.core.linalg.low_rank import LowRankMatrix, low_rank
from i2cansay.core.linalg.symmetric import SymmetricMatrix


def matrix_of(rows: np.ndarray) -> SymmetricMatrix:
    matrix = SymmetricMatrix(rows.shape[1])
    matrix.add_gram(rows)
    return matrix


def draw(rank: int, size: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((rank, size)) @ (
        rng.standard_normal((size, size)) * np.geomspace(1, 1e-3, size)
    )


@pytest.mark.parametrize("at_a_time", [1, 7, 64])
@pytest.mark.parametrize(("rank", "size"), [(1, 1), (1, 2), (3, 9), (20, 100), (60, 61), (100, 301)])
def test_the_rows_are_the_matrix(
    rank: int, size: int, at_a_time: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thin_module, "AT_A_TIME", at_a_time)
    matrix = matrix_of(draw(rank, size))
    before = matrix.dense()
    found = low_rank(matrix, most=rank)
    assert found is not None
    assert found.rows.shape == (rank, size)
    assert found.size == size
    np.testing.assert_allclose(found.rows.T @ found.rows, before, atol=1e-10 * before.max())
    np.testing.assert_array_equal(matrix.dense(), before)


def test_rows_that_repeat_count_once() -> None:
    rows = np.repeat(draw(4, 30), 10, axis=0)
    found = low_rank(matrix_of(rows), most=40)
    assert found is not None
    assert len(found.rows) == 4


def test_rows_that_nearly_repeat_are_not_divided_by_their_rounding() -> None:
    rng = np.random.default_rng(0)
    group = rng.standard_normal((20, 8))[
        :, np.arange(320) % 8
    ]  # dimensions in groups of 40 that are nearly one
    rows = group + 1e-5 * rng.standard_normal((20, 320))
    found = low_rank(matrix_of(rows), most=20)
    assert found is not None
    np.testing.assert_allclose(found.rows.T @ found.rows, rows.T @ rows, atol=1e-9)


def test_what_rounding_has_left_below_zero_is_left_alone() -> None:
    matrix, gone = matrix_of(draw(5, 60)), 1e5 * draw(30, 60, seed=1)
    matrix.add_gram(gone)
    matrix.add_gram(gone, scale=-1.0)
    assert low_rank(matrix, most=20) is None


@pytest.mark.parametrize("unit", [1e-100, 1e-8, 1e8, 1e100])
def test_the_unit_makes_no_difference(unit: float) -> None:
    rows = draw(10, 50)
    plain, scaled = low_rank(matrix_of(rows), most=10), low_rank(matrix_of(unit * rows), most=10)
    assert plain is not None
    assert scaled is not None
    np.testing.assert_allclose(scaled.rows, unit * plain.rows, rtol=1e-6, atol=1e-9 * unit * rows.max())


def test_no_rows_are_nothing() -> None:
    found = low_rank(SymmetricMatrix(5), most=3)
    assert found is not None
    assert found.rows.shape == (0, 5)
    np.testing.assert_array_equal(found.factor(shift=2.0).solve(np.ones((1, 5))), np.full((1, 5), 0.5))
    np.testing.assert_array_equal(found.factor(shift=2.0).inverse().dense(), 0.5 * np.eye(5))
    assert found.factor(shift=2.0).trace_of_inverse() == 2.5


def test_more_rows_than_allowed_are_left_alone() -> None:
    assert low_rank(matrix_of(draw(11, 50)), most=10) is None
    assert low_rank(matrix_of(draw(40, 20)), most=19) is None


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_left_alone(bad: float) -> None:
    matrix = matrix_of(draw(3, 10))
    for first in (0, matrix.packed.size - 1):
        matrix.packed[first:] = bad
        assert low_rank(matrix, most=5) is None


@pytest.mark.parametrize("rounding", [1e-14, 1e-15, 1e-16, 0.0])
def test_rounding_is_no_reason_to_go_on_for_ever(rounding: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thin_module, "NOTHING_LEFT", rounding)
    for seed in range(20):
        rows = draw(20, 200, seed)
        found = low_rank(matrix_of(rows), most=40)
        assert found is None or np.allclose(found.rows.T @ found.rows, rows.T @ rows)


@pytest.mark.parametrize("size", [40, 41])
@pytest.mark.parametrize("plus", [0, 3])
def test_solves_as_the_whole_matrix_does(size: int, plus: int) -> None:
    rng = np.random.default_rng(1)
    rows, more, B = draw(6, size), draw(plus, size, seed=2), rng.standard_normal((5, size))
    together = np.concatenate([rows, more])
    whole = matrix_of(together).factor(shift=0.3, scale=0.7)
    few = LowRankMatrix(rows).plus([more[:2], more[2:]]).factor(shift=0.3, scale=0.7)
    np.testing.assert_allclose(few.solve(B), whole.solve(B), rtol=1e-9, atol=1e-9)
    given = B.copy()
    few.solve(given)
    np.testing.assert_array_equal(given, B)
    replaced = few.solve(given, overwrite=True)
    assert np.shares_memory(replaced, given)
    np.testing.assert_allclose(replaced, whole.solve(B), rtol=1e-9, atol=1e-9)
    assert few.solve(B[:0]).shape == (0, size)
    inverse = whole.inverse().dense()
    assert few.trace_of_inverse() == pytest.approx(np.trace(inverse))
    np.testing.assert_allclose(few.inverse().dense(), inverse, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_a_negligible_shift_stays_finite(scale: float) -> None:
    factor = LowRankMatrix(scale * np.ones((2, 6))).factor(shift=1e-300)
    assert np.isfinite(factor.solve(np.eye(6))).all()


def test_what_is_not_finite_is_not_solved() -> None:
    with pytest.raises(ValueError, match="not finite"):
        LowRankMatrix(np.full((2, 6), np.nan)).factor(shift=1.0)
