import numpy as np

from i2cansay.learners.bounds.collected import CollectedSamples


def test_samples_stay_float32_as_long_as_all_are() -> None:
    samples = CollectedSamples(2)
    samples.add(np.ones((1, 2), dtype=np.float32), np.array([0]), None)
    assert samples.X.dtype == np.float32
    samples.add(np.ones((1, 2)), np.array([0]), np.array([3.0]))
    assert samples.X.dtype == np.float64
    assert samples.weights.tolist() == [1.0, 3.0]


def test_dropping_a_class_moves_the_others_up() -> None:
    samples = CollectedSamples(1)
    samples.add(np.arange(4.0)[:, None], np.array([0, 1, 2, 1]), None)
    samples.drop(1)
    assert samples.X.ravel().tolist() == [0.0, 2.0]
    assert samples.rows.tolist() == [0, 1]
