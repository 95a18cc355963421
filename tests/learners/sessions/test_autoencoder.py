"""The parts of FearNet: gradients by hand, codes drawn from statistics, the gate."""

import numpy as np
import pytest

from i2cansay.learners.sessions.autoencoder import Autoencoder, autoencoder_bytes, elu, slope
from i2cansay.learners.sessions.code_statistics import CodeStatistics
from i2cansay.learners.sessions.gate import Gate
from i2cansay.learners.sessions.losses import softmax_over

COLUMNS = np.array([True, True, False])


def test_gradients_are_those_of_finite_differences() -> None:
    made, rng = Autoencoder(5, 4, 3, dtype=np.float64), np.random.default_rng(0)
    made.resize(3)
    for array in made.arrays().values():
        array[:] = rng.normal(size=array.shape)
    X, rows = rng.normal(size=(6, 5)), rng.integers(0, 2, 6)

    def loss() -> float:
        through = made.forward(X)
        likely = softmax_over(made.logits(through.code), COLUMNS)
        entropy = -np.log(likely[np.arange(6), rows]).mean()
        of_input = ((through.again - X) ** 2).mean()
        of_layer = ((through.back - through.first) ** 2).mean()
        return float(entropy + 3.0 * of_input + 0.7 * of_layer)

    found = made.gradients(X, rows, COLUMNS, input_weight=3.0, layer_weight=0.7)
    assert found.keys() == made.arrays().keys()
    for name, array in made.arrays().items():
        for place in np.ndindex(array.shape):
            before = array[place]
            array[place] = before + 1e-6
            above = loss()
            array[place] = before - 1e-6
            below = loss()
            array[place] = before
            assert found[name][place] == pytest.approx((above - below) / 2e-6, abs=1e-6), name


def test_the_slope_is_that_of_the_unit() -> None:
    x = np.array([-3.0, -0.1, 0.1, 2.0])
    expected = (elu(x + 1e-6) - elu(x - 1e-6)) / 2e-6
    np.testing.assert_allclose(slope(elu(x.copy())), expected, rtol=1e-6)


def test_its_size_is_known_beforehand() -> None:
    made = Autoencoder(20, 9, 5)
    made.resize(40)
    assert sum(array.nbytes for array in made.arrays().values()) <= autoencoder_bytes(20, 9, 5, 40)


@pytest.mark.parametrize("diagonal", [False, True])
def test_codes_are_drawn_with_the_mean_and_covariance_of_their_class(diagonal: bool) -> None:
    rng = np.random.default_rng(0)
    codes = rng.normal(size=(500, 3)) @ rng.normal(size=(3, 3)) + [1.0, -2.0, 3.0]
    statistics = CodeStatistics(3)
    statistics.resize(2)
    statistics.describe(1, codes, diagonal=diagonal)
    assert statistics.described.tolist() == [False, True]
    drawn = statistics.sample(1, 50_000, rng)
    expected = np.cov(codes.T, ddof=0)
    if diagonal:
        expected = np.diag(np.diag(expected))
    np.testing.assert_allclose(drawn.mean(axis=0), codes.mean(axis=0), atol=0.1)
    np.testing.assert_allclose(np.cov(drawn.T), expected, atol=0.1)


def test_a_class_of_one_code_is_drawn_as_that_code() -> None:
    statistics = CodeStatistics(3)
    statistics.resize(1)
    statistics.describe(0, np.array([[1.0, 2.0, 3.0]]))
    np.testing.assert_allclose(statistics.sample(0, 4, np.random.default_rng(0)), [[1.0, 2.0, 3.0]] * 4)


def test_few_recent_samples_count_as_much_as_many_old_ones() -> None:
    rng = np.random.default_rng(0)
    old = rng.normal(size=(400, 4)).astype(np.float32)
    recent = (rng.normal(size=(20, 4)) + 4).astype(np.float32)
    gate = Gate(4, 8)
    gate.train(old, recent, rng, lr=0.01, epochs=20, batch_size=50)
    assert (gate.recent(recent) > 0.5).mean() > 0.9
    assert (gate.recent(old) < 0.5).mean() > 0.9
