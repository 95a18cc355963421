"""A share of every class."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from i2cansay.streams import low_data


@pytest.mark.parametrize(
    ("per_class", "fraction", "kept"), [(500, 0.3, 150), (5000, 0.1, 500), (30, 1.0, 30)]
)
def test_the_same_share_of_every_class(per_class: int, fraction: float, kept: int) -> None:
    y = np.random.default_rng(0).permutation(np.repeat(np.arange(10), per_class))
    assert np.bincount(y[low_data(y, fraction)]).tolist() == [kept] * 10


@settings(deadline=None, max_examples=50)
@given(
    y=st.lists(st.sampled_from("abcde"), min_size=1, max_size=80),
    fractions=st.tuples(st.floats(0.01, 1.0), st.floats(0.01, 1.0)),
)
def test_rows_are_sorted_nested_and_leave_out_no_class(y: list[str], fractions: tuple[float, float]) -> None:
    labels = np.array(y)
    less, more = (low_data(labels, fraction, seed=3) for fraction in sorted(fractions))
    for rows in (less, more):
        assert np.all(np.diff(rows) > 0)
        assert set(labels[rows]) == set(y)
    assert set(less) <= set(more)


def test_seeds_draw_other_rows() -> None:
    y = np.zeros(1000)
    assert low_data(y, 0.1, seed=0).tolist() == low_data(y, 0.1, seed=0).tolist()
    assert low_data(y, 0.1, seed=0).tolist() != low_data(y, 0.1, seed=1).tolist()


@pytest.mark.parametrize("fraction", [0.0, -0.5, 1.1, float("nan")])
def test_fractions_that_are_none_are_refused(fraction: float) -> None:
    with pytest.raises(ValueError, match="expected fraction to be above 0 and at most 1"):
        low_data(np.zeros(5), fraction)
