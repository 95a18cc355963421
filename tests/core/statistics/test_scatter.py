import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.covariance import oas

from i2cansay.core.linalg.low_rank import LowRankMatrix
from i2cansay.core.linalg.symmetric import SymmetricMatrix
from i2cansay.core.statistics.scatter import SharedScatter, oas_shrinkage


def taught(X: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> SharedScatter:
    scatter = SharedScatter(X.shape[1])
    scatter.resize(4)
    scatter.add(X, y, weights)
    return scatter


def draw(n: int, seed: int = 0, d: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * 3 + 50, rng.integers(0, 4, n)


def slow_scatter(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Loop over the samples, around the final means of their classes."""
    total = np.zeros((X.shape[1], X.shape[1]))
    for x, label in zip(X, y, strict=True):
        deviation = x - X[y == label].mean(axis=0)
        total += np.outer(deviation, deviation)
    return total


def assert_same(a: SharedScatter, b: SharedScatter, tolerance: float = 1e-9) -> None:
    np.testing.assert_allclose(a.matrix.dense(), b.matrix.dense(), rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(a.means.mean, b.means.mean, rtol=tolerance)
    np.testing.assert_allclose(a.means.centre, b.means.centre, rtol=tolerance)


@settings(max_examples=30, deadline=None)
@given(n=st.integers(1, 40), batch=st.integers(1, 9), seed=st.integers(0, 1000))
def test_any_batches_in_any_order_give_the_scatter_around_the_final_means(
    n: int, batch: int, seed: int
) -> None:
    X, y = draw(n, seed)
    order = np.random.default_rng(seed).permutation(n)
    scatter = SharedScatter(3)
    scatter.resize(4)
    for start in range(0, n, batch):
        rows = order[start : start + batch]
        scatter.add(X[rows], y[rows])
    np.testing.assert_allclose(scatter.matrix.dense(), slow_scatter(X, y), rtol=1e-9, atol=1e-9)


def test_first_sample_of_a_class_adds_no_scatter() -> None:
    # A port that starts the mean at zero lets the raw f f^T in.
    scatter = taught(np.array([[100.0, 5.0], [7.0, -3.0]]), np.array([0, 1]))
    assert not scatter.matrix.packed.any()


def test_step_uses_the_count_of_the_class_not_of_the_stream() -> None:
    scatter = taught(np.array([[0.0], [0.0], [0.0]]), np.array([1, 1, 1]))
    scatter.add(np.array([[0.0]]), np.array([0]))
    scatter.add(np.array([[2.0]]), np.array([0]))
    assert scatter.matrix.dense().item() == pytest.approx(
        2.0
    )  # 1*1/2 * 2^2, with the global n it would be 3.2


def test_merging_halves_equals_one_pass() -> None:
    X, y = draw(50)
    half = taught(X[:20], y[:20])
    half.merge(taught(X[20:], y[20:]), np.arange(4))
    assert_same(half, taught(X, y))


def test_subtracting_undoes_adding() -> None:
    X, y = draw(50)
    scatter = taught(X, y)
    scatter.subtract(X[30:], y[30:])
    assert_same(scatter, taught(X[:30], y[:30]))


def test_subtracting_what_was_never_there_raises_and_changes_nothing() -> None:
    X, y = draw(50)
    scatter, before = taught(X, y), taught(X, y)
    with pytest.raises(ValueError, match="not taught"):
        scatter.subtract(X[:5] + 1e3 * np.arange(5)[:, None], y[:5])
    with pytest.raises(ValueError, match="samples of a class were to be taken out"):
        scatter.subtract(np.tile(X, (2, 1)), np.tile(y, 2))
    assert_same(scatter, before, tolerance=0)


def test_weight_two_is_the_sample_twice() -> None:
    X, y = draw(30)
    weights = np.where(np.arange(30) < 10, 2.0, 1.0)
    twice = taught(np.concatenate([X, X[:10]]), np.concatenate([y, y[:10]]))
    assert_same(taught(X, y, weights), twice)


def test_far_from_the_origin_the_scatter_keeps_its_digits() -> None:
    X, y = draw(40)
    near, far = taught(X, y), taught(X + 1e6, y)
    np.testing.assert_allclose(far.matrix.dense(), near.matrix.dense(), rtol=1e-8)


def test_dropped_class_leaves_its_share() -> None:
    scatter = taught(*draw(40))
    before = scatter.matrix.dense()
    scatter.drop(2)
    np.testing.assert_array_equal(scatter.matrix.dense(), before)


def test_oas_agrees_with_scikit_learn() -> None:
    X, y = draw(40, d=6)
    scatter = taught(X, y)
    deviations = X - scatter.means.mean[y]
    expected = oas(deviations, assume_centered=True)[1]
    assert oas_shrinkage(scatter.matrix, 40) == pytest.approx(expected)


def test_oas_of_one_dimension_and_of_nothing() -> None:
    assert oas_shrinkage(SymmetricMatrix(1), 5) == 0.0
    assert oas_shrinkage(SymmetricMatrix(3), 5) == 1.0


def test_without_spread_the_solution_is_the_right_side() -> None:
    scatter = taught(np.eye(3), np.array([0, 1, 2]))
    np.testing.assert_array_equal(scatter.solve_shrunk(np.eye(3), 1e-4), np.eye(3))


@pytest.mark.parametrize("shrinkage", [1e-4, 0.3, 1.0])
def test_shrunk_inverse_is_that_of_the_definition_and_of_the_solution(shrinkage: float) -> None:
    X, y = draw(40)
    scatter = taught(X, y)
    covariance = slow_scatter(X, y) / 40
    shrunk = (1 - shrinkage) * covariance + shrinkage * np.trace(covariance) / 3 * np.eye(3)
    assert scatter.mean_variance == pytest.approx(np.trace(covariance) / 3)
    inverse = scatter.shrunk_inverse(shrinkage).into_dense32()
    assert inverse.dtype == np.float32
    np.testing.assert_allclose(inverse, np.linalg.inv(shrunk), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(scatter.solve_shrunk(np.eye(3), shrinkage), inverse, rtol=1e-5, atol=1e-7)


def test_without_spread_the_variance_is_zero_and_the_inverse_the_identity() -> None:
    for scatter in (SharedScatter(3), taught(np.eye(3), np.array([0, 1, 2]))):
        assert scatter.mean_variance == 0.0
        np.testing.assert_array_equal(scatter.shrunk_inverse(0.1).into_dense32(), np.eye(3))


def few_in_many(n: int = 6, d: int = 40) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return rng.standard_normal((n, d)) + 1, np.arange(n) % 2


def test_few_samples_are_solved_by_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("i2cansay.core.statistics.scatter.LOW_RANK_FROM", 40)
    scatter, B = taught(*few_in_many()), np.random.default_rng(0).standard_normal((3, 40))
    assert isinstance(scatter.compact(), LowRankMatrix)
    few = scatter.solve_shrunk(B, 0.2), scatter.shrunk_inverse(0.2).dense()
    assert isinstance(taught(*few_in_many(n=10)).compact(), LowRankMatrix)
    assert isinstance(taught(*few_in_many(n=11)).compact(), SymmetricMatrix)
    monkeypatch.setattr("i2cansay.core.statistics.scatter.LOW_RANK_FROM", 41)
    assert scatter.compact() is scatter.matrix
    np.testing.assert_allclose(few[0], scatter.solve_shrunk(B, 0.2), rtol=1e-9)
    np.testing.assert_allclose(few[1], scatter.shrunk_inverse(0.2).dense(), rtol=1e-9, atol=1e-12)


def test_few_are_a_quarter_of_a_thousand_dimensions() -> None:
    assert isinstance(taught(*few_in_many(n=20, d=1024)).compact(), LowRankMatrix)
    assert isinstance(taught(*few_in_many(n=20, d=1000)).compact(), SymmetricMatrix)


def test_one_class_of_few_samples_is_as_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("i2cansay.core.statistics.scatter.LOW_RANK_FROM", 40)
    X, _ = few_in_many()
    compact = taught(X, np.zeros(6, dtype=np.int64)).compact()
    assert isinstance(compact, LowRankMatrix)
    assert len(compact.rows) == 5


def test_shrunk_to_a_sphere_few_samples_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("i2cansay.core.statistics.scatter.LOW_RANK_FROM", 40)
    scatter = taught(*few_in_many())
    inverse = scatter.shrunk_inverse(1.0).dense()
    np.testing.assert_allclose(inverse, np.eye(40) / scatter.mean_variance, rtol=1e-12)


def test_samples_taken_out_leave_few_as_exact_as_many(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, (X, y) = np.random.default_rng(5), few_in_many()
    scatter, gone = taught(X, y), 1e3 * rng.standard_normal((30, 40))
    scatter.add(gone, np.arange(30) % 2)
    scatter.subtract(gone, np.arange(30) % 2)
    dense = scatter.shrunk_inverse(0.2).dense()
    monkeypatch.setattr("i2cansay.core.statistics.scatter.LOW_RANK_FROM", 40)
    np.testing.assert_allclose(scatter.shrunk_inverse(0.2).dense(), dense, rtol=1e-6, atol=1e-9)


def test_many_samples_of_little_weight_are_not_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("i2cansay.core.statistics.scatter.LOW_RANK_FROM", 40)
    scatter = taught(*few_in_many(n=30), np.full(30, 0.1))
    assert scatter.compact() is scatter.matrix


def test_fading_is_a_smaller_weight_of_what_came_before() -> None:
    X, y = draw(50)
    scatter = taught(X[:30], y[:30])
    scatter.fade(0.25)
    scatter.add(X[30:], y[30:])
    assert_same(scatter, taught(X, y, np.where(np.arange(50) < 30, 0.25, 1.0)))
    assert scatter.means.total == pytest.approx(27.5)


def test_solution_is_no_view_of_the_question_unless_it_may_be() -> None:
    scatter = SharedScatter(3)
    scatter.resize(1)
    for X in (np.ones((2, 3)), np.eye(3)):  # without any spread, and with some
        scatter.add(X, np.zeros(len(X), dtype=np.int64))
        asked = np.ones((1, 3))
        assert not np.shares_memory(scatter.solve_shrunk(asked, 0.5), asked)
        expected = scatter.solve_shrunk(asked, 0.5)
        solved = scatter.solve_shrunk(asked, 0.5, overwrite=True)
        assert np.shares_memory(solved, asked)
        np.testing.assert_array_equal(solved, expected)
