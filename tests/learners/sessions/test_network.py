"""The trained layers: gradients by hand, growth, and steps."""

import numpy as np
import pytest

from i2cansay.learners.sessions.losses import (
    binary_error,
    cross_entropy_error,
    distillation_error,
    distillation_loss,
    sigmoid,
    softmax_over,
)
from i2cansay.learners.sessions.momentum import LARGEST_GRADIENT, MomentumSGD, clip
from i2cansay.learners.sessions.network import Network, network_bytes

EVERY = np.ones(4, dtype=bool)


def network(hidden: int, *, seed: int = 0) -> Network:
    made = Network(5, hidden, dtype=np.float64)
    made.resize(4)
    rng = np.random.default_rng(seed)
    for array in made.arrays().values():
        array[:] = rng.normal(size=array.shape)
    return made


@pytest.mark.parametrize("hidden", [0, 7])
def test_gradients_are_those_of_finite_differences(hidden: int) -> None:
    made, rng = network(hidden), np.random.default_rng(1)
    X, y, weights = rng.normal(size=(6, 5)), rng.integers(0, 4, 6), rng.random(6)

    def loss() -> float:
        likely = softmax_over(made.logits(made.units(X)), EVERY)
        return float(-(weights * np.log(likely[np.arange(6), y])).sum())

    units = made.units(X)
    error = cross_entropy_error(made.logits(units), y, weights, EVERY)
    found = made.gradients(X, units, error)
    for name, array in made.arrays().items():
        for place in np.ndindex(array.shape):
            before = array[place]
            array[place] = before + 1e-6
            above = loss()
            array[place] = before - 1e-6
            below = loss()
            array[place] = before
            assert found[name][place] == pytest.approx((above - below) / 2e-6, abs=1e-7), name


def test_a_loss_over_some_classes_leaves_the_others_alone() -> None:
    columns = np.array([True, False, True, False])
    logits, targets = np.random.default_rng(0).normal(size=(3, 4)), np.array([0, 2, 2])
    error = cross_entropy_error(logits, targets, np.full(3, 1 / 3), columns)
    assert (error[:, ~columns] == 0).all()
    np.testing.assert_allclose(error.sum(axis=1), 0, atol=1e-12)


def differences(logits: np.ndarray, loss: object) -> np.ndarray:
    found = np.empty_like(logits)
    for place in np.ndindex(logits.shape):
        ends = []
        for step in (1e-6, -1e-6):
            moved = logits.copy()
            moved[place] += step
            ends.append(loss(moved))  # type: ignore[operator]
        found[place] = (ends[0] - ends[1]) / 2e-6
    return found


def test_distillation_pulls_towards_the_teacher() -> None:
    rng = np.random.default_rng(0)
    logits, teacher, weights = rng.normal(size=(3, 4)), rng.normal(size=(3, 4)), np.full(3, 1 / 3)
    error = distillation_error(logits, teacher, 2.0, weights)
    expected = differences(logits, lambda z: distillation_loss(z, teacher, 2.0, weights))
    np.testing.assert_allclose(error, expected, atol=1e-8)
    assert np.abs(distillation_error(teacher, teacher, 2.0, weights)).max() < 1e-12
    shifted = distillation_error(logits + 5, teacher - 3, 2.0, weights)
    np.testing.assert_allclose(shifted, error, atol=1e-12)


def test_at_high_temperatures_distillation_falls_with_their_square() -> None:
    rng = np.random.default_rng(0)
    logits, teacher, weights = rng.normal(size=(3, 4)), rng.normal(size=(3, 4)), np.full(3, 1 / 3)
    sizes = [
        np.abs(distillation_error(logits, teacher, temperature, weights)).max() for temperature in (1e3, 2e3)
    ]
    assert sizes[0] / sizes[1] == pytest.approx(4, rel=1e-2)


def test_binary_cross_entropies_have_the_gradient_of_their_sum() -> None:
    rng = np.random.default_rng(0)
    logits, targets, weights = rng.normal(size=(3, 4)), rng.random((3, 4)), rng.random(3)

    def loss(z: np.ndarray) -> float:
        p = sigmoid(z)
        return float(-(weights[:, None] * (targets * np.log(p) + (1 - targets) * np.log(1 - p))).sum())

    np.testing.assert_allclose(binary_error(logits, targets, weights), differences(logits, loss), atol=1e-8)


@pytest.mark.parametrize("hidden", [0, 7])
def test_a_class_comes_with_zeros_and_goes_without_a_trace(hidden: int) -> None:
    made = network(hidden)
    X = np.random.default_rng(2).normal(size=(3, 5))
    before = made.logits(made.units(X))
    made.resize(5)
    assert (made.logits(made.units(X))[:, 4] == 0).all()
    made.drop(1)
    np.testing.assert_allclose(made.logits(made.units(X))[:, :3], before[:, [0, 2, 3]], rtol=1e-12)


@pytest.mark.parametrize("hidden", [0, 7])
def test_a_state_of_other_shapes_is_refused(hidden: int) -> None:
    state = network(hidden).state()
    for name, array in state.items():
        with pytest.raises(ValueError, match=f"the network's {name} should be of shape"):
            network(hidden).restore({**state, name: array[:-1]}, 4)


def test_the_hidden_layer_keeps_the_size_of_the_features() -> None:
    made = Network(1000, 400)
    made.draw(np.random.default_rng(0))
    X = np.random.default_rng(1).normal(size=(200, 1000)).astype(np.float32)
    assert (made.units(X) ** 2).mean() == pytest.approx(1.0, rel=0.1)


def test_its_size_is_known_beforehand() -> None:
    for hidden in (0, 30):
        made = Network(20, hidden)
        made.resize(40)
        arrays = made.arrays().values()
        assert sum(array.nbytes for array in arrays) <= network_bytes(20, hidden, 40)


def test_momentum_and_weight_decay_are_those_of_the_textbook() -> None:
    weights = {"w": np.array([1.0])}
    optimiser = MomentumSGD(weights, momentum=0.5, weight_decay=0.1)
    velocity, w = 0.0, 1.0
    for gradient in (0.3, -0.2, 0.7):
        optimiser.step({"w": np.array([gradient])}, lr=0.1)
        velocity = 0.5 * velocity + gradient + 0.1 * w
        w -= 0.1 * velocity
        assert weights["w"][0] == pytest.approx(w, rel=1e-12)


def test_only_gradients_out_of_all_proportion_are_cut() -> None:
    small, large = np.array([3.0, 4.0]), np.full(10, 1e30, dtype=np.float32)
    clip([small])
    assert small.tolist() == [3.0, 4.0]
    clip([large])
    assert np.linalg.norm(large) == pytest.approx(LARGEST_GRADIENT, rel=1e-5)
