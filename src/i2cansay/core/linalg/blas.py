"""Matrix products on one BLAS, in place where it matters, with threads chosen by the size of the product.

numpy and scipy each bring an OpenBLAS with its own pool of spinning threads; alternating between the two makes
the pools fight for the cores (8 ms instead of 1.6 for one learning step, measured on two cores). Everything
large therefore goes through scipy's BLAS, and small products stay on one thread.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.linalg import blas
from threadpoolctl import ThreadpoolController

from i2cansay.core.types import Features

# Below this many multiply-adds (some 50 ms of work) a product stays on one thread. A second one would save a little
# on an idle machine; on a busy one the two wait for each other, spinning: the streaming LDA of the demo (1280
# dimensions), 0.4 s on one thread, was seen to take 33 s on two.
THREADED_FROM = 2_000_000_000


@cache
def _scipy_pool() -> Any:
    """Return the thread controller of the BLAS that scipy loaded, or None where it cannot be told apart."""
    pools = ThreadpoolController().select(user_api="blas").lib_controllers
    # numpy's library may have the same file name; the folder tells them apart: scipy.libs, or inside scipy.
    home = Path(scipy.__file__).parent
    homes = (home, home.with_name("scipy.libs"))
    own = [pool for pool in pools if any(Path(pool.filepath).is_relative_to(place) for place in homes)]
    candidates = own or pools
    return candidates[0] if len(candidates) == 1 else None


@contextmanager
def threads_for(multiply_adds: int) -> Iterator[None]:
    """Hold scipy's BLAS to one thread for a small product; leave a large one as the user has set it."""
    pool = _scipy_pool() if multiply_adds < THREADED_FROM else None
    before = 1 if pool is None else pool.get_num_threads()
    if pool is None or before == 1:
        yield
        return
    pool.set_num_threads(1)
    try:
        yield
    finally:
        pool.set_num_threads(before)


def inner(a: Features, b: Features) -> Features:
    """Return ``a @ b.T`` for (n, d) and (m, d), in the precision of `b`.

    Examples
    --------
    >>> inner(np.eye(2, dtype=np.float32), np.array([[1, 2], [3, 4]], dtype=np.float32))
    array([[1., 3.],
           [2., 4.]], dtype=float32)
    """
    gemm = blas.dgemm if b.dtype == np.float64 else blas.sgemm
    a, b = np.ascontiguousarray(a, dtype=b.dtype), np.ascontiguousarray(b)
    if a.shape[0] == 0 or b.shape[0] == 0:
        return np.zeros((a.shape[0], b.shape[0]), dtype=b.dtype)
    with threads_for(a.shape[0] * b.shape[0] * b.shape[1]):
        # Fortran sees every C-ordered array transposed: (b a^T) laid out by columns is (a b^T) by rows.
        result: Features = gemm(1.0, b.T, a.T, trans_a=1).T
    return result


def product(a: Features, b: Features) -> Features:
    """Return ``a @ b`` for (n, k) and (k, d), in the precision of `b`, without a transposed copy of either.

    Examples
    --------
    >>> product(np.array([[1.0, 1.0]]), np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    array([[5., 7., 9.]])
    """
    gemm = blas.dgemm if b.dtype == np.float64 else blas.sgemm
    a, b = np.ascontiguousarray(a, dtype=b.dtype), np.ascontiguousarray(b)
    if 0 in a.shape or 0 in b.shape:
        return np.zeros((a.shape[0], b.shape[1]), dtype=b.dtype)
    with threads_for(a.shape[0] * b.size):
        result: Features = gemm(1.0, b.T, a.T).T
    return result


def add_outer(target: Features, a: Features, b: Features, *, scale: float, keep: float = 1.0) -> None:
    """Set ``target = keep * target + scale * a.T @ b`` in place, without a temporary of its size.

    Parameters
    ----------
    target : (c, d) array, C-contiguous, changed in place
    a : (n, c) array
    b : (n, d) array
    """
    gemm = blas.dgemm if target.dtype == np.float64 else blas.sgemm
    a, b = np.ascontiguousarray(a, dtype=target.dtype), np.ascontiguousarray(b, dtype=target.dtype)
    with threads_for(a.shape[0] * target.size):
        written = gemm(scale, b.T, a.T, trans_b=1, beta=keep, c=target.T, overwrite_c=1)
    _same_memory(written, target)


def _same_memory(written: NDArray[Any], target: NDArray[Any]) -> None:
    # f2py copies silently when the layout does not fit, and the update would be lost silently.
    if not np.shares_memory(written, target):
        raise AssertionError("the in-place product needs a C-contiguous target of float32 or float64")
