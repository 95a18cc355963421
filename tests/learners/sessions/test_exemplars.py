"""Herding, and the exemplars that it chooses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from i2cansay.learners.sessions.exemplars import Exemplars, herd, unit_rows


def draw(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 6)) + 1


@given(st.integers(0, 100), st.integers(1, 20), st.integers(0, 20))
def test_fewer_exemplars_are_the_first_of_more(seed: int, n: int, more: int) -> None:
    X = draw(20, seed)
    np.testing.assert_array_equal(herd(X, n), herd(X, n + more)[:n])
    assert len(set(herd(X, n).tolist())) == n


def test_each_exemplar_is_the_best_that_is_left() -> None:
    X = unit_rows(draw(15))
    chosen = herd(X, 8)
    for k in range(8):
        before = X[chosen[:k]].sum(axis=0)
        left = np.setdiff1d(np.arange(15), chosen[:k])
        distances = np.linalg.norm(X.mean(axis=0) - (before + X[left]) / (k + 1), axis=1)
        assert chosen[k] == left[distances.argmin()]


def test_their_mean_is_closer_to_that_of_all_than_that_of_as_many_at_random() -> None:
    X, rng = unit_rows(draw(200)), np.random.default_rng(1)
    for n in (1, 5, 20):
        herded = np.linalg.norm(X[herd(X, n)].mean(axis=0) - X.mean(axis=0))
        at_random = [
            np.linalg.norm(X[rng.permutation(200)[:n]].mean(axis=0) - X.mean(axis=0)) for _ in range(50)
        ]
        assert herded < np.quantile(at_random, 0.05)


def test_the_length_of_a_sample_does_not_matter() -> None:
    X = draw(30)
    longer = X.copy()
    longer[4] *= 10
    np.testing.assert_array_equal(herd(longer, 12), herd(X, 12))


def test_rows_of_zeros_and_huge_ones_have_no_length_to_divide_by() -> None:
    X = np.array([[0.0, 0.0], [3e30, 4e30]], dtype=np.float32)
    np.testing.assert_allclose(unit_rows(X), [[0.0, 0.0], [0.6, 0.8]], rtol=1e-6)
    assert sorted(herd(np.zeros((3, 2)), 5).tolist()) == [0, 1, 2]


def test_an_old_class_keeps_its_first_exemplars_in_their_order() -> None:
    exemplars, X = Exemplars(12, 6), draw(40)
    exemplars.update(X[:20], np.zeros(20, dtype=np.int64), X[:20], n_classes=1)
    before = exemplars.memory.rows.copy()
    exemplars.update(X[20:], np.ones(20, dtype=np.int64), X[20:], n_classes=2)
    np.testing.assert_array_equal(exemplars.memory.rows[:6], before[:6])
    np.testing.assert_array_equal(exemplars.memory.rows[6:], X[20:][herd(X[20:], 6)].astype(np.float32))


@pytest.mark.parametrize("size", [1, 3, 7, 50])
def test_there_are_never_more_than_there_is_room_for(size: int) -> None:
    exemplars = Exemplars(size, 6)
    for row in range(5):
        X = draw(10, row)
        exemplars.update(X, np.full(10, row), X, n_classes=row + 1)
        counts = exemplars.memory.class_counts(row + 1)
        assert len(exemplars) <= size
        assert counts.max() - counts[counts > 0].min() == 0
        assert counts.max() == min(10, max(1, size // (row + 1)))
