"""Who is told where a session ends: the methods of one folder, by one caller."""

from typing import Any

import numpy as np
import pytest

from i2cansay import LEARNERS
from i2cansay.learners import learner_class
from i2cansay.learners.base import OnlineClassifier
from i2cansay.testing import small_learner

TOLD = [name for name in LEARNERS if learner_class(name).needs_boundaries]


@pytest.mark.parametrize("name", LEARNERS)
def test_what_is_told_lives_in_its_own_folder(name: str) -> None:
    kind = learner_class(name)
    assert kind.needs_boundaries == (".sessions." in kind.__module__)


@pytest.mark.parametrize("name", TOLD)
def test_fit_is_one_session(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, sizes = learner_class(name), []
    learn = kind._learn

    def note(learner: OnlineClassifier, X: Any, rows: Any, weights: Any) -> None:
        sizes.append(len(X))
        learn(learner, X, rows, weights)

    monkeypatch.setattr(kind, "_learn", note)
    small_learner(name).fit(np.random.default_rng(0).normal(size=(200, 4)), np.arange(200) % 3)
    assert sizes == [200]
