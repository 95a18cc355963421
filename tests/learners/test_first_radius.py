"""The radius of PASS, and I2CANSAY with pseudo-features of such a radius."""

from typing import Any

import numpy as np
import pytest

from i2cansay import I2CANSAY
from i2cansay.core.paper.ican import mean_radius
from i2cansay.core.paper.moments import ClassMoments
from i2cansay.core.types import Features, Rows
from i2cansay.learners.first_radius import FirstRadius


def steps(n_steps: int = 3, per_step: int = 2, n: int = 60) -> list[tuple[Features, Rows]]:
    """Return batches of 10, step after step, each with classes of its own that spread ever more."""
    rng = np.random.default_rng(0)
    batches: list[tuple[Features, Rows]] = []
    for step in range(n_steps):
        y = step * per_step + np.arange(n) % per_step
        X = 5 * rng.normal(size=(n_steps * per_step, 4))[y] + (1 + step) * rng.normal(size=(n, 4))
        batches += [(X[start : start + 10], y[start : start + 10]) for start in range(0, n, 10)]
    return batches


def model(**parameters: Any) -> I2CANSAY:
    return I2CANSAY(**{"pseudo": "first_radius", "random_state": 0, **parameters})


def radius_of(learner: I2CANSAY) -> float:
    return float(learner.state()["radius.radius"][0])


def test_it_is_that_of_the_first_step_and_never_changes_again() -> None:
    learner, first = model(), ClassMoments(4)
    first.resize(2)
    for number, (X, y) in enumerate(steps()):
        learner.partial_fit(X, y)
        if number < 6:
            first.add(X, y)
        assert radius_of(learner) == pytest.approx(mean_radius(first))
    running = ClassMoments(4)
    running.resize(6)
    for X, y in steps():
        running.add(X, y)
    assert mean_radius(running) > 1.5 * radius_of(learner)  # the running radius is another method


def test_without_spread_it_waits() -> None:
    radius, moments = FirstRadius(), ClassMoments(1)
    for label, x in enumerate((1.0, 4.0)):  # one sample at a time, each of a new class
        moments.resize(label + 1)
        moments.add(np.array([[x]]), np.array([label]))
        radius.follow(moments)
        assert radius.value == 0
    moments.add(np.array([[3.0]]), np.array([0]))
    radius.follow(moments)
    assert radius.value > 0


def test_it_is_part_of_the_state() -> None:
    batches = steps()
    learner = model()
    for X, y in batches[:4]:
        learner.partial_fit(X, y)
    twin = model().set_state(learner.state())
    for X, y in batches[4:]:
        learner.partial_fit(X, y)
        twin.partial_fit(X, y)
    assert radius_of(learner) == radius_of(twin)
    np.testing.assert_array_equal(learner.class_scores(X), twin.class_scores(X))


def test_a_first_class_that_is_forgotten_does_not_keep_it_open() -> None:
    learner, batches = model(), steps()
    for X, y in batches[:6]:
        learner.partial_fit(X, y)
    before = radius_of(learner)
    learner.forget(0)
    learner.partial_fit(*batches[6])
    assert radius_of(learner) == before


def test_changing_to_it_once_learning_has_begun_is_refused_when_it_matters() -> None:
    learner = I2CANSAY(random_state=0).partial_fit(*steps()[0])
    learner.set_params(pseudo="translation").state()  # the other kinds keep nothing
    learner.set_params(pseudo="first_radius")
    with pytest.raises(ValueError, match="pseudo changed after learning began"):
        learner.merge(model().partial_fit(*steps()[1]))


@pytest.mark.parametrize("numbers", [[1.0, 2.0], [-1.0, 2, 0], [1.0, 0.5, 0], [1.0, 2, 0.5], [np.nan, 2, 0]])
def test_numbers_it_cannot_have_are_refused(numbers: list[float]) -> None:
    with pytest.raises(ValueError, match="first"):
        FirstRadius().restore({"radius": np.array(numbers)}, 2)
