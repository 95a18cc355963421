"""Learning without forgetting."""

from typing import Any

import numpy as np
import pytest

from i2cansay.learners.sessions.ewc import EWC
from i2cansay.learners.sessions.losses import distillation_loss
from i2cansay.learners.sessions.lwf import LwF
from tests.learners.sessions.material import clouds, sessions, taught

FAST: dict[str, Any] = {"hidden": 16, "lr": 0.05, "epochs": 8, "batch_size": 20, "random_state": 0}


def same_weights(one: Any, other: Any) -> bool:
    ours, theirs = one._network.arrays(), other._network.arrays()
    return all(np.array_equal(ours[name], theirs[name]) for name in ours)


def test_with_one_layer_and_a_loss_over_the_session_distillation_is_exactly_nothing() -> None:
    X, y = clouds()
    free, held = (
        taught(LwF(strength=strength, head="linear", over="session", **FAST), X, y) for strength in (0, 30)
    )
    assert same_weights(free, held)
    free, held = (taught(LwF(strength=strength, over="session", **FAST), X, y) for strength in (0, 30))
    assert not same_weights(free, held)  # a hidden layer is shared by all classes


@pytest.mark.parametrize("over", ["seen", "session"])
def test_the_old_model_goes_on_to_answer_the_new_samples_as_it_did(over: Any) -> None:
    X, y = clouds()
    first, second, *_ = sessions(X, y, step=3)
    new = second[0].astype(np.float32)
    shares = np.full(len(new), 1 / len(new))
    distances = []
    for strength in (0.0, 10.0):
        model = LwF(strength=strength, over=over, **FAST).partial_fit(*first)
        teacher = model._logits(new)
        model.partial_fit(*second)
        student = model._logits(new)[:, :3]
        least = distillation_loss(teacher, teacher, 2.0, shares)
        distances.append(distillation_loss(student, teacher, 2.0, shares) - least)
    assert 0 <= distances[1] < 0.5 * distances[0]


@pytest.mark.parametrize("head", ["linear", "mlp"])
def test_without_distillation_it_is_plain_training(head: Any) -> None:
    X, y = clouds()
    ours, plain = (taught(kind(strength=0.0, head=head, **FAST), X, y) for kind in (LwF, EWC))
    assert same_weights(ours, plain)


def test_the_first_session_has_no_teacher() -> None:
    X, y = clouds()
    first = next(sessions(X, y))
    models = [LwF(strength=strength, **FAST).partial_fit(*first) for strength in (0, 30)]
    assert same_weights(*models)


def test_the_temperature_matters() -> None:
    X, y = clouds()
    warm, cold = (taught(LwF(temperature=temperature, **FAST), X, y) for temperature in (2.0, 1.0))
    assert not same_weights(warm, cold)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"strength": -1.0}, "strength must be a number of at least 0"),
        ({"temperature": 0.0}, "temperature must be a number above 0"),
        ({"over": "all"}, "over must be one of 'session', 'seen'"),
    ],
)
def test_parameters_out_of_range_are_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LwF(**parameters).partial_fit(np.eye(2), [0, 1])
