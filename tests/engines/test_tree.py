"""The tree depends on the number of leaves alone, keeps their order, and holds few values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from i2cansay.engines import LocalEngine, open_engine
from i2cansay.engines.tree import TreeReduction


@given(st.lists(st.text(alphabet="abc", max_size=2), min_size=1, max_size=70))
def test_a_tree_keeps_the_order_of_its_leaves(leaves: list[str]) -> None:
    tree = TreeReduction[str](str.__add__)
    for leaf in leaves:
        tree.add(leaf)
    assert tree.result() == "".join(leaves)


@given(st.integers(1, 3000))
def test_a_tree_is_as_deep_and_as_wide_as_a_logarithm(n: int) -> None:
    deepest = TreeReduction[int](lambda left, right: 1 + max(left, right))
    most = 0
    for _ in range(n):
        deepest.add(0)
        most = max(most, len(deepest))
    assert most <= n.bit_length()
    assert deepest.result() <= n.bit_length()


def test_nothing_cannot_be_reduced() -> None:
    with pytest.raises(ValueError, match="nothing to reduce"):
        LocalEngine().reduce(int, int.__add__, [])


def test_engines_are_found_by_name() -> None:
    with pytest.raises(ValueError, match="expected an engine of local, ray, got 'spark'"):
        open_engine("spark")
    with pytest.raises(ValueError, match="add --engine ray"):
        open_engine("local", "10.0.0.1:6379")
