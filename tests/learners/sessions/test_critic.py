"""The two networks of ILUGAN: gradients by hand, and what they refuse."""

import numpy as np
import pytest

from i2cansay.learners.sessions.adam import FIRST, SECOND, Adam
from i2cansay.learners.sessions.critic import Critic, critic_bytes
from i2cansay.learners.sessions.generator import Generator, generator_bytes
from i2cansay.learners.sessions.losses import cross_entropy_error, sigmoid, softmax_over

EVERY = np.ones(4, dtype=bool)
WEIGHTS = np.full(6, 1 / 6)


def critic(seed: int = 0) -> Critic:
    made, rng = Critic(5, 7, dtype=np.float64), np.random.default_rng(seed)
    made.resize(4)
    for array in made.arrays().values():
        array[:] = rng.normal(size=array.shape)
    return made


def difference(array: np.ndarray, place: tuple[int, ...], loss: object) -> float:
    before, ends = array[place], []
    for step in (1e-6, -1e-6):
        array[place] = before + step
        ends.append(loss())  # type: ignore[operator]
    array[place] = before
    return float(ends[0] - ends[1]) / 2e-6


def test_gradients_of_both_outputs_are_those_of_finite_differences() -> None:
    made, rng = critic(), np.random.default_rng(1)
    X, y = rng.normal(size=(6, 5)), rng.integers(0, 4, 6)
    asked: np.ndarray = rng.random((6, 7))

    def loss() -> float:
        codes = made.codes(X)
        likely = softmax_over(made.logits(codes), EVERY)[np.arange(6), y]
        apart = ((codes - asked) ** 2).mean(axis=1)
        return float(-(WEIGHTS * (np.log(likely) + np.log(sigmoid(made.real(codes))) - apart)).sum())

    codes = made.codes(X)
    error = cross_entropy_error(made.logits(codes), y, WEIGHTS, EVERY)
    real_error = (sigmoid(made.real(codes)) - 1) * WEIGHTS
    apart = (codes - asked) * (2 / 7 * WEIGHTS[:, None])
    of_input = made.input_error(made.code_error(codes, error, real_error, apart))
    for place in np.ndindex(X.shape):
        assert of_input[place] == pytest.approx(difference(X, place, loss), abs=1e-7)
    asked = codes.copy()  # with the distance at its minimum only the two outputs are left
    found = made.gradients(X, codes, error, real_error)
    assert found.keys() == made.arrays().keys()
    for name, array in made.arrays().items():
        for place in np.ndindex(array.shape):
            assert found[name][place] == pytest.approx(difference(array, place, loss), abs=1e-6), name


def test_gradients_of_the_generator_are_those_of_finite_differences() -> None:
    made, rng = Generator(3, 6, 5, dtype=np.float64), np.random.default_rng(0)
    for array in made.arrays().values():
        array[:] = rng.normal(size=array.shape)
    codes, wanted = rng.random((4, 3)), rng.normal(size=(4, 5))

    def loss() -> float:
        return float(((made.make(codes) - wanted) ** 2).sum())

    units = made.units(codes)
    found = made.gradients(codes, units, 2 * (made.output(units) - wanted))
    for name, array in made.arrays().items():
        for place in np.ndindex(array.shape):
            assert found[name][place] == pytest.approx(difference(array, place, loss), rel=1e-5, abs=1e-6)


def test_what_was_written_before_does_not_matter() -> None:
    made, rng = critic(), np.random.default_rng(1)
    X, error, real_error = rng.normal(size=(6, 5)), rng.normal(size=(6, 4)), rng.normal(size=6)
    codes = made.codes(X)
    once = {name: array.copy() for name, array in made.gradients(X, codes, error, real_error).items()}
    stale = {name: np.full_like(array, np.nan) for name, array in once.items()}
    for name, array in made.gradients(X, codes, error, real_error, into=stale).items():
        np.testing.assert_array_equal(array, once[name])


def test_adam_is_that_of_the_textbook() -> None:
    weights, w, mean, square = {"w": np.array([1.0])}, 1.0, 0.0, 0.0
    optimiser = Adam(weights)
    for step, gradient in enumerate((0.3, -0.2, 0.7), start=1):
        optimiser.step({"w": np.array([gradient])}, lr=0.1)
        mean = FIRST * mean + (1 - FIRST) * gradient
        square = SECOND * square + (1 - SECOND) * gradient**2
        w -= 0.1 * (mean / (1 - FIRST**step)) / (np.sqrt(square / (1 - SECOND**step)) + 1e-8)
        assert weights["w"][0] == pytest.approx(w, rel=1e-12)


def test_a_state_of_other_shapes_is_refused() -> None:
    state = critic().state()
    for name, array in state.items():
        with pytest.raises(ValueError, match=f"{name} should be of shape"):
            critic().restore({**state, name: array[..., :-1]}, 4)


def test_their_sizes_are_known_beforehand() -> None:
    judge, maker = Critic(20, 9), Generator(9, 11, 20)
    judge.resize(40)
    assert sum(array.nbytes for array in judge.arrays().values()) <= critic_bytes(20, 9, 40)
    assert sum(array.nbytes for array in maker.arrays().values()) <= generator_bytes(9, 11, 20)
