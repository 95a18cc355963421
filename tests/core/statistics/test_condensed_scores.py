"""Neighbouring scores joined to their mean lead to the same temperature and probabilities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from i2cansay.core.statistics.condensed_scores import CondensedScores
from i2cansay.core.statistics.temperature import Temperature
from i2cansay.core.types import Features, Rows


def many_classes(n: int = 60, c: int = 10_000) -> tuple[Features, Rows]:
    rng = np.random.default_rng(0)
    scores, targets = rng.normal(size=(n, c)), rng.integers(0, c, n)
    scores[np.arange(n), targets] += 4
    return scores, targets


@given(st.integers(2, 3000), st.integers(2, 200))
def test_every_class_is_in_one_column(n_classes: int, kept: int) -> None:
    scores = np.random.default_rng(n_classes).normal(size=(3, n_classes))
    whole = CondensedScores.of(scores, np.array([0, 1, 1]))
    total = whole.offsets.sum(axis=1)
    highest = np.sort(whole.offsets, axis=1)[:, -(kept // 2) :]
    joined = whole.joined(kept)
    assert joined.offsets.shape[1] == len(joined.log_sizes) <= max(kept, 1)
    assert np.exp(joined.log_sizes).sum() == pytest.approx(n_classes)
    np.testing.assert_allclose(joined.offsets @ np.exp(joined.log_sizes), total)
    np.testing.assert_array_equal(np.sort(joined.offsets, axis=1)[:, -(kept // 2) :], highest)


@pytest.mark.parametrize("temperature", [0.03, 0.1, 0.3, 1.0, 10.0, 1e6])
@pytest.mark.parametrize(("kept", "tolerance"), [(128, 2e-3), (512, 1e-4), (10_000, 1e-12)])
def test_joined_scores_slope_as_all_of_them_do(temperature: float, kept: int, tolerance: float) -> None:
    scores, targets = many_classes()
    gradient, curvature = CondensedScores.of(scores, targets).slope(temperature)
    joined = CondensedScores.of(scores, targets).joined(kept)
    found = joined.slope(temperature)
    assert found[0] == pytest.approx(gradient, abs=tolerance * curvature)
    assert found[1] == pytest.approx(curvature, rel=10 * tolerance)


def test_joined_scores_lead_to_the_same_temperature_and_probabilities() -> None:
    scores, targets = many_classes()
    blocks = [
        CondensedScores.of(scores[some], targets[some]).joined(512) for some in (slice(0, 25), slice(25, 60))
    ]
    condensed, whole, joined = CondensedScores.together(blocks), Temperature(), Temperature()
    whole.refit(scores, targets)
    joined.refit_condensed(condensed)
    assert joined.value == pytest.approx(whole.value, rel=1e-4)
    top, true = condensed.probabilities(whole.value)
    probabilities = whole.probabilities(scores)
    np.testing.assert_allclose(top, probabilities.max(axis=1), rtol=1e-4)
    np.testing.assert_allclose(true, probabilities[np.arange(60), targets], rtol=1e-4)
    np.testing.assert_array_equal(condensed.right, scores.argmax(axis=1) == targets)
