import numpy as np
import pytest

from i2cansay.core.statistics.means import ClassMeans


def taught(X: np.ndarray, y: np.ndarray, n_classes: int = 3) -> ClassMeans:
    means = ClassMeans(X.shape[1])
    means.resize(n_classes)
    means.add(X, y)
    return means


@pytest.fixture
def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((60, 4)) + 100, np.arange(60) % 3


def test_means_are_those_of_the_samples(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    means = taught(X, y)
    for row in range(3):
        np.testing.assert_allclose(means.mean[row], X[y == row].mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(means.centre, X.mean(axis=0), rtol=1e-12)
    assert means.total == 60


def test_batches_and_merge_change_nothing(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    whole, parts = taught(X, y), taught(X[:7], y[:7])
    parts.add(X[7:30], y[7:30])
    parts.merge(taught(X[30:], y[30:]), np.arange(3))
    for name, array in whole.state().items():
        np.testing.assert_allclose(parts.state()[name], array, rtol=1e-12)


def test_taking_out_undoes_taking_in(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    means, more = taught(X, y), taught(X[:9] + 1, y[:9])
    means.take(more.count, more.mean, np.arange(3))
    means.take_out(more.count, more.mean, np.arange(3))
    for name, array in taught(X, y).state().items():
        np.testing.assert_allclose(means.state()[name], array, rtol=1e-12)


def test_taking_out_everything_leaves_nothing(data: tuple[np.ndarray, np.ndarray]) -> None:
    means = taught(*data)
    means.take_out(means.count.copy(), means.mean.copy(), np.arange(3))
    assert not any(array.any() for array in means.state().values())


def test_taking_out_too_much_raises_and_changes_nothing(data: tuple[np.ndarray, np.ndarray]) -> None:
    means = taught(*data)
    before = {name: array.copy() for name, array in means.state().items()}
    with pytest.raises(ValueError, match="samples of a class were to be taken out"):
        means.take_out(means.count + 1, means.mean.copy(), np.arange(3))
    for name, array in means.state().items():
        np.testing.assert_array_equal(array, before[name])


def test_centre_stays_when_a_class_is_dropped(data: tuple[np.ndarray, np.ndarray]) -> None:
    means = taught(*data)
    centre = means.centre.copy()
    means.drop(1)
    assert len(means) == 2
    np.testing.assert_array_equal(means.centre, centre)


def test_weight_two_is_the_sample_twice(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    weighted = ClassMeans(4)
    weighted.resize(3)
    weighted.add(X, y, np.where(np.arange(60) < 20, 2.0, 1.0))
    twice = taught(np.concatenate([X, X[:20]]), np.concatenate([y, y[:20]]))
    np.testing.assert_allclose(weighted.mean, twice.mean, rtol=1e-12)
    np.testing.assert_allclose(weighted.centre, twice.centre, rtol=1e-12)


def test_restore_refuses_other_shapes(data: tuple[np.ndarray, np.ndarray]) -> None:
    with pytest.raises(ValueError, match="count should be of shape"):
        ClassMeans(4).restore(taught(*data).state(), 2)


def test_fading_moves_no_mean_and_makes_way_for_what_comes(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    means, before = taught(X, y), taught(X, y)
    means.fade(0.1)
    np.testing.assert_array_equal(means.mean, before.mean)
    np.testing.assert_array_equal(means.centre, before.centre)
    np.testing.assert_allclose(means.count, 2.0)
    assert means.total == pytest.approx(6.0)
    means.add(np.full((2, 4), 200.0), np.array([1, 1]))  # as many as are left of that class
    np.testing.assert_allclose(means.mean[1], (before.mean[1] + 200) / 2, rtol=1e-12)
    np.testing.assert_allclose(means.centre, (6 * before.centre + 2 * 200) / 8, rtol=1e-12)
