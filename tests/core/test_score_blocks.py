"""Rows are scored a few at a time, all of them once."""

from hypothesis import given
from hypothesis import strategies as st

from i2cansay.core.score_blocks import SCORES_AT_A_TIME, score_blocks


@given(st.integers(0, 10**6), st.integers(1, 10**8))
def test_blocks_follow_each_other_and_are_bounded(n_rows: int, n_classes: int) -> None:
    at = 0
    for number, block in enumerate(score_blocks(n_rows, n_classes)):
        assert block.start == at < block.stop <= n_rows
        assert block.stop - block.start == 1 or (block.stop - block.start) * n_classes <= SCORES_AT_A_TIME
        at = block.stop
        if number == 20:
            return
    assert at == n_rows
