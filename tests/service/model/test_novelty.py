"""The unknown score."""

from __future__ import annotations

import numpy as np

from i2cansay import I2CANSAY
from i2cansay.learners import make_learner
from i2cansay.service.model.novelty import ClassSpread, Novelty


def test_the_rank_among_known_samples() -> None:
    rng = np.random.default_rng(0)
    known = rng.lognormal(sigma=0.3, size=5000)
    novelty = Novelty().add(known[:2500]).add(known[2500:])
    asked = np.quantile(known, [0.05, 0.5, 0.95, 0.99])
    np.testing.assert_allclose(novelty.unknown(asked), [0.05, 0.5, 0.95, 0.99], atol=0.02)


def test_it_grows_with_the_distance_and_stays_between_zero_and_one() -> None:
    distances = np.array([0.0, 1e-9, 0.1, 0.5, 1.0, 2.0, 10.0, 1e9, np.inf])
    for novelty in (Novelty(), Novelty().add(np.linspace(0.5, 1.5, 100))):
        unknown = novelty.unknown(distances)
        assert (np.diff(unknown) >= 0).all()
        assert unknown[0] >= 0
        assert unknown[-1] <= 1
        assert unknown[-1] > 0.95


def test_another_sample_of_a_class_lies_at_about_its_reach() -> None:
    rng = np.random.default_rng(0)
    scales = np.array([1.0, 1.5])
    X = np.concatenate([rng.normal(size=(40, 200)) * scale + 30 * scale for scale in scales])
    learner = I2CANSAY(random_state=0).partial_fit(X, ["a"] * 40 + ["b"] * 40)
    spread = ClassSpread.of(learner)
    assert spread is not None
    for column, scale in enumerate(scales):
        others = rng.normal(size=(50, 200)) * scale + 30 * scale
        distances = spread._distances(others, np.full(50, column))
        assert 0.9 < np.median(distances) < 1.1


def test_learners_without_statistics_have_no_spread() -> None:
    assert ClassSpread.of(make_learner("naive").partial_fit([[1.0], [2.0]], ["a", "b"])) is None
