"""Holm's correction."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from i2cansay.experiments.claims.holm import holm

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(P_VALUES)
def test_it_lies_between_no_correction_and_bonferroni(p_values: list[float]) -> None:
    adjusted = np.array(holm(p_values))
    plain = np.array(p_values)
    assert np.all(adjusted >= plain)
    assert np.all(adjusted <= np.minimum(len(p_values) * plain, 1))


@given(P_VALUES, st.randoms())
def test_the_order_of_the_tests_does_not_matter(p_values: list[float], random: object) -> None:
    order = np.random.default_rng(len(p_values)).permutation(len(p_values))
    shuffled = [p_values[place] for place in order]
    np.testing.assert_allclose(holm(shuffled), np.array(holm(p_values))[order])


def test_the_example_of_a_textbook() -> None:
    """Rejecting at 5% goes on while the k-th smallest p is at most 0.05 / (m - k + 1)."""
    adjusted = holm([0.01, 0.04, 0.03, 0.005])
    assert adjusted == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_hypotheses_that_exclude_each_other_cost_less() -> None:
    p_values = [0.02, 0.98, 0.03, 0.97]
    assert holm(p_values)[0] == pytest.approx(0.08)
    assert holm(p_values, most_true=2)[:1] == pytest.approx([0.04])


def test_what_was_not_tested_is_refused() -> None:
    with pytest.raises(ValueError, match="leave out what was not tested"):
        holm([0.1, float("nan")])


def test_of_nothing_is_nothing() -> None:
    assert holm([]) == []
