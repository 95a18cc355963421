import numpy as np
import pytest

from i2cansay.core.statistics.blocks import Blocks

WIDTHS = (2, 1, 4)


def test_blocks_are_neighbours_that_cover_all_dimensions() -> None:
    blocks, dimensions = Blocks(WIDTHS), np.arange(7)
    assert len(blocks) == 3
    assert [dimensions[block].tolist() for block in blocks] == [[0, 1], [2], [3, 4, 5, 6]]


def test_each_block_has_its_own_sum_mean_and_maximum() -> None:
    values = np.random.default_rng(0).random((5, 7))
    blocks = Blocks(WIDTHS)
    for b, block in enumerate(blocks):
        assert blocks.sums(values[0])[b] == pytest.approx(values[0, block].sum())
        assert blocks.means(values[0])[b] == pytest.approx(values[0, block].mean())
        np.testing.assert_array_equal(blocks.largest(values)[:, b], values[:, block].max(axis=1))
    assert blocks.largest(values[0]).shape == (3,)


def test_expanded_values_are_those_of_the_blocks() -> None:
    assert Blocks(WIDTHS).expand(np.array([5.0, 6.0, 7.0])).tolist() == [5, 5, 6, 7, 7, 7, 7]
