import numpy as np
import pytest

from i2cansay.core.paper.head import LinearHead
from i2cansay.learners.replay.head_gradients import UnitGradients, batch_direction


def trained_head(bias: bool) -> LinearHead:
    rng = np.random.default_rng(0)
    head = LinearHead(n_features=5, bias=bias)
    head.resize(3)
    X = rng.normal(size=(30, 5)).astype(np.float32)
    for _ in range(5):
        head.step(X, np.arange(30) % 3, np.full(30, 1 / 30, dtype=np.float32), lr=0.5)
    return head


def explicit_gradients(head: LinearHead, X: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """One long row per sample: the difference a tiny step of that sample alone makes to weights and bias."""
    gradients = []
    for x, row in zip(X, classes, strict=True):
        moved = LinearHead(n_features=X.shape[1], bias=head.bias is not None)
        moved.restore(head.state(), len(head.weights))
        moved.step(x[None].astype(np.float32), np.array([row]), np.ones(1, dtype=np.float32), lr=1.0)
        parts = [head.weights - moved.weights]
        if head.bias is not None and moved.bias is not None:
            parts.append((head.bias - moved.bias)[:, None])
        gradients.append(np.concatenate(parts, axis=1).ravel())
    return np.array(gradients, dtype=np.float64)


def unit(rows: np.ndarray) -> np.ndarray:
    scaled: np.ndarray = rows / np.linalg.norm(rows, axis=-1, keepdims=True)
    return scaled


@pytest.mark.parametrize("bias", [False, True])
def test_factorised_cosines_are_those_of_the_gradients_written_out(bias: bool) -> None:
    rng = np.random.default_rng(1)
    head, X, classes = trained_head(bias), rng.normal(size=(9, 5)), rng.integers(0, 3, 9)
    gradients = UnitGradients.of(head, X, classes)
    written = unit(explicit_gradients(head, X, classes))
    np.testing.assert_allclose(
        gradients.cosines(gradients.at(np.arange(4))), written @ written[:4].T, atol=1e-5
    )
    np.testing.assert_allclose(gradients.similarities(), (written @ written.T).sum(axis=1), atol=1e-5)


@pytest.mark.parametrize("bias", [False, True])
def test_direction_of_a_batch_is_that_of_its_mean_gradient(bias: bool) -> None:
    rng = np.random.default_rng(2)
    head, X, classes = trained_head(bias), 3 * rng.normal(size=(9, 5)), rng.integers(0, 3, 9)
    written = explicit_gradients(head, X, classes)
    direction = batch_direction(head, X, classes)
    np.testing.assert_allclose(direction.ravel(), unit(written.mean(axis=0)), atol=1e-5)
    along = UnitGradients.of(head, X, classes).along(direction)
    np.testing.assert_allclose(along, unit(written) @ unit(written.mean(axis=0)), atol=1e-5)


@pytest.mark.parametrize("scale", [1e-30, 1e-8, 1.0, 1e8, 1e30])
def test_gradients_of_any_size_have_length_one(scale: float) -> None:
    head = LinearHead(n_features=2, bias=False)
    head.resize(2)
    gradients = UnitGradients.of(head, scale * np.eye(2), np.array([0, 1]))
    np.testing.assert_allclose(gradients.cosines(gradients), np.eye(2), atol=1e-6)


def test_nothing_left_to_learn_is_similar_to_nothing() -> None:
    head = LinearHead(n_features=2, bias=True)
    head.resize(1)  # one class: no error
    gradients = UnitGradients.of(head, np.eye(2), np.zeros(2, dtype=np.int64))
    assert not gradients.similarities().any()
    assert not batch_direction(head, np.eye(2), np.zeros(2, dtype=np.int64)).any()
