import numpy as np
import pytest

from i2cansay.learners.closed_form.fourier_lift import FourierLift


def lift(*, normalize: bool = False, n_projections: int = 20_000) -> FourierLift:
    return FourierLift(0, n_features=4, n_projections=n_projections, bandwidth=0.8, normalize=normalize)


@pytest.mark.parametrize("normalize", [True, False])
def test_inner_products_approximate_the_kernel(normalize: bool) -> None:
    X = np.random.default_rng(0).standard_normal((90, 4)) + 1
    lifted = lift(normalize=normalize).of(X)
    Z = X / np.linalg.norm(X, axis=1, keepdims=True) if normalize else X
    distances = ((Z[:, None] - Z[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(lifted @ lifted.T, np.exp(-distances / (2 * 0.8**2)), atol=0.04)


def test_blocks_leave_no_seam() -> None:
    X = np.random.default_rng(0).standard_normal((1100, 4))
    waves = lift(n_projections=10)
    parts = [lifted for _, lifted in waves.lifted_blocks(X)]
    assert len(parts) > 1
    np.testing.assert_allclose(np.concatenate(parts), waves.of(X), rtol=1e-12)
