import numpy as np

from i2cansay import I2CANSAY
from i2cansay.testing.blobs import blobs


def test_it_is_the_distance_to_the_nearest_mean_over_that_to_the_centre() -> None:
    X, y = blobs(n_classes=4)
    model = I2CANSAY(random_state=0).partial_fit(X, y)
    asked, _ = blobs(seed=3, spread=3.0)
    means = model.class_means_
    nearest = ((asked[:, None] - means) ** 2).sum(axis=2).min(axis=1)
    spread = ((X - means[y]) ** 2).sum() / (len(X) - 4)
    expected = nearest / ((asked - means.mean(axis=0)) ** 2).sum(axis=1) + 0.05 * nearest / spread
    np.testing.assert_allclose(model.novelty(asked), expected, rtol=1e-5)


def test_neither_unit_nor_origin_of_the_features_matters() -> None:
    X, y = blobs(n_classes=4)
    one = I2CANSAY(random_state=0).partial_fit(X, y).novelty(X)
    other = I2CANSAY(random_state=0).partial_fit(8 * X + 64, y).novelty(8 * X + 64)
    np.testing.assert_allclose(one, other, rtol=1e-5)


def test_one_class_is_measured_by_its_spread_and_one_sample_is_finite() -> None:
    model = I2CANSAY().partial_fit([[0.0, 0.0]], ["a"])
    assert np.isfinite(model.novelty([[1.0, 0.0], [0.0, 0.0]])).all()
    model.partial_fit([[2.0, 0.0]], ["a"])
    np.testing.assert_allclose(model.novelty([[1.0, 3.0]]), [4.5])
