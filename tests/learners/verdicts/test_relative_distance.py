import copy
from collections.abc import Callable

import numpy as np

from i2cansay import I2CANSAY
from i2cansay.core.paper.moments import ClassMoments
from i2cansay.learners.verdicts.relative_distance import relative_distance
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


def test_it_follows_whatever_changes_the_classes() -> None:
    X, y = blobs(n_classes=4)
    model, other = I2CANSAY(random_state=0), I2CANSAY(random_state=0)
    other.partial_fit(X[::2] + 1, y[::2])
    changes: list[Callable[[], object]] = [
        lambda: model.partial_fit(X, y),
        lambda: model.partial_fit(X[:1] + 3, y[:1]),
        lambda: model.unlearn(X[:1] + 3, y[:1]),
        lambda: model.merge(other),
        lambda: model.rename(1, 9),
        lambda: model.forget(2),
    ]
    for change in changes:
        change()
        assert model.novelty(X).tolist() == relative_distance(X, model._moments).tolist()
        assert model.novelty(X).tolist() == model.novelty(X).tolist()
    assert copy.deepcopy(model).partial_fit(X, y).novelty(X).tolist() != model.novelty(X).tolist()


def test_far_from_the_origin_it_loses_no_more_digits_than_the_features() -> None:
    X, y = blobs(n_classes=4)
    X = np.round(X.astype(np.float64) * 1024) / 1024  # so that adding the origin is exact in double precision
    for origin, rtol in ((1e3, 1e-9), (1e6, 1e-6)):
        near, far = ClassMoments(X.shape[1]), ClassMoments(X.shape[1])
        for moments, rows in ((near, X), (far, X + origin)):
            moments.resize(4)
            moments.add(rows, y.astype(np.int64))
        np.testing.assert_allclose(
            relative_distance(X + origin, far), relative_distance(X, near), rtol=rtol, atol=rtol
        )
