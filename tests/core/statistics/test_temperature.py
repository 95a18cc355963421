"""The temperature finds the scale at which scores are honest."""

import numpy as np
import pytest

from i2cansay.core.statistics.temperature import Temperature
from i2cansay.core.types import Features, Rows


def honest_logits(n: int = 6000, c: int = 6, seed: int = 0) -> tuple[Features, Rows]:
    rng = np.random.default_rng(seed)
    logits = 2 * rng.normal(size=(n, c))
    return logits, (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)


@pytest.mark.parametrize("scale", [1e-3, 0.1, 1.0, 30.0, 1e4])
def test_it_finds_the_scale_of_the_scores(scale: float) -> None:
    logits, y = honest_logits()
    temperature = Temperature()
    for start in range(0, len(y), 16):
        temperature.update(scale * logits[start : start + 16], y[start : start + 16])
    assert temperature.value == pytest.approx(scale, rel=0.25)


def test_probabilities_sum_to_one_and_keep_the_order() -> None:
    temperature = Temperature()
    scores = np.random.default_rng(0).normal(size=(9, 4)).astype(np.float32) * 1e6
    probabilities = temperature.probabilities(scores)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(probabilities.argmax(axis=1), scores.argmax(axis=1))


def test_it_stays_finite_whatever_comes() -> None:
    temperature = Temperature()
    for scores in ([[0.0, 0.0]], [[1e30, -1e30]], [[-1e30, 1e30]], [[5.0, 5.0]]):
        for _ in range(200):
            temperature.update(np.array(scores, dtype=np.float32), np.array([0]))
            assert 0 < temperature.value < np.inf


def test_one_class_or_no_row_teaches_nothing() -> None:
    temperature = Temperature()
    temperature.update(np.zeros((3, 1)), np.zeros(3, dtype=np.int64))
    temperature.update(np.zeros((0, 4)), np.zeros(0, dtype=np.int64))
    assert temperature.value == 1.0


def test_state_and_merge() -> None:
    logits, y = honest_logits()
    one, two, fresh = Temperature(), Temperature(), Temperature()
    for start in range(0, 3000, 16):
        one.update(10 * logits[start : start + 16], y[start : start + 16])
    two.restore(one.state())
    assert two.value == one.value
    fresh.merge(one)
    assert fresh.value == one.value
    two.merge(Temperature())
    assert two.value == one.value
    with pytest.raises(ValueError, match="four"):
        two.restore({"temperature": np.zeros(2)})


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_refit_finds_the_scale_of_the_scores(scale: float) -> None:
    logits, y = honest_logits()
    temperature = Temperature()
    for start in range(0, 1000, 50):
        temperature.refit(scale * logits[start : start + 50], y[start : start + 50])
    assert temperature.value == pytest.approx(scale, rel=0.35)


def test_refit_follows_scores_whose_scale_falls_by_orders_of_magnitude() -> None:
    logits, y = honest_logits()
    temperature = Temperature()
    for event in range(12):
        rows = slice(50 * event, 50 * event + 50)
        temperature.refit(10.0 ** (6 - event / 2) * logits[rows], y[rows])
    assert temperature.value == pytest.approx(10**0.5, rel=0.35)


def test_refit_learns_from_single_rows_as_well() -> None:
    logits, y = honest_logits(c=20)
    temperature = Temperature()
    for row in range(400):
        temperature.refit(30 * logits[row : row + 1], y[row : row + 1])
    assert temperature.value == pytest.approx(30, rel=0.5)


def test_refit_stays_finite_whatever_comes() -> None:
    temperature = Temperature()
    for scores in ([[0.0, 0.0]], [[1e30, -1e30]], [[-1e30, 1e30]], [[5.0, 5.0]], [[1.0, 0.0]]):
        for _ in range(50):
            temperature.refit(np.array(scores, dtype=np.float32), np.array([0]))
            assert 0 < temperature.value < np.inf
    before = temperature.value
    temperature.refit(np.zeros((0, 4)), np.zeros(0, dtype=np.int64))
    assert temperature.value == before
