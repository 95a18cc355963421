"""FearNet: its store, its sleep, its dreams and its gate."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

from i2cansay.learners.sessions.fearnet import FearNet
from tests.learners.sessions.material import clouds, sessions, taught

FAST: dict[str, Any] = {
    "hidden": 32,
    "code": 8,
    "lr": 0.01,
    "epochs": 30,
    "batch_size": 30,
    "random_state": 0,
}


def digits() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return X[:1000], y[:1000], X[1000:], y[1000:]


def test_the_store_is_sure_of_what_it_stores() -> None:
    X, y = clouds()
    model = FearNet(memory_size=1000, **FAST).partial_fit(X, y)
    chances = model._recent_chances(model._scale.apply(X))
    assert (chances.argmax(axis=1) == y).all()
    assert chances.max(axis=1).min() > 0.99
    assert not model._statistics.described.any()


def test_a_session_that_does_not_fit_makes_it_sleep() -> None:
    X, y = clouds(300)
    model = FearNet(memory_size=120, **FAST)  # a session has 100 samples
    held = []
    for session in sessions(X, y):
        model.partial_fit(*session)
        held.append(len(model._store))
        assert len(model._store) <= 120
    assert held == [100, 100, 100]
    assert model._statistics.described.tolist() == [True] * 4 + [False] * 2
    assert np.unique(model._store.classes).tolist() == [4, 5]


def test_a_session_larger_than_the_store_goes_to_sleep_at_once() -> None:
    X, y = clouds(300)
    model = taught(FearNet(memory_size=50, **FAST), X, y)
    assert len(model._store) == 0
    assert model._statistics.described.all()
    assert model.score(X, y) > 0.6


def test_it_sleeps_after_so_many_sessions() -> None:
    X, y = clouds(300)
    model = taught(FearNet(memory_size=1000, sleep_every=2, **FAST), X, y)
    assert model._statistics.described.tolist() == [True] * 4 + [False] * 2
    assert len(model._store) == 100


def test_its_dreams_are_of_the_class_they_are_named_after() -> None:
    X, y = clouds(300)
    model = taught(FearNet(memory_size=50, **FAST), X, y)
    for row in range(6):
        dreamt = model._dream(row, 200)
        assert (model._old_chances(dreamt).argmax(axis=1) == row).mean() > 0.9


def test_old_classes_are_described_again_when_the_encoder_has_moved() -> None:
    X, y = clouds(300)
    first, second, *_ = sessions(X, y)
    model = FearNet(memory_size=50, **FAST).partial_fit(*first)
    before = model._statistics.state()["mean"][:2].copy()
    model.partial_fit(*second)
    after = model._statistics.state()["mean"][:2]
    assert not np.allclose(before, after, rtol=1e-3)
    codes = model._autoencoder.encode(model._scale.apply(first[0]))
    for row in range(2):
        mean = codes[first[1] == row].mean(axis=0)
        assert np.linalg.norm(mean - after[row]) < np.linalg.norm(mean - before[row])


def test_an_oracle_is_at_least_as_good_as_the_gate() -> None:
    X, y, X_test, y_test = digits()
    model = taught(FearNet(memory_size=300, **FAST), X, y)
    assert len(model._store)
    scaled = model._scale.apply(X_test)
    recent, old = model._recent_chances(scaled), model._old_chances(scaled)
    is_recent = np.isin(y_test, model._store.classes)
    oracle = np.where(is_recent, recent.argmax(axis=1), old.argmax(axis=1))
    assert (oracle == y_test).mean() >= model.score(X_test, y_test)
    # And the gate is better than either memory alone.
    alone = max((recent.argmax(axis=1) == y_test).mean(), (old.argmax(axis=1) == y_test).mean())
    assert model.score(X_test, y_test) > alone


def parallel_lines(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return classes that are long and thin, side by side: what varies in them hides what tells them apart."""
    rng, y = np.random.default_rng(seed), np.arange(n) % 6
    axes = np.linalg.qr(np.random.default_rng(5).normal(size=(8, 8)))[0]
    latent = 0.15 * rng.normal(size=(n, 8))
    latent[:, 0] = 4 * rng.normal(size=n)
    latent[:, 1] += y
    return latent @ axes, y


def test_full_covariances_keep_more_than_diagonal_ones() -> None:
    (X, y), (X_test, y_test) = parallel_lines(300, 0), parallel_lines(600, 1)
    gaps = []
    for seed in range(3):
        settings: dict[str, Any] = {**FAST, "epochs": 20, "per_class": 50, "random_state": seed}
        full = taught(FearNet(memory_size=50, **settings), X, y)
        diagonal = taught(FearNet(memory_size=50, covariance="diagonal", **settings), X, y)
        gaps.append(full.score(X_test, y_test) - diagonal.score(X_test, y_test))
    assert np.mean(gaps) > 0.05  # about 0.12


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"covariance": "none"}, "covariance must be one of 'full', 'diagonal'"),
        ({"sleep_every": 0}, "sleep_every must be a whole number of at least 1"),
        ({"lr": 0.0}, "lr must be a number above 0"),
    ],
)
def test_parameters_out_of_range_are_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FearNet(**parameters).partial_fit(np.eye(2), [0, 1])
