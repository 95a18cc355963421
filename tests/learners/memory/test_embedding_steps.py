import numpy as np

from i2cansay.learners.memory.embedding_steps import EmbeddingSteps


def test_steps_are_those_of_a_map_that_changes_every_time() -> None:
    rng = np.random.default_rng(0)
    rows = (rng.normal(size=(12, 7)) / 3).astype(np.float32)
    embedding = rng.normal(size=(5, 7)).astype(np.float32)
    expected = embedding.astype(np.float64)
    steps = EmbeddingSteps(embedding, rows)
    for places in (np.arange(4), np.array([0, 1, 6, 7]), np.array([3, 2, 11])):
        mapped = rows[places] @ expected.T
        lengths = np.linalg.norm(mapped, axis=1, keepdims=True)
        units, found_lengths = steps.of(places)
        np.testing.assert_allclose(units, mapped / lengths, atol=1e-5)
        np.testing.assert_allclose(found_lengths, lengths, rtol=1e-5)
        gradient = rng.normal(size=(len(places), 5))
        steps.step(places, gradient, lr=0.3)
        expected -= 0.3 * gradient.T @ rows[places]
    unread = embedding.copy()
    steps.apply()
    np.testing.assert_allclose(embedding, expected, atol=1e-5)
    assert np.abs(unread - expected).max() > 0.1


def test_without_a_step_nothing_changes() -> None:
    embedding = np.eye(3, dtype=np.float32)
    steps = EmbeddingSteps(embedding, np.ones((2, 3), dtype=np.float32))
    steps.apply()
    np.testing.assert_array_equal(embedding, np.eye(3))
