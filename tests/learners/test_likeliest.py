"""The highest scores in order, by passes or by sorting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from i2cansay.learners.likeliest import FEW, likeliest


@given(st.integers(0, 2**32), st.integers(1, 30), st.integers(1, 40), st.booleans())
def test_it_is_the_beginning_of_a_stable_sort(seed: int, k: int, c: int, with_ties: bool) -> None:
    scores = np.random.default_rng(seed).normal(size=(4, c))
    if with_ties:
        scores = scores.round()
    before = scores.copy()
    expected = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(likeliest(scores, k), expected)
    np.testing.assert_array_equal(scores, before)
    np.testing.assert_array_equal(likeliest(scores, 1)[:, 0], scores.argmax(axis=1))


@pytest.mark.parametrize("k", [2, FEW + 1])
def test_scores_without_limit_are_no_class_twice(k: int) -> None:
    scores = np.full((1, 3), -np.inf)
    scores[0, 2] = 0.0
    assert likeliest(scores, k)[0].tolist()[:2] == [2, 0]
