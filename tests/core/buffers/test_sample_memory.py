"""What is put in is held, with its class, until it is thrown out."""

import numpy as np
import pytest

from i2cansay.core.buffers.sample_memory import SampleMemory


def filled(n: int = 6, size: int = 8) -> SampleMemory:
    memory = SampleMemory(size, 2)
    memory.append(np.arange(2.0 * n).reshape(n, 2), np.arange(n) % 3)
    return memory


def test_it_holds_what_was_put_in_and_counts_its_bytes() -> None:
    memory = filled()
    np.testing.assert_array_equal(memory.rows, np.arange(12.0).reshape(6, 2))
    np.testing.assert_array_equal(memory.classes, [0, 1, 2, 0, 1, 2])
    np.testing.assert_array_equal(memory.class_counts(4), [2, 2, 2, 0])
    assert (len(memory), memory.size, memory.n_free) == (6, 8, 2)
    assert memory.n_bytes == 6 * (2 * 4 + 8) == sum(array.nbytes for array in memory.state().values())


def test_put_overwrites_appends_and_the_later_of_two_stays() -> None:
    memory = filled()
    memory.put(1, np.array([7.0, 7.0]), 5)
    memory.put(np.array([6, 0, 0]), np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]), np.array([3, 1, 4]))
    assert memory.classes.tolist() == [4, 5, 2, 0, 1, 2, 3]
    assert memory.rows[[0, 1, 6], 0].tolist() == [3.0, 7.0, 1.0]
    memory.put(np.empty(0, dtype=np.int64), np.empty((0, 2)), np.empty(0, dtype=np.int64))
    assert len(memory) == 7


def test_draws_are_different_rows_and_copies() -> None:
    memory = filled()
    rows, classes = memory.draw(4, np.random.default_rng(0))
    assert len(np.unique(rows[:, 0])) == 4
    np.testing.assert_array_equal(rows[:, 0] // 2 % 3, classes)
    rows[:] = -1
    assert (memory.rows >= 0).all()
    assert len(memory.draw(99, np.random.default_rng(0))[0]) == 6


def test_what_is_thrown_out_is_gone() -> None:
    memory = filled()
    memory.drop(1)
    assert memory.rows[:, 0].tolist() == [0.0, 4.0, 6.0, 10.0]
    assert memory.classes.tolist() == [0, 1, 0, 1]
    memory.keep(np.array([3, 0]))
    assert memory.rows[:, 0].tolist() == [10.0, 0.0]
    assert not (memory._rows == 6.0).any()


def test_discard_takes_one_row_for_each_sample() -> None:
    memory = filled()
    memory.append(np.array([[0.0, 1.0]]), np.array([0]))
    memory.discard(np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([0, 2]))  # the second is of another class
    assert memory.rows[:, 0].tolist() == [2.0, 4.0, 6.0, 8.0, 10.0, 0.0]


def test_state_restores_without_sharing() -> None:
    memory, again = filled(), SampleMemory(8, 2)
    state = memory.state()
    again.restore(state, 3)
    again.put(0, np.array([9.0, 9.0]), 2)
    assert memory.rows[0].tolist() == [0.0, 1.0]
    np.testing.assert_array_equal(again.classes[1:], memory.classes[1:])


@pytest.mark.parametrize(
    ("size", "width", "n_classes", "why"),
    [(8, 2, 2, "beyond the 2 known"), (5, 2, 3, "does not fit"), (8, 3, 3, "does not fit")],
)
def test_a_state_that_does_not_fit_is_refused(size: int, width: int, n_classes: int, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        SampleMemory(size, width).restore(filled().state(), n_classes)
