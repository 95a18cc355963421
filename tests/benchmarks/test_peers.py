"""Peers of the speed comparison do the work that they are timed at."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from contenders import batches
from peers import PlainSLDA, eager_torch_predict, river_learners, river_predict

from i2cansay import I2CANSAY


def test_eager_torch_decides_as_the_paper_does() -> None:
    pytest.importorskip("torch")
    data = batches(20, 5, 50)
    model = I2CANSAY(random_state=0)
    for X, y in reversed(data):
        model.partial_fit(X, 4 - y)
    X = np.random.default_rng(1).random((1000, 20), dtype=np.float32)
    predict = eager_torch_predict(model, X)
    assert predict is not None
    # Three rows at a tie may differ by the rounding of a kernel.
    assert (predict() == model.predict(X)).mean() >= 0.997
    assert len(np.unique(predict())) == 5


def test_river_knows_all_classes_before_it_is_asked() -> None:
    pytest.importorskip("river")
    rng = np.random.default_rng(0)
    X = np.repeat(np.eye(4, dtype=np.float32), 2, axis=0)[[0, 2, 4, 6, 1, 3, 5, 7]]
    X += 0.1 * rng.random(X.shape, dtype=np.float32)
    for learner in river_learners(4).values():
        ask = river_predict(learner, X, 4)
        assert [ask() for _ in range(9)] == [0, 1, 2, 3, 0, 1, 2, 3, 0]
    assert river_learners(101) == {}


def test_the_plain_slda_tells_classes_apart() -> None:
    (X, y), (asked, expected) = batches(10, 3, 200, n=2)
    model = PlainSLDA(10, 3)
    model.partial_fit(X, y)
    assert (model.predict(asked) == expected).mean() > 0.9
