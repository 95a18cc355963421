"""Classes are held in equal numbers, and each is a uniform sample of its own rows."""

import numpy as np
import pytest
from scipy import stats

from i2cansay.core.buffers.balanced_reservoir import BalancedReservoir
from i2cansay.core.types import Rows


def shown(size: int, classes: Rows, rng: np.random.Generator, *, batch: int = 7) -> BalancedReservoir:
    buffer = BalancedReservoir(size, 1)
    buffer.resize(int(classes.max()) + 1)
    for start in range(0, len(classes), batch):
        part = np.arange(start, min(len(classes), start + batch))
        buffer.add(part[:, None].astype(np.float32), classes[part], rng)
    return buffer


@pytest.mark.parametrize("order", ["by class", "small classes first", "shuffled"])
def test_large_classes_share_equally_and_small_ones_are_held_whole(order: str) -> None:
    classes = np.repeat([0, 1, 2, 3], [200, 60, 90, 4])
    if order == "small classes first":
        classes = classes[::-1]
    elif order == "shuffled":
        classes = np.random.default_rng(1).permutation(classes)
    buffer = shown(34, classes, np.random.default_rng(0))
    counts = buffer.memory.class_counts(4)
    assert counts.sum() == len(buffer) == 34
    assert counts[3] == 4
    assert np.ptp(counts[:3]) <= 1
    held = buffer.memory.rows.ravel().astype(int)
    np.testing.assert_array_equal(classes[held], buffer.memory.classes)


def test_within_a_class_it_is_uniform_over_the_stream() -> None:
    classes = np.random.default_rng(2).permutation(np.repeat([0, 1], [60, 20]))
    counts = np.zeros(80)
    for seed in range(1500):
        buffer = shown(12, classes, np.random.default_rng(seed))
        counts[buffer.memory.rows.ravel().astype(int)] += 1
    for row in (0, 1):
        assert stats.chisquare(counts[classes == row]).pvalue > 1e-3


def test_batches_do_not_matter() -> None:
    classes = np.random.default_rng(3).integers(0, 3, 100)
    one, other = (shown(9, classes, np.random.default_rng(0), batch=batch) for batch in (1, 100))
    for name, array in one.state().items():
        np.testing.assert_array_equal(array, other.state()[name])


def test_dropping_a_class_and_discarding_a_sample_frees_their_places() -> None:
    classes = np.arange(40) % 4
    buffer = shown(8, classes, np.random.default_rng(0))
    buffer.discard(buffer.memory.rows[:1].copy(), buffer.memory.classes[:1].copy())
    buffer.drop(1)
    assert len(buffer) in (5, 6)
    assert set(buffer.memory.classes.tolist()) == {0, 1, 2}
    assert buffer.state()["seen"].tolist() == [10, 10, 10]
    buffer.add(np.full((3, 1), 99.0), np.array([2, 2, 2]), np.random.default_rng(1))
    assert (buffer.memory.rows == 99.0).sum() >= 2


def test_more_classes_than_places_and_no_place_at_all() -> None:
    classes = np.arange(60) % 10
    assert shown(3, classes, np.random.default_rng(0)).memory.class_counts(10).max() == 1
    assert len(shown(0, classes, np.random.default_rng(0))) == 0


def test_state_restores_and_refuses_what_does_not_fit() -> None:
    classes = np.arange(50) % 3
    buffer, again = shown(6, classes, np.random.default_rng(0)), BalancedReservoir(6, 1)
    again.restore(buffer.state(), 3)
    for one in (buffer, again):
        one.add(np.arange(100.0, 150.0)[:, None], classes, np.random.default_rng(5))
    for name, array in buffer.state().items():
        np.testing.assert_array_equal(array, again.state()[name])
    assert buffer.n_bytes == 6 * (4 + 8)
    with pytest.raises(ValueError, match="each of 4 classes"):
        BalancedReservoir(6, 1).restore(buffer.state(), 4)
