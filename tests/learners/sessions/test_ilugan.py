"""ILUGAN as we read it: what its generator makes, and what that is worth."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

from i2cansay.learners.sessions.ilugan import ILUGAN
from tests.learners.sessions.material import clouds, sessions, taught

FAST: dict[str, Any] = {"hidden": 32, "lr": 0.005, "epochs": 40, "batch_size": 40, "random_state": 0}


def digits() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return X[:1000], y[:1000], X[1000:], y[1000:]


def test_what_it_makes_is_of_the_class_it_is_made_for() -> None:
    X, y = clouds()
    model = taught(ILUGAN(**FAST), X, y)
    for row in range(6):
        made = model._make(row, 200)
        answers = model._critic.logits(model._critic.codes(made)).argmax(axis=1)
        assert (answers == row).mean() > 0.9


def test_the_generator_is_not_worse_than_bare_statistics() -> None:
    X, y, X_test, y_test = digits()
    whole = [taught(ILUGAN(**{**FAST, "random_state": seed}), X, y) for seed in range(2)]
    bare = [taught(ILUGAN(replay="codes", **{**FAST, "random_state": seed}), X, y) for seed in range(2)]
    found, without = (np.mean([model.score(X_test, y_test) for model in models]) for models in (whole, bare))
    assert found > without - 0.02
    assert found > 0.6


def test_what_it_makes_resembles_the_samples_of_the_class() -> None:
    X, y = clouds()
    model = taught(ILUGAN(**FAST), X, y)
    scaled = model._scale.apply(X)
    means = np.stack([scaled[y == row].mean(axis=0) for row in range(6)])
    for row in range(6):
        distances = np.linalg.norm(means - model._make(row, 200).mean(axis=0), axis=1)
        assert distances.argmin() == row


def test_old_classes_are_described_again_when_the_discriminator_has_moved() -> None:
    X, y = clouds()
    first, second, *_ = sessions(X, y)
    for model, moved in ((ILUGAN(**FAST), True), (ILUGAN(replay="codes", **FAST), False)):
        model.partial_fit(*first)
        before = model._statistics.state()["mean"][:2].copy()
        model.partial_fit(*second)
        assert np.array_equal(before, model._statistics.state()["mean"][:2]) != moved


def test_it_stores_no_samples_and_its_size_does_not_depend_on_their_number() -> None:
    X, y = clouds(600)
    small, large = (ILUGAN(**{**FAST, "epochs": 1}).partial_fit(X[:n], y[:n]) for n in (60, 600))
    sizes = [sum(array.nbytes for array in model.state().values()) for model in (small, large)]
    assert sizes[0] == sizes[1]
    assert not ILUGAN.stores_samples


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"replay": "samples"}, "replay must be one of 'generator', 'codes'"),
        ({"code_weight": -1.0}, "code_weight must be a number of at least 0"),
        ({"batch_size": 1}, "batch_size must be a whole number of at least 2"),
        ({"lr": 0.0}, "lr must be a number above 0"),
    ],
)
def test_parameters_out_of_range_are_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ILUGAN(**parameters).partial_fit(np.eye(2), [0, 1])
