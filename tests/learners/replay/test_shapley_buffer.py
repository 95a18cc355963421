import numpy as np
import pytest

from i2cansay.learners.replay.knn_shapley import Labelled, adversarial_shapley
from i2cansay.learners.replay.shapley_buffer import ShapleyBuffer


def rows(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, 3, n)
    return (rng.normal(size=(n, 2)) + 2 * classes[:, None]).astype(np.float32), classes


def full_buffer(size: int = 20, n_candidates: int = 100) -> ShapleyBuffer:
    buffer = ShapleyBuffer(size, 2, n_candidates=n_candidates)
    buffer.add(*rows(size, 0), np.random.default_rng(0))
    assert not buffer.memory.n_free
    return buffer


def test_everything_enters_while_there_is_room() -> None:
    X, classes = rows(12, 0)
    buffer = ShapleyBuffer(20, 2)
    buffer.add(X, classes, np.random.default_rng(0))
    np.testing.assert_array_equal(buffer.memory.rows, X)
    replayed, _ = buffer.retrieve(5, X, classes, np.random.default_rng(0))
    assert len(replayed) == 5


def test_retrieves_the_candidates_of_the_highest_adversarial_value() -> None:
    buffer = full_buffer(n_candidates=9)
    X, classes = rows(6, 1)
    replayed, replayed_classes = buffer.retrieve(4, X, classes, np.random.default_rng(3))
    # The same generator draws the same candidates and the same evaluation set.
    rng = np.random.default_rng(3)
    candidates = buffer._draw_balanced(np.arange(20), rng)
    old = buffer._draw_balanced(np.setdiff1d(np.arange(20), candidates), rng)
    held = [Labelled(buffer.memory.rows[p], buffer.memory.classes[p]) for p in (candidates, old)]
    values = adversarial_shapley(held[0], old=held[1], new=Labelled(X, classes), n_neighbours=3)
    threshold = np.sort(values)[-4]
    chosen = [int(np.flatnonzero((row == held[0].X).all(axis=1))[0]) for row in replayed]
    assert len(set(chosen)) == 4
    assert min(values[chosen]) >= threshold
    np.testing.assert_array_equal(replayed_classes, held[0].classes[chosen])


def test_candidates_come_evenly_from_the_classes() -> None:
    buffer = ShapleyBuffer(100, 1, n_candidates=20)
    buffer.add(np.arange(100.0)[:, None], np.repeat([0, 1], [90, 10]), np.random.default_rng(0))
    drawn = buffer._draw_balanced(np.arange(100), np.random.default_rng(1))
    assert np.bincount(buffer.memory.classes[drawn]).tolist() == [10, 10]


def test_the_buffer_stays_full_and_holds_only_rows_shown() -> None:
    buffer, rng = full_buffer(), np.random.default_rng(1)
    shown = rows(20, 0)[0]
    for seed in range(1, 6):
        X, classes = rows(30, seed)
        buffer.add(X, classes, rng)
        shown = np.concatenate([shown, X])
    assert len(buffer.memory) == 20
    assert len(np.unique(buffer.memory.rows, axis=0)) == 20
    assert all((shown == row).all(axis=1).any() for row in buffer.memory.rows)


def test_a_new_class_finds_its_places() -> None:
    buffer, rng = full_buffer(60), np.random.default_rng(1)
    for _ in range(30):
        buffer.add(rng.normal(size=(10, 2)) + 12, np.full(10, 3), rng)
    counts = buffer.memory.class_counts(4)
    assert counts[3] >= 10
    assert counts[:3].min() >= 5


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_tiny_buffer_goes_on_working(size: int) -> None:
    buffer, rng = ShapleyBuffer(size, 2), np.random.default_rng(0)
    for seed in range(5):
        X, classes = rows(8, seed)
        buffer.retrieve(3, X, classes, rng)
        buffer.add(X, classes, rng)
    assert len(buffer.memory) == size


def test_state_goes_round_and_a_class_leaves() -> None:
    buffer = full_buffer()
    twin = ShapleyBuffer(20, 2)
    twin.restore(buffer.state(), 3)
    np.testing.assert_array_equal(twin.memory.rows, buffer.memory.rows)
    left = int((buffer.memory.classes != 1).sum())
    twin.drop(1)
    assert len(twin.memory) == left
    assert twin.memory.classes.max() == 1
