"""Training by way of the products of rows: the same weights as training them step by step."""

from typing import Any

import numpy as np
import pytest

from i2cansay.learners.sessions import session_learner
from i2cansay.learners.sessions.eeil import EEIL
from i2cansay.learners.sessions.icarl import ICaRL
from i2cansay.learners.sessions.lwf import LwF
from i2cansay.learners.sessions.network import Network
from i2cansay.learners.sessions.spanned_layer import SpannedLayer, spanning_pays
from i2cansay.learners.sessions.training import PlainTraining, SpannedTraining
from tests.learners.sessions.material import clouds, taught

SMALL: dict[str, Any] = {"hidden": 16, "epochs": 10, "batch_size": 20, "random_state": 0}


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        (LwF, {}),
        (LwF, {"weight_decay": 0.01}),
        (ICaRL, {"memory_size": 30}),
        (EEIL, {"memory_size": 30}),
        (EEIL, {"memory_size": 30, "head": "mlp", "momentum": 0.0}),
    ],
)
def test_learners_come_to_the_same_weights(kind: Any, more: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = clouds(n=240, width=60)
    models = []
    for pays in (False, True):
        monkeypatch.setattr(session_learner, "spanning_pays", lambda *_, pays=pays: pays)
        models.append(taught(kind(**SMALL, **more), X, y))
    plain, spanned = (model._network.arrays() for model in models)
    for name, array in plain.items():
        np.testing.assert_allclose(spanned[name], array, atol=1e-4 * np.abs(array).max())
    np.testing.assert_array_equal(models[0].predict(X), models[1].predict(X))


@pytest.mark.parametrize("hidden", [0, 4])
def test_long_gradients_are_cut_alike(hidden: int) -> None:
    X = 300 * np.random.default_rng(0).normal(size=(12, 30)).astype(np.float32)
    networks = [Network(30, hidden) for _ in range(2)]
    kinds: list[Any] = [PlainTraining, SpannedTraining]
    for network, kind in zip(networks, kinds, strict=True):
        network.draw(np.random.default_rng(1))
        network.resize(3)
        training = kind(network, X, momentum=0.9, weight_decay=0.0)
        for start in (0, 4, 8, 0):
            training.step(np.arange(start, start + 4), lambda logits, batch: logits - batch[:, None], 1e-3)
        training.end()
    plain, spanned = (network.arrays() for network in networks)
    first = networks[0].first_layer
    assert np.abs(plain[first]).max() < 10  # without a limit it grows beyond all bounds
    for name, array in plain.items():
        np.testing.assert_allclose(spanned[name], array, atol=1e-4 * np.abs(array).max())


def test_the_norm_is_that_of_the_gradient_by_the_weights() -> None:
    rng = np.random.default_rng(0)
    X, error = rng.normal(size=(5, 9)).astype(np.float32), rng.normal(size=(2, 3)).astype(np.float32)
    layer = SpannedLayer(np.zeros((3, 9), np.float32), X, momentum=0.9, weight_decay=0.0)
    assert layer.norm(np.array([4, 1]), error) == pytest.approx(np.linalg.norm(error.T @ X[[4, 1]]), rel=1e-5)


def test_weights_without_a_gradient_keep_their_bits() -> None:
    rng = np.random.default_rng(0)
    weights, X = rng.normal(size=(3, 9)).astype(np.float32), rng.normal(size=(5, 9)).astype(np.float32)
    before = weights.copy()
    layer = SpannedLayer(weights, X, momentum=0.9, weight_decay=0.0)
    layer.step(np.arange(5), np.array([[1.0, 0.0, 1.0]] * 5, dtype=np.float32), lr=0.1)
    layer.apply()
    np.testing.assert_array_equal(weights[1], before[1])
    assert not np.array_equal(weights[0], before[0])


def test_it_is_not_used_where_it_costs_more_or_could_overflow() -> None:
    few, many = np.ones((50, 100), np.float32), np.ones((300, 100), np.float32)
    assert spanning_pays(few, outputs=20, epochs=40)
    assert not spanning_pays(many, outputs=20, epochs=40)
    assert not spanning_pays(few * 1e12, outputs=20, epochs=40)
