import numpy as np
import pytest

from i2cansay.core.statistics.signed_root import signed_root


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_squares_back_with_its_sign_and_keeps_the_precision(dtype: type) -> None:
    X: np.ndarray = np.random.default_rng(0).standard_normal((5, 4)).astype(dtype)
    roots = signed_root(X)
    assert roots.dtype == dtype
    np.testing.assert_allclose(roots * np.abs(roots), X, rtol=1e-5)
