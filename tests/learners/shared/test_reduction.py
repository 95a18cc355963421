import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from i2cansay.learners.shared import reduction
from i2cansay.learners.shared.reduction import Reduction, shares


def matrix(d: int, width: int) -> np.ndarray:
    """Return the matrix, (width, d), of the reduction of one block."""
    rows: np.ndarray = Reduction((d,), width).apply(np.eye(d)).T
    return rows


@settings(max_examples=100, deadline=None)
@given(widths=st.lists(st.integers(1, 60), min_size=1, max_size=8), most=st.integers(8, 300))
def test_shares_are_in_proportion_and_add_up(widths: list[int], most: int) -> None:
    given_ = shares(widths, most)
    assert sum(given_) == min(most, sum(widths))
    ratio = min(most / sum(widths), 1.0)
    for share, width in zip(given_, widths, strict=True):
        assert 1 <= share <= width
        # Blocks that get one dimension at least may take it from the others.
        assert share >= 1 if width * ratio < 1 else share > width * ratio - len(widths)


@pytest.mark.parametrize(("d", "width"), [(2, 1), (7, 3), (64, 63), (101, 40), (300, 7)])
def test_rows_are_orthonormal_up_to_a_factor_that_keeps_lengths(d: int, width: int) -> None:
    rows = matrix(d, width)
    np.testing.assert_allclose(rows @ rows.T, d / width * np.eye(width), atol=1e-12)


def test_inner_products_stay_on_average(monkeypatch: pytest.MonkeyPatch) -> None:
    # Of one sign: without random signs the first output alone would hold nearly all of it.
    X, width, n, products = np.abs(np.random.default_rng(0).standard_normal((2, 400))), 100, 50, []
    for seed in range(n):
        monkeypatch.setattr(reduction, "SEED", seed)
        reduced = Reduction((400,), width).apply(X)
        products.append(reduced @ reduced.T)
    exact = X @ X.T
    # Each product is off by about |a| |b| / sqrt(width), their mean by a share of that.
    noise = np.sqrt(2 * np.outer(np.diag(exact), np.diag(exact)) / width)
    assert (np.abs(products[0] - exact) < 5 * noise).all()
    assert (np.abs(np.mean(products, axis=0) - exact) < 5 * noise / np.sqrt(n)).all()
    assert np.ptp(products, axis=0).max() > 0


def test_each_block_is_reduced_by_itself_wherever_it_stands() -> None:
    X = np.random.default_rng(0).standard_normal((3, 50))
    whole = Reduction((30, 20), 25)
    assert whole.widths == (15, 10)
    reduced = whole.apply(X)
    np.testing.assert_array_equal(reduced[:, :15], Reduction((30,), 15).apply(X[:, :30]))
    np.testing.assert_array_equal(reduced[:, 15:], Reduction((20,), 10).apply(X[:, 30:]))
    moved = Reduction((20, 30), 25).apply(np.roll(X, 20, axis=1))
    np.testing.assert_array_equal(moved, np.roll(reduced, 10, axis=1))


def test_what_fits_is_left_as_it_is() -> None:
    X = np.random.default_rng(0).standard_normal((3, 12)).astype(np.float32)
    for most in (12, 500):
        fitting = Reduction((5, 7), most)
        assert (fitting.needed, fitting.widths, fitting.drawn_bytes) == (False, (5, 7), 0)
        np.testing.assert_array_equal(fitting.apply(X), X)
    wider = np.random.default_rng(0).standard_normal((3, 61))
    np.testing.assert_array_equal(
        Reduction((1, 60), 21).apply(wider)[:, 0], wider[:, 0]
    )  # it cannot have less


@pytest.mark.parametrize("d", [30, 97, 1152])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_row_is_the_same_in_any_batch_and_in_any_learner(d: int, dtype: type[np.floating]) -> None:
    X = np.random.default_rng(0).standard_normal((9, d)).astype(dtype)
    whole = Reduction((d,), d // 3).apply(X)
    assert whole.dtype == np.float64
    size = np.abs(whole).max()
    for row, expected in zip(X, whole, strict=True):
        np.testing.assert_allclose(Reduction((d,), d // 3).apply(row[None])[0], expected, atol=1e-15 * size)


@settings(max_examples=30, deadline=None)
@given(power=st.integers(-200, 200), d=st.integers(2, 90))
def test_power_of_two_stays_one_in_every_bit(power: int, d: int) -> None:
    X, reduced = np.random.default_rng(0).standard_normal((3, d)), Reduction((d,), (d + 1) // 2)
    np.testing.assert_array_equal(reduced.apply(2.0**power * X), 2.0**power * reduced.apply(X))
