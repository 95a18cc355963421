"""Eq. 1 and 2: the moments are exact under any batching, order, merge and subtraction."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from i2cansay.core.paper.moments import (
    FEW_SAMPLES,
    ClassMoments,
    Moments,
    add_one_by_one,
    add_samples,
    batch_moments,
    merge_moments,
    subtract_moments,
)
from i2cansay.core.types import Features, Float64, Rows


def fresh(X: Features, classes: Rows, weights: Float64 | None = None) -> ClassMoments:
    moments = ClassMoments(X.shape[1])
    moments.resize(int(classes.max()) + 1)
    moments.add(X, classes, weights)
    return moments


@st.composite
def labelled(draw: st.DrawFn) -> tuple[Features, Rows]:
    n = draw(st.integers(2, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    offset = draw(st.sampled_from([0.0, 5.0, 1e4]))
    scale = draw(st.sampled_from([1e-3, 1.0, 1e3]))
    n_classes = draw(st.integers(1, min(n, 5)))
    classes = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    return offset + scale * rng.normal(size=(n, 3)), classes


@given(labelled())
def test_eq1_eq2_moments_are_the_mean_and_population_std_of_each_class(data: tuple[Features, Rows]) -> None:
    X, classes = data
    moments = fresh(X, classes)
    for c in np.unique(classes):
        np.testing.assert_allclose(moments.mean[c], X[classes == c].mean(axis=0), rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(moments.std()[c], X[classes == c].std(axis=0), rtol=1e-6, atol=1e-9)


def test_eq1_matches_the_papers_recursion_sample_by_sample() -> None:
    X = np.random.default_rng(0).normal(size=(30, 4))
    mean, n = X[0].copy(), 1
    for x in X[1:]:
        mean, n = (mean * n + x) / (n + 1), n + 1
    np.testing.assert_allclose(fresh(X, np.zeros(30, dtype=np.int64)).mean[0], mean, rtol=1e-12)


@given(st.integers(1, 3 * FEW_SAMPLES), st.sampled_from([0.0, 1e6]), st.booleans(), st.integers(0, 2**32))
def test_eq1_eq2_samples_join_one_by_one_as_they_do_by_their_sums(
    n: int, offset: float, weighted: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    x = offset + rng.normal(size=(n + 2, 5))
    weights = rng.uniform(0.1, 3.0, size=n) if weighted else np.ones(n)
    expected_mean = x[:2].mean(axis=0)
    expected_m2 = ((x[:2] - expected_mean) ** 2).sum(axis=0)
    moments = Moments(np.array([2.0]), expected_mean[None].copy(), expected_m2[None].copy())
    add_one_by_one(moments, x[2:].copy(), [0] * n, weights.tolist())
    total = add_samples(2.0, expected_mean, expected_m2, x[2:], weights if weighted else None)
    np.testing.assert_allclose(moments.count, total, rtol=1e-14)
    np.testing.assert_allclose(moments.mean[0], expected_mean, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(moments.m2[0], expected_m2, rtol=1e-7 if offset else 1e-12)
    every = np.concatenate([[1.0, 1.0], weights])
    squares = every @ (x - np.average(x, axis=0, weights=every)) ** 2
    np.testing.assert_allclose(moments.m2[0], squares, rtol=1e-7 if offset else 1e-12)


def test_no_samples_change_nothing() -> None:
    moments = fresh(np.ones((2, 3)), np.array([0, 1]))
    before = moments.mean.copy()
    assert moments.add(np.empty((0, 3)), np.empty(0, dtype=np.int64)).tolist() == []
    np.testing.assert_array_equal(moments.mean, before)


@pytest.mark.parametrize("weighted", [False, True])
def test_few_samples_of_a_class_give_the_same_bits_in_one_batch_and_in_several(weighted: bool) -> None:
    rng = np.random.default_rng(0)
    X, classes = rng.normal(size=(40, 7)).astype(np.float32), np.arange(40) % 20
    weights = rng.uniform(0.1, 3.0, size=40) if weighted else None
    whole, pieces = fresh(X, classes, weights), ClassMoments(7)
    pieces.resize(20)
    for start in range(0, 40, 8):
        part = slice(start, start + 8)
        pieces.add(X[part], classes[part], None if weights is None else weights[part])
    np.testing.assert_array_equal(whole.count, pieces.count)
    np.testing.assert_array_equal(whole.mean, pieces.mean)
    np.testing.assert_array_equal(whole.m2, pieces.m2)


@given(labelled(), st.integers(1, 7), st.integers(0, 2**32))
def test_any_batching_and_order_gives_the_same_moments(
    data: tuple[Features, Rows], batch: int, seed: int
) -> None:
    X, classes = data
    whole, pieces = fresh(X, classes), ClassMoments(X.shape[1])
    pieces.resize(len(whole))
    order = np.random.default_rng(seed).permutation(len(X))
    for start in range(0, len(X), batch):
        rows = order[start : start + batch]
        pieces.add(X[rows], classes[rows])
    assert_same(whole, pieces)


@given(labelled(), st.integers(0, 2**32))
def test_merging_two_parts_equals_one_pass(data: tuple[Features, Rows], seed: int) -> None:
    X, classes = data
    half = np.random.default_rng(seed).random(len(X)) < 0.5
    whole, merged = fresh(X, classes), ClassMoments(X.shape[1])
    merged.resize(len(whole))
    for part in (half, ~half):
        if part.any():
            touched, groups = np.unique(classes[part], return_inverse=True)
            merged.merge(batch_moments(X[part], groups, len(touched)), touched)
    assert_same(whole, merged)


@given(labelled(), st.integers(0, 2**32))
def test_subtracting_samples_gives_the_moments_of_the_rest(data: tuple[Features, Rows], seed: int) -> None:
    X, classes = data
    n_classes = int(classes.max()) + 1
    leaving = np.random.default_rng(seed).random(len(X)) < 0.4
    leaving[:n_classes] = False  # the first sample of each class stays, so that no class runs empty
    if not leaving.any():
        return
    moments = fresh(X, classes)
    touched, left = moments.without(X[leaving], classes[leaving])
    moments.replace(touched, left)
    assert_same(fresh(X[~leaving], classes[~leaving]), moments, rtol=1e-7)


def assert_same(expected: ClassMoments, got: ClassMoments, rtol: float = 1e-9) -> None:
    np.testing.assert_allclose(got.count, expected.count)
    scale = 1 + np.abs(expected.mean)
    np.testing.assert_allclose(got.mean / scale, expected.mean / scale, rtol=0, atol=1e-12)
    spread = 1e-24 + expected.m2.max()
    np.testing.assert_allclose(got.m2 / spread, expected.m2 / spread, rtol=rtol, atol=1e-7)


def test_subtracting_weighted_samples_keeps_the_spread_of_the_rest() -> None:
    X, classes, weights = (
        np.random.default_rng(7).normal(size=(100, 3)),
        np.zeros(100, dtype=np.int64),
        np.full(100, 0.01),
    )
    moments = fresh(X, classes, weights)
    touched, left = moments.without(X[:30], classes[:30], weights[:30])
    moments.replace(touched, left)
    np.testing.assert_allclose(moments.mean[0], X[30:].mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(moments.std()[0], X[30:].std(axis=0), rtol=1e-6)


def test_a_whole_weight_is_a_repeated_sample() -> None:
    rng = np.random.default_rng(1)
    X, classes, weights = rng.normal(size=(12, 3)), rng.integers(0, 2, 12), rng.integers(1, 4, 12)
    repeated = np.repeat(np.arange(12), weights)
    assert_same(fresh(X[repeated], classes[repeated]), fresh(X, classes, weights.astype(np.float64)))


def test_small_spread_far_from_the_origin_survives() -> None:
    X = 1e4 + 1e-3 * np.random.default_rng(2).normal(size=(500, 1))
    moments = ClassMoments(1)
    moments.resize(1)
    for row in X:  # one at a time, the worst case for rounding
        moments.add(row[None], np.zeros(1, dtype=np.int64))
    np.testing.assert_allclose(moments.std()[0], X.std(axis=0), rtol=1e-6)


def test_taking_all_samples_out_leaves_an_empty_class() -> None:
    X = np.random.default_rng(3).normal(size=(4, 2))
    moments = fresh(X, np.zeros(4, dtype=np.int64))
    _, left = moments.without(X, np.zeros(4, dtype=np.int64))
    assert left.count[0] == 0
    assert not left.mean.any()


def test_samples_never_taught_cannot_be_taken_out() -> None:
    X = np.random.default_rng(4).normal(size=(5, 2))
    moments = fresh(X, np.zeros(5, dtype=np.int64))
    with pytest.raises(ValueError, match="not taught"):
        moments.without(np.array([[100.0, 0.0]]), np.zeros(1, dtype=np.int64))
    alone = fresh(X[:1], np.zeros(1, dtype=np.int64))
    with pytest.raises(ValueError, match="not taught"):  # the last sample of a class is checked too
        alone.without(X[1:2], np.zeros(1, dtype=np.int64))
    pair = fresh(np.array([[0.0], [1.0]]), np.zeros(2, dtype=np.int64))
    with pytest.raises(ValueError, match="not taught"):
        pair.without(np.array([[100.0]]), np.zeros(1, dtype=np.int64))
    with pytest.raises(ValueError, match="more samples"):
        moments.without(np.concatenate([X, X]), np.zeros(10, dtype=np.int64))
    assert_same(fresh(X, np.zeros(5, dtype=np.int64)), moments)


@settings(max_examples=30)
@given(st.integers(1, 50), st.integers(1, 50))
def test_subtract_inverts_merge(n: int, m: int) -> None:
    rng = np.random.default_rng(n * 100 + m)
    none = np.zeros(1, dtype=np.int64)
    a = batch_moments(rng.normal(size=(n, 2)), np.repeat(none, n), 1)
    b = batch_moments(rng.normal(size=(m, 2)), np.repeat(none, m), 1)
    back = subtract_moments(merge_moments(a, b), b)
    np.testing.assert_allclose(back.mean, a.mean, atol=1e-12)
    np.testing.assert_allclose(back.m2, a.m2, atol=1e-10)


def test_growth_and_drop_keep_the_other_classes() -> None:
    X = np.arange(6.0)[:, None]
    moments = fresh(X, np.arange(6))
    moments.drop(2)
    np.testing.assert_array_equal(moments.mean.ravel(), [0, 1, 3, 4, 5])
    moments.resize(40)
    np.testing.assert_array_equal(moments.mean[:5].ravel(), [0, 1, 3, 4, 5])
    assert not moments.count[5:].any()


def test_state_restores_the_moments() -> None:
    rng = np.random.default_rng(5)
    moments = fresh(rng.normal(size=(9, 2)), rng.integers(0, 3, 9))
    again = ClassMoments(2)
    again.restore(moments.state(), 3)
    for name, array in moments.state().items():
        np.testing.assert_array_equal(again.state()[name], array)
    with pytest.raises(ValueError, match="should be of 3 classes"):
        ClassMoments(2).restore(moments.state() | {"count": np.ones(7)}, 3)


def test_moments_of_nothing_are_neutral() -> None:
    empty = Moments(np.zeros(1), np.zeros((1, 2)), np.zeros((1, 2)))
    some = batch_moments(np.ones((3, 2)), np.zeros(3, dtype=np.int64), 1)
    merged = merge_moments(empty, some)
    np.testing.assert_allclose(merged.count, some.count)
    np.testing.assert_allclose(merged.mean, some.mean)
    np.testing.assert_allclose(merged.m2, some.m2)
