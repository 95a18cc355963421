"""Replay is the head's step on the batch and on rows of the past, and nothing else."""

import numpy as np
import pytest

from i2cansay.core.types import Float32, Rows
from i2cansay.learners.bounds.naive import Naive
from i2cansay.learners.i2cansay import I2CANSAY
from i2cansay.learners.replay.er import ExperienceReplay


def by_class(n_classes: int = 6, per_class: int = 60, seed: int = 0) -> tuple[Float32, Rows]:
    """Return well separated classes, one after the other."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_classes), per_class)
    centres = 2 * np.random.default_rng(99).normal(size=(n_classes, 12))
    return (centres[y] + rng.normal(size=(len(y), 12))).astype(np.float32), y


def test_it_is_the_baseline_of_the_component_table() -> None:
    X, y = by_class()
    replay = ExperienceReplay(memory_size=100, lr=0.02, random_state=3)
    baseline = I2CANSAY(pseudo=None, significance=False, memory_size=100, random_state=3)
    for start in range(0, len(X), 50):
        batch = slice(start, start + 50)
        replay.partial_fit(X[batch], y[batch])
        baseline.partial_fit(X[batch], y[batch])
    np.testing.assert_array_equal(replay.class_scores(X), baseline.class_scores(X))
    np.testing.assert_array_equal(replay.state()["buffer.rows"], baseline.state()["memory.rows"])


def test_one_step_is_the_gradient_of_both_means() -> None:
    X, y = by_class(3, 20)
    model = ExperienceReplay(memory_size=15, n_replayed=100, lr=0.1, weight_decay=0.0, random_state=0)
    model.partial_fit(X[:40], y[:40])  # the memory is smaller than what is replayed: all of it is
    before = model.state()
    Z, z, X_new, y_new = before["buffer.rows"], before["buffer.classes"], X[30:], y[30:]
    model.partial_fit(X_new, y_new)
    W = np.concatenate([before["head.weights"], np.zeros((1, 12))]).astype(float)
    b = np.append(before["head.bias"], 0.0).astype(float)
    step_W, step_b = np.zeros_like(W), np.zeros_like(b)
    for features, targets in ((X_new, y_new), (Z, z)):
        for x, target in zip(features.astype(float), targets, strict=True):
            p = np.exp(W @ x + b)
            error = p / p.sum() - np.eye(3)[target]
            step_W += np.outer(error, x) / len(features)
            step_b += error / len(features)
    np.testing.assert_allclose(model.state()["head.weights"], W - 0.1 * step_W, atol=1e-5)
    np.testing.assert_allclose(model.state()["head.bias"], b - 0.1 * step_b, atol=1e-5)


def test_replay_keeps_old_classes_alive() -> None:
    (X, y), (X_test, y_test) = by_class(), by_class(seed=1)
    replay, naive = ExperienceReplay(memory_size=60, lr=0.02, random_state=0), Naive(lr=0.02)
    for start in range(0, len(X), 20):
        batch = slice(start, start + 20)
        replay.partial_fit(X[batch], y[batch])
        naive.partial_fit(X[batch], y[batch])
    assert replay.score(X_test, y_test) > 0.9
    assert replay.score(X_test, y_test) > naive.score(X_test, y_test) + 0.15


def test_weights_count_in_the_step() -> None:
    X, y = by_class(2, 10)
    model, twin = (ExperienceReplay(lr=0.1, random_state=0) for _ in range(2))
    model.partial_fit(X, y, sample_weight=np.where(np.arange(20) < 5, 2.0, 1.0))
    twin.partial_fit(np.concatenate([X, X[:5]]), np.concatenate([y, y[:5]]))
    np.testing.assert_allclose(model.class_scores(X), twin.class_scores(X), atol=1e-5)


def test_a_forgotten_class_leaves_the_memory() -> None:
    X, y = by_class(3, 20)
    model = ExperienceReplay(memory_size=30, random_state=0).partial_fit(X, y).forget(1)
    held = model.state()["buffer.rows"]
    assert not (held[:, None] == X[y == 1]).all(axis=2).any()
    assert set(model.state()["buffer.classes"].tolist()) == {0, 1}


@pytest.mark.parametrize("parameters", [{"memory_size": 0}, {"n_replayed": 0}, {"lr": 0.0}])
def test_wrong_parameters_are_named(parameters: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(parameters))):
        ExperienceReplay(**parameters).partial_fit(np.eye(2), [0, 1])  # type: ignore[arg-type]
