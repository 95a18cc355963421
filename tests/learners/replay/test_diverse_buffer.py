import numpy as np

from i2cansay.core.paper.head import LinearHead
from i2cansay.learners.replay.diverse_buffer import DiverseBuffer
from i2cansay.learners.replay.diverse_subset import diverse_subset
from i2cansay.learners.replay.head_gradients import UnitGradients


def setting(n: int) -> tuple[LinearHead, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    head = LinearHead(n_features=3, bias=True)
    head.resize(4)
    head.weights[:] = rng.normal(size=(4, 3))
    return head, rng.normal(size=(n, 3)).astype(np.float32), rng.integers(0, 4, n)


def test_never_holds_more_than_its_size_however_large_the_batch() -> None:
    head, X, classes = setting(300)
    for batch in (1, 7, 300):
        buffer = DiverseBuffer(40, 3)
        for start in range(0, 300, batch):
            buffer.add(X[start : start + batch], classes[start : start + batch], head)
            assert len(buffer.memory) <= 40
        assert len(buffer.memory) >= 36


def test_a_full_buffer_keeps_the_diverse_subset_of_old_and_new() -> None:
    head, X, classes = setting(24)
    buffer = DiverseBuffer(20, 3, recent=0.2)
    buffer.add(X[:20], classes[:20], head)
    np.testing.assert_array_equal(buffer.memory.rows, X[:20])
    buffer.add(X[20:], classes[20:], head)
    kept = diverse_subset(UnitGradients.of(head, X, classes), 16)
    np.testing.assert_array_equal(buffer.memory.rows, X[kept])
    np.testing.assert_array_equal(buffer.memory.classes, classes[kept])


def test_many_of_one_class_do_not_drive_out_the_few() -> None:
    head = LinearHead(n_features=3, bias=True)
    head.resize(3)
    rng = np.random.default_rng(1)
    classes = np.repeat([0, 1, 2], [10, 10, 280])
    buffer = DiverseBuffer(30, 3)
    for row in classes:
        buffer.add(rng.uniform(0.9, 1, size=(1, 3)), np.array([row]), head)
    assert buffer.memory.class_counts(3).min() >= 8


def test_a_buffer_of_one_row_works() -> None:
    head, X, classes = setting(5)
    buffer = DiverseBuffer(1, 3)
    buffer.add(X, classes, head)
    assert len(buffer.memory) == 1
