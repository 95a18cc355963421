"""Densities against scikit-learn, and who is given up first."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import LocalOutlierFactor

from i2cansay.learners.memory import local_outliers
from i2cansay.learners.memory.local_outliers import keep_outliers, local_outlier_factors, squared_distances


def clouds(n: int, n_features: int = 5) -> np.ndarray:
    rng = np.random.default_rng(n)
    spread = rng.choice([0.3, 1.0, 3.0], size=n)
    points: np.ndarray = (spread[:, None] * rng.normal(size=(n, n_features))).astype(np.float32)
    return points


@pytest.mark.parametrize(("n", "n_neighbors"), [(60, 1), (60, 7), (60, 59), (300, 40)])
def test_factors_are_those_of_scikit_learn(n: int, n_neighbors: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_outliers, "BLOCK", 64)
    X = clouds(n)
    expected = -LocalOutlierFactor(n_neighbors=n_neighbors).fit(X).negative_outlier_factor_
    np.testing.assert_allclose(local_outlier_factors(X, n_neighbors), expected, rtol=1e-4)


def test_more_neighbours_than_rows_are_all_of_them() -> None:
    X = clouds(20)
    np.testing.assert_array_equal(local_outlier_factors(X, 1000), local_outlier_factors(X, 19))


@pytest.mark.parametrize("n", [1, 2, 30])
def test_rows_on_top_of_each_other_have_a_factor(n: int) -> None:
    np.testing.assert_allclose(local_outlier_factors(np.ones((n, 3), dtype=np.float32), 5), np.ones(n))


def test_squared_distances_are_the_distances_squared() -> None:
    X, rows = clouds(9), clouds(4)
    expected = ((X[:, None].astype(np.float64) - rows) ** 2).sum(axis=2)
    np.testing.assert_allclose(squared_distances(X, rows), expected, rtol=1e-5, atol=1e-5)
    assert (squared_distances(rows, rows) >= 0).all()


@given(st.data())
def test_the_densest_go_first_and_every_group_keeps_its_share(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 30))
    size = data.draw(st.integers(1, n))
    groups = np.array(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))
    factors = np.array(data.draw(st.permutations(range(n)))) / n
    kept = keep_outliers(factors, groups, size)
    assert len(kept) == len(set(kept.tolist())) == size
    present = np.unique(groups)
    share = size // len(present)
    lost = np.setdiff1d(np.arange(n), kept)
    for group in present:
        held, given_up = kept[groups[kept] == group], lost[groups[lost] == group]
        assert len(held) >= min(share, (groups == group).sum())
        # Within a group nothing denser is held than what was given up.
        assert not len(held) or not len(given_up) or factors[given_up].max() < factors[held].min()
    # Between groups: a row is held although a thinner one went only if its group was down to its share.
    for row in kept:
        if len(lost) and factors[row] < factors[lost].max():
            assert (groups[kept] == groups[row]).sum() <= share


def test_among_all_rows_the_factors_are_those_of_the_definition() -> None:
    X = np.random.default_rng(0).normal(size=(40, 6)).astype(np.float32)
    distances = np.linalg.norm(X[:, None].astype(np.float64) - X, axis=2)
    others = ~np.eye(len(X), dtype=bool)
    farthest = distances.max(axis=1)
    reach = np.maximum(distances, farthest)
    density = np.array([1 / reach[row, others[row]].mean() for row in range(len(X))])
    expected = [density[others[row]].mean() / density[row] for row in range(len(X))]
    np.testing.assert_allclose(local_outlier_factors(X, n_neighbors=100), expected, rtol=1e-5)
