"""Products equal numpy's, in place where they say so, and leave the user's threads alone."""

from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from i2cansay.core.linalg import blas


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(3, 5, 4), (1, 1, 1), (0, 3, 2), (70, 300, 65)])
def test_inner_is_a_times_b_transposed(dtype: Any, shape: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(0)
    n, d, m = shape
    a, b = rng.normal(size=(n, d)).astype(dtype), rng.normal(size=(m, d)).astype(dtype)
    got = blas.inner(a, b)
    assert got.dtype == dtype
    np.testing.assert_allclose(got, a @ b.T, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_add_outer_changes_the_target_in_place(dtype: Any) -> None:
    rng = np.random.default_rng(1)
    target, a, b = (rng.normal(size=s).astype(dtype) for s in ((4, 6), (9, 4), (9, 6)))
    expected, address = 0.5 * target - 2.0 * a.T @ b, target.ctypes.data
    blas.add_outer(target, a, b, scale=-2.0, keep=0.5)
    np.testing.assert_allclose(target, expected, rtol=1e-4, atol=1e-5)
    assert target.ctypes.data == address


def test_add_outer_refuses_a_target_it_would_have_to_copy() -> None:
    target = np.zeros((6, 4), dtype=np.float32).T
    with pytest.raises(AssertionError, match="contiguous"):
        blas.add_outer(
            target, np.ones((2, 4), dtype=np.float32), np.ones((2, 6), dtype=np.float32), scale=1.0
        )


def threads() -> int:
    """Return how many threads the BLAS of scipy's products would use now."""
    pool = blas._scipy_pool()
    assert pool is not None, "scipy's BLAS was not told apart from numpy's"
    return int(pool.get_num_threads())


def test_small_products_stay_on_one_thread_and_large_ones_as_the_user_has_set_it() -> None:
    with threadpool_limits(2):
        with blas.threads_for(10):
            assert threads() == 1
        assert threads() == 2
        with blas.threads_for(blas.THREADED_FROM):
            assert threads() == 2
    with threadpool_limits(1), blas.threads_for(blas.THREADED_FROM):
        assert threads() == 1
