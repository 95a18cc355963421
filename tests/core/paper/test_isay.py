"""Eq. 6 to 9 against slow loops, and the places where float32 would fail."""

import numpy as np
import pytest
from numpy.typing import NDArray

from i2cansay.core.paper.isay import (
    BIAS_SCALES,
    DISTANCES,
    BiasScale,
    Distance,
    Significance,
    importance,
    significance,
)
from i2cansay.core.paper.moments import ClassMoments
from i2cansay.core.types import Features, Float64


def slow_distances(X: Features, samples: list[Features], distance: str) -> Float64:
    """Eq. 6 and 7 with loops over samples, classes and dimensions, float64."""
    result = np.zeros((len(X), len(samples)))
    for c, own in enumerate(samples):
        mean, std = own.mean(axis=0), own.std(axis=0)
        weight = np.exp(std.max() - std)
        weight = weight / weight.sum()
        for i, x in enumerate(X):
            total = 0.0
            for d in range(X.shape[1]):
                offset = x[d] - mean[d]
                total += weight[d] * (abs(offset) if distance == "absolute" else offset**2)
            result[i, c] = np.sqrt(total) if distance == "euclidean" else total
    return result


def world(
    offset: float = 0.0, spread: float = 1.0
) -> tuple[list[Features], ClassMoments, Significance, Features]:
    rng = np.random.default_rng(0)
    samples: list[Features] = [
        offset + rng.normal(size=6) * 2 + spread * rng.normal(size=(8, 6)) * rng.uniform(0.1, 2, 6)
        for _ in range(5)
    ]
    moments, cache = ClassMoments(6), Significance(6)
    moments.resize(5)
    cache.resize(5)
    moments.add(np.concatenate(samples), np.repeat(np.arange(5), 8))
    X = offset + rng.normal(size=(11, 6)) * 2
    return samples, moments, cache, X


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("offset", [0.0, 300.0])
def test_eq6_eq7_distances_against_loops(distance: Distance, offset: float) -> None:
    samples, moments, cache, X = world(offset)
    got = cache.distances(X, moments, distance)
    np.testing.assert_allclose(got, slow_distances(X, samples, distance), rtol=1e-5)


def test_eq7_points_close_to_a_far_prototype_keep_their_digits() -> None:
    samples, moments, cache, _ = world(spread=1e-3)
    X = np.concatenate([own[:2] for own in samples])
    got = cache.distances(X, moments, "euclidean")
    np.testing.assert_allclose(got, slow_distances(X, samples, "euclidean"), rtol=1e-4)


def test_eq6_significance_sums_to_one_and_prefers_the_steady() -> None:
    rows = significance(np.array([[0.1, 2.0, 0.1], [1e8, 0.0, 5.0], [0.0, 0.0, 0.0]]))
    np.testing.assert_allclose(rows.sum(axis=1), 1)
    assert rows[0, 0] > rows[0, 1]
    np.testing.assert_allclose(rows[2], 1 / 3)


@pytest.mark.parametrize("scale", BIAS_SCALES)
def test_eq8_importance_against_the_formula(scale: BiasScale) -> None:
    gamma = np.random.default_rng(0).uniform(0.5, 2, size=(4, 7))
    divisor = 7 if scale == "mean" else 1
    expected = [[sum(row) / value / divisor for value in row] for row in gamma]
    np.testing.assert_allclose(importance(gamma, scale), expected)


def test_eq8_a_point_on_a_prototype_stays_finite_and_wins() -> None:
    gamma = np.array([[0.0, 1.0, 2.0], [0.0, 0.0, 0.0]])
    tau = importance(gamma)
    assert np.isfinite(tau).all()
    assert tau[0].argmax() == 0
    np.testing.assert_allclose(tau[1], tau[1, 0])


def test_only_classes_that_changed_are_refreshed(monkeypatch: pytest.MonkeyPatch) -> None:
    samples, moments, cache, X = world()
    cache.distances(X, moments, "euclidean")
    asked: list[int] = []
    std = ClassMoments.std

    def spy(self: ClassMoments, rows: NDArray[np.int64]) -> Features:
        asked.extend(rows.tolist())
        return std(self, rows)

    monkeypatch.setattr(ClassMoments, "std", spy)
    extra = np.ones((2, 6))
    cache.mark(moments.add(extra, np.array([3, 3])))
    samples[3] = np.concatenate([samples[3], extra])
    got = cache.distances(X, moments, "euclidean")
    assert asked == [3]
    np.testing.assert_allclose(got, slow_distances(X, samples, "euclidean"), rtol=1e-5)


def test_dropping_a_class_drops_its_column() -> None:
    _, moments, cache, X = world()
    before = cache.distances(X, moments, "euclidean")
    cache.mark(np.array([4]))  # a stale row behind the dropped one must move up with it
    moments.drop(1)
    cache.drop(1)
    np.testing.assert_allclose(cache.distances(X, moments, "euclidean"), before[:, [0, 2, 3, 4]], rtol=1e-5)


def test_a_shift_that_moves_refreshes_every_class() -> None:
    samples, moments, cache, X = world()
    cache.distances(X, moments, "euclidean")
    far = np.full((40, 6), 500.0) + np.random.default_rng(1).normal(size=(40, 6))
    cache.mark(moments.add(far, np.full(40, 2)))
    samples[2] = np.concatenate([samples[2], far])
    got = cache.distances(X, moments, "euclidean")
    np.testing.assert_allclose(got, slow_distances(X, samples, "euclidean"), rtol=1e-5)


def test_a_fresh_cache_gives_the_same_bits_as_one_that_was_kept_up() -> None:
    _, moments, cache, X = world(offset=3.0)
    cache.distances(X, moments, "euclidean")
    cache.mark(moments.add(X[:3], np.array([0, 4, 4])))
    fresh = Significance(6)
    fresh.resize(5)
    np.testing.assert_array_equal(
        cache.distances(X, moments, "euclidean"), fresh.distances(X, moments, "euclidean")
    )
