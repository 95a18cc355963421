"""Verdicts once all classes but one are forgotten."""

import numpy as np

from i2cansay import make_learner


def test_the_last_class_is_not_new_because_the_others_were_forgotten() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=400)
    X = rng.normal(size=(4, 8))[y] * 3 + rng.normal(size=(400, 8))
    learner = make_learner("best")
    for start in range(0, 400, 20):
        learner.partial_fit(X[start : start + 20], y[start : start + 20])
    for label in (1, 2, 3):
        learner.forget(label)
    assert set(learner.verdicts(X[y == 0]).tolist()) == {"unsure"}
