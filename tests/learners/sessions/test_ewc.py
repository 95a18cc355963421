"""Elastic weight consolidation."""

from typing import Any

import numpy as np
import pytest

from i2cansay.learners.bounds.naive import Naive
from i2cansay.learners.sessions.ewc import EWC
from i2cansay.learners.sessions.lwf import LwF
from tests.learners.sessions.material import clouds, sessions, taught

FAST: dict[str, Any] = {"hidden": 16, "lr": 0.05, "epochs": 8, "batch_size": 20, "random_state": 0}


def same_weights(one: Any, other: Any) -> bool:
    ours, theirs = one._network.arrays(), other._network.arrays()
    return all(np.array_equal(ours[name], theirs[name]) for name in ours)


@pytest.mark.parametrize("head", ["linear", "mlp"])
@pytest.mark.parametrize("over", ["seen", "session"])
def test_without_a_penalty_it_is_plain_training_bit_for_bit(head: Any, over: Any) -> None:
    X, y = clouds()
    ewc = taught(EWC(strength=0, head=head, over=over, **FAST), X, y)
    lwf = taught(LwF(strength=0, head=head, over=over, **FAST), X, y)
    assert same_weights(ewc, lwf)
    if over == "seen":
        assert not same_weights(ewc, taught(EWC(strength=100, head=head, over=over, **FAST), X, y))


def test_without_a_penalty_one_pass_of_a_linear_layer_is_the_naive_learner() -> None:
    X, y = clouds()
    alone: dict[str, Any] = {
        "head": "linear",
        "over": "seen",
        "momentum": 0.0,
        "epochs": 1,
        "batch_size": 1000,
    }
    ewc = taught(EWC(strength=0, lr=0.25, random_state=0, **alone), X, y)
    naive = taught(Naive(lr=0.25, weight_decay=0.0), X, y)
    # Not to the bit: it is told the samples of a session in another order, and sums are rounded.
    np.testing.assert_allclose(ewc._network.arrays()["weights"], naive._head.weights, rtol=1e-4, atol=1e-6)
    assert np.abs(naive._head.weights).max() > 0.1


def test_with_one_layer_and_a_loss_over_the_session_the_penalty_is_exactly_nothing() -> None:
    X, y = clouds()
    free, held = (
        taught(EWC(strength=strength, head="linear", over="session", **FAST), X, y) for strength in (0, 1e6)
    )
    assert same_weights(free, held)
    free, held = (taught(EWC(strength=strength, over="session", **FAST), X, y) for strength in (0, 1e6))
    assert not same_weights(free, held)  # a hidden layer is shared by all classes


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_training_ends_where_the_gradients_of_loss_and_penalty_cancel(momentum: float) -> None:
    X, y = clouds()
    first = next(sessions(X, y))
    second = (
        first[0],
        np.where(np.arange(len(first[1])) % 4, first[1], 1 - first[1]),
    )  # labels that nothing fits
    model = EWC(
        strength=2.0, momentum=momentum, head="linear", over="seen", lr=0.05, epochs=5, random_state=0
    )
    model.partial_fit(*first)
    model.set_params(epochs=6000, batch_size=10_000)  # all rows at once: no noise at the end
    fisher, anchor = (
        {name: array.astype(np.float64) for name, array in part.arrays().items()}
        for part in (model._fisher, model._anchor)
    )
    model.partial_fit(*second)
    seen, targets = second[0].astype(np.float32), np.searchsorted(model.classes_, second[1])
    logits = model._logits(seen).astype(np.float64)
    error = np.exp(logits - logits.max(axis=1, keepdims=True))
    error /= error.sum(axis=1, keepdims=True)
    error[np.arange(len(targets)), targets] -= 1
    of_loss = {"weights": error.T @ seen / len(seen), "bias": error.mean(axis=0)}
    for name, here in model._network.arrays().items():
        old = slice(len(fisher[name]))
        of_penalty = 2.0 * fisher[name] * (here[old] - anchor[name])
        assert np.abs(of_penalty).max() > 0.01
        np.testing.assert_allclose(of_penalty, -of_loss[name][old], atol=5e-4)


