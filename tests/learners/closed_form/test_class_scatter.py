import numpy as np
import pytest

from i2cansay.learners.closed_form.class_scatter import ClassScatter


def draw(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, 5)) * np.arange(1, 6) + 100, np.arange(n) % 3


def taught(X: np.ndarray, y: np.ndarray, size: int, weights: np.ndarray | None = None) -> ClassScatter:
    scatter = ClassScatter(5)
    scatter.resize(3)
    for start in range(0, len(X), size):
        part = slice(start, start + size)
        scatter.add(X[part], y[part], None if weights is None else weights[part])
    return scatter


@pytest.mark.parametrize("size", [1, 7, 60])
def test_is_the_scatter_around_the_final_mean_whatever_the_batches(size: int) -> None:
    X, y = draw()
    scatter = taught(X, y, size)
    for row in range(3):
        expected = np.cov(X[y == row].T, bias=True) * 20
        np.testing.assert_allclose(scatter.dense(row), expected, rtol=1e-4, atol=1e-3)


def test_weight_two_is_the_sample_twice() -> None:
    X, y = draw()
    weighted = taught(X, y, 7, np.where(np.arange(60) < 30, 2.0, 1.0))
    twice = taught(np.concatenate([X, X[:30]]), np.concatenate([y, y[:30]]), 11)
    for row in range(3):
        np.testing.assert_allclose(weighted.dense(row), twice.dense(row), rtol=1e-4, atol=1e-3)


def test_merging_halves_equals_one_pass_and_drop_takes_a_class_out() -> None:
    X, y = draw()
    half = taught(X[:25], y[:25], 25)
    half.merge(taught(X[25:], y[25:], 9), np.arange(3))
    whole = taught(X, y, 60)
    whole.drop(0)
    for row in range(2):
        np.testing.assert_allclose(half.dense(row + 1), whole.dense(row), rtol=1e-4, atol=1e-3)


def test_state_goes_round() -> None:
    X, y = draw()
    scatter, twin = taught(X, y, 7), ClassScatter(5)
    twin.restore(scatter.state(), 3)
    for part in (scatter, twin):
        part.add(X[:7] + 1, y[:7])
    for name, array in scatter.state().items():
        np.testing.assert_array_equal(twin.state()[name], array)


def test_memory_that_may_only_be_read_is_copied_when_unpickled() -> None:
    scatter = ClassScatter(2)
    scatter.resize(1)
    scatter.packed[0].flags.writeable = False
    twin = ClassScatter(2)
    twin.__setstate__(scatter.__dict__)
    twin.add(np.array([[0.0, 0.0], [2.0, 4.0]]), np.zeros(2, dtype=np.int64))
    assert twin.dense(0).any()
    assert not scatter.packed[0].any()
