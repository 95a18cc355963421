"""Classes held apart give the answers of the model that they were taken from."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from i2cansay.core.statistics.linear_scores import LinearScores
from i2cansay.fitting.sharded_classes import ClassShard, ShardedClasses
from i2cansay.learners.shared.shared_i2cansay import SharedI2CANSAY

RNG = np.random.default_rng(0)
CENTRES = RNG.standard_normal((40, 12)) * 3
Y = RNG.permutation(np.repeat(np.arange(40), 6))
X = CENTRES[Y] + RNG.standard_normal((240, 12))
ASKED = CENTRES[RNG.integers(0, 40, 50)] + RNG.standard_normal((50, 12))


def taught(**parameters: object) -> SharedI2CANSAY:
    chosen = {"analogies": False, "lift": 0, "random_state": 0} | parameters
    return SharedI2CANSAY(**chosen).partial_fit(X, np.array([f"class {n}" for n in Y]))  # type: ignore[arg-type]


@pytest.mark.parametrize("shards", [1, 3, 40])
@pytest.mark.parametrize("k", [1, 5, 100])
def test_the_best_of_all_shards_are_the_best_of_the_model(shards: int, k: int) -> None:
    learner = taught(lift=8)
    scores = learner.class_scores(ASKED)
    order = np.argsort(-scores, axis=1)[:, :k]
    with ShardedClasses(learner, shards) as sharded:
        labels, found = sharded.top_k(ASKED, k)
    assert labels.tolist() == learner.classes_[order].tolist()
    np.testing.assert_allclose(found, np.take_along_axis(scores, order, axis=1), rtol=1e-9, atol=1e-9)


def test_what_cannot_be_divided_is_refused() -> None:
    with pytest.raises(ValueError, match="has a head"):
        ShardedClasses(taught(analogies=True), 2)
    with pytest.raises(ValueError, match="1 to 40 shards"):
        ShardedClasses(taught(), 41)
    with pytest.raises(ValueError, match="use a with statement"):
        ShardedClasses(taught(), 2).top_k(ASKED)
    with ShardedClasses(taught(), 2) as sharded, pytest.raises(ValueError, match="at least 1"):
        sharded.top_k(ASKED, 0)
    with ShardedClasses(taught(), 2) as sharded, pytest.raises(ValueError, match="whole"):
        sharded.top_k(ASKED, 1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="engines local, ray, got 'Ray'"):
        ShardedClasses(taught(), 2, engine="Ray")


def test_of_equal_scores_the_first_class_comes_first() -> None:
    scores = LinearScores(np.zeros(2), np.zeros((50, 2)), np.zeros(50))
    for k in (1, 5, 20):
        best = ClassShard(scores, first=100).best(np.ones((3, 2)), k)
        assert best.classes.tolist() == [list(range(100, 100 + k))] * 3


def test_a_shard_is_copied_when_the_one_before_it_is_gone() -> None:
    y = np.arange(1000)
    features = np.random.default_rng(1).standard_normal((1000, 64))
    learner = SharedI2CANSAY(analogies=False, lift=0, random_state=0).partial_fit(features, y)
    learner.class_scores(features[:1])  # solved now, not while memory is measured
    sharded = ShardedClasses(learner, 20)
    tracemalloc.start()
    try:
        widths = {scores.weights.shape for _, scores in sharded._divided()}
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert widths == {(50, 64)}
    assert peak < 1000 * 64 * 8 / 2