def test_without_a_penalty_it_is_gradient_descent_written_out() -> None:
    X, y = clouds()
    X, rows = next(sessions(X, y))
    model = EWC(strength=0, hidden=16, lr=0.05, epochs=3, batch_size=20, random_state=0)
    model.calibrates = False
    model.partial_fit(X, rows)

    draws = np.random.default_rng(np.random.default_rng(0).integers(2**63))
    A, a = draws.normal(scale=np.sqrt(2 / X.shape[1]), size=(16, X.shape[1])), np.zeros(16)
    W, b = np.zeros((2, 16)), np.zeros(2)
    arrays, orders = (W, b, A, a), np.random.default_rng(0)
    velocities = [np.zeros_like(array) for array in arrays]
    for _ in range(3):
        order = orders.permutation(len(X))
        for start in range(0, len(X), 20):
            x, t = X[order[start : start + 20]], np.eye(2)[rows[order[start : start + 20]]]
            h = np.maximum(x @ A.T + a, 0)
            z = np.exp(h @ W.T + b)
            error = (z / z.sum(axis=1, keepdims=True) - t) / len(x)
            below = (error @ W) * (h > 0)
            gradients = (error.T @ h, error.sum(axis=0), below.T @ x, below.sum(axis=0))
            for array, velocity, gradient in zip(arrays, velocities, gradients, strict=True):
                velocity[:] = 0.9 * velocity + gradient
                np.subtract(array, 0.05 * velocity, out=array)
    for (name, ours), expected in zip(model._network.arrays().items(), arrays, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-3, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("form", ["sessions", "running"])
def test_an_infinite_penalty_holds_every_weight_that_mattered(form: Any) -> None:
    X, y = clouds()
    first, *rest = sessions(X, y)
    model = EWC(strength=1e25, form=form, **FAST).partial_fit(*first)
    before = {name: array.copy() for name, array in model._network.arrays().items()}
    mattered = {name: array > 0 for name, array in model._fisher.arrays().items()}
    for session in rest:
        model.partial_fit(*session)
    for name, array in model._network.arrays().items():
        old = slice(len(before[name]))
        moved = np.abs(array[old] - before[name])[mattered[name]]
        assert moved.size > 10 or name in ("bias", "hidden_bias")
        assert moved.max() < 1e-6


def test_what_belongs_to_a_new_class_is_free() -> None:
    X, y = clouds()
    model = EWC(**FAST).partial_fit(*next(sessions(X, y)))
    model._grow(5)
    assert (model._fisher.arrays()["weights"][2:] == 0).all()
    assert (model._fisher.arrays()["weights"][:2] > 0).any()


def test_one_penalty_stands_for_those_of_all_sessions() -> None:
    X, y = clouds()
    model, history = EWC(strength=10, **FAST), []
    last: Any = None
    for session in sessions(X, y):
        model.partial_fit(*session)
        weights = {name: array.astype(np.float64) for name, array in model._network.arrays().items()}
        fisher = {name: array.astype(np.float64) for name, array in model._fisher.arrays().items()}
        new = (
            fisher
            if last is None
            else {name: fisher[name] - grown(last[name], fisher[name]) for name in fisher}
        )
        history.append((new, weights))
        last = fisher
    total, anchor = model._fisher.arrays(), model._anchor.arrays()
    rng = np.random.default_rng(0)
    for name, array in model._network.arrays().items():
        values = []
        for _ in range(2):  # the two differ by a constant
            w = array + rng.normal(size=array.shape)
            one = (total[name] * (w - anchor[name]) ** 2).sum()
            many = sum((grown(f[name], w) * (w - grown(at[name], w)) ** 2).sum() for f, at in history)
            values.append((one, many))
        assert values[0][0] - values[1][0] == pytest.approx(values[0][1] - values[1][1], rel=1e-3, abs=1e-5)


def grown(array: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Return the array with zeros for classes that came later."""
    larger = np.zeros(like.shape)
    larger[: len(array)] = array
    return larger


def test_the_running_form_forgets_what_mattered_long_ago() -> None:
    X, y = clouds()
    kept, faded = (taught(EWC(form="running", decay=decay, **FAST), X, y) for decay in (1.0, 0.0))
    name = "weights"
    assert (kept._fisher.arrays()[name][:2] >= faded._fisher.arrays()[name][:2] - 1e-3).mean() > 0.9
    assert kept._fisher.arrays()[name].sum() > faded._fisher.arrays()[name].sum()
    np.testing.assert_array_equal(kept._anchor.arrays()[name], kept._network.arrays()[name])


def test_the_penalty_keeps_old_outputs_where_they_were() -> None:
    X, y = clouds()
    first, second, *_ = sessions(X, y)
    moved = []
    for strength in (0.0, 1e5):
        model = EWC(strength=strength, **FAST).partial_fit(*first)
        before = model._logits(first[0].astype(np.float32))
        model.partial_fit(*second)
        moved.append(np.abs(model._logits(first[0].astype(np.float32))[:, :2] - before).mean())
    assert moved[1] < 0.5 * moved[0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"strength": -1.0}, "strength must be a number of at least 0"),
        ({"form": "both"}, "form must be one of 'sessions', 'running'"),
        ({"over": "all"}, "over must be one of 'session', 'seen'"),
        ({"head": "deep"}, "head must be one of 'linear', 'mlp'"),
        ({"decay": 2.0}, "decay must be a number from 0 to 1"),
        ({"epochs": 0}, "epochs must be a whole number of at least 1"),
    ],
)
def test_parameters_out_of_range_are_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EWC(**parameters).partial_fit(np.eye(2), [0, 1])
