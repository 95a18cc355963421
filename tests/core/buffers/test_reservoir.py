"""Every row that passed has the same chance of being held."""

import numpy as np
import pytest
from scipy import stats

from i2cansay.core.buffers.reservoir import Reservoir
from i2cansay.core.types import Float32, Rows


def numbered(start: int, stop: int) -> tuple[Float32, Rows]:
    return np.arange(start, stop, dtype=np.float32)[:, None], np.arange(start, stop, dtype=np.int64) % 3


def held(reservoir: Reservoir) -> list[int]:
    return sorted(reservoir.state()["rows"].ravel().astype(int).tolist())


@pytest.mark.parametrize("batch", [1, 7, 40])
def test_it_is_uniform_over_the_stream(batch: int) -> None:
    counts = np.zeros(40)
    for seed in range(1500):
        rng, reservoir = np.random.default_rng(seed), Reservoir(8, 1)
        for start in range(0, 40, batch):
            reservoir.add(*numbered(start, min(40, start + batch)), rng)
        counts[held(reservoir)] += 1
    assert counts.sum() == 1500 * 8
    assert stats.chisquare(counts).pvalue > 1e-3


def test_a_batch_is_algorithm_r_row_by_row() -> None:
    reservoir, rng, literal_rng = Reservoir(5, 1), np.random.default_rng(4), np.random.default_rng(4)
    literal: list[int] = []
    for start in range(0, 60, 12):
        reservoir.add(*numbered(start, start + 12), rng)
        slots = literal_rng.integers(0, start + np.arange(12) + 1).tolist()
        for value, slot in zip(range(start, start + 12), slots, strict=True):
            if len(literal) < 5:
                literal.append(value)
            elif slot < 5:
                literal[slot] = value
    assert reservoir.memory.rows.ravel().astype(int).tolist() == literal
    assert reservoir.n_bytes == 5 * (4 + 8)


def test_merging_two_reservoirs_is_uniform_over_both_streams() -> None:
    counts = np.zeros(40)
    for seed in range(2000):
        rng, a, b = np.random.default_rng(seed), Reservoir(6, 1), Reservoir(6, 1)
        a.add(*numbered(0, 10), rng)
        b.add(*numbered(10, 40), rng)
        a.merge(b, np.arange(3), rng)
        counts[held(a)] += 1
    assert stats.chisquare(counts).pvalue > 1e-3


def test_rows_keep_their_class() -> None:
    reservoir = Reservoir(5, 1)
    reservoir.add(*numbered(0, 30), np.random.default_rng(0))
    rows, classes = reservoir.draw(10, np.random.default_rng(1))
    assert len(rows) == 5
    np.testing.assert_array_equal(rows.ravel().astype(int) % 3, classes)


def test_dropping_a_class_and_discarding_a_sample() -> None:
    reservoir = Reservoir(30, 1)
    reservoir.add(*numbered(0, 30), np.random.default_rng(0))
    reservoir.discard(np.array([[4.0]]), np.array([1]))
    assert 4 not in held(reservoir)
    reservoir.drop(0)
    assert held(reservoir) == [value for value in range(30) if value % 3 and value != 4]
    assert set(reservoir.state()["classes"].tolist()) == {0, 1}


def test_state_restores_and_refuses_what_does_not_fit() -> None:
    reservoir, again = Reservoir(4, 1), Reservoir(4, 1)
    reservoir.add(*numbered(0, 9), np.random.default_rng(0))
    again.restore(reservoir.state(), 3)
    assert held(again) == held(reservoir)
    with pytest.raises(ValueError, match="beyond"):
        Reservoir(4, 1).restore(reservoir.state(), 2)
    with pytest.raises(ValueError, match="buffer"):
        Reservoir(2, 1).restore(reservoir.state(), 3)
