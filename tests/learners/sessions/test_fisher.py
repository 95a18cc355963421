"""The Fisher information against its definition, sample by sample and label by label."""

import numpy as np
import pytest

from i2cansay.learners.sessions.fisher import fisher_diagonal
from i2cansay.learners.sessions.losses import softmax_over
from i2cansay.learners.sessions.network import Arrays, Network

EVERY = np.ones(4, dtype=bool)
SOME = np.array([True, True, False, True])


def network(hidden: int) -> Network:
    made, rng = Network(5, hidden, dtype=np.float64), np.random.default_rng(0)
    made.resize(4)
    for array in made.arrays().values():
        array[:] = rng.normal(size=array.shape)
    return made


def by_definition(made: Network, X: np.ndarray, columns: np.ndarray) -> Arrays:
    """Return the mean over samples of the expected squared gradient of log p, each from a pass of its own."""
    total = {name: np.zeros_like(array) for name, array in made.arrays().items()}
    for x in X:
        units = made.units(x[None])
        likely = softmax_over(made.logits(units), columns)
        for label in np.flatnonzero(columns):
            error = likely.copy()
            error[0, label] -= 1
            for name, gradient in made.gradients(x[None], units, error).items():
                total[name] += likely[0, label] * gradient**2 / len(X)
    return total


@pytest.mark.parametrize("hidden", [0, 7])
@pytest.mark.parametrize("columns", [EVERY, SOME])
def test_the_closed_form_is_the_definition(hidden: int, columns: np.ndarray) -> None:
    made, X = network(hidden), np.random.default_rng(1).normal(size=(9, 5))
    found, expected = fisher_diagonal(made, X, columns), by_definition(made, X, columns)
    assert found.keys() == expected.keys() == made.arrays().keys()
    for name in found:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-10, atol=1e-14)
        assert found[name].max() > 1e-3


@pytest.mark.parametrize("hidden", [0, 7])
def test_it_is_a_mean_over_samples(hidden: int) -> None:
    made, X = network(hidden), np.random.default_rng(1).normal(size=(9, 5))
    once, twice = fisher_diagonal(made, X, EVERY), fisher_diagonal(made, np.concatenate([X, X]), EVERY)
    weighed = fisher_diagonal(made, X, EVERY, np.full(9, 3.0))
    for name in once:
        np.testing.assert_allclose(twice[name], once[name], rtol=1e-10)
        np.testing.assert_allclose(weighed[name], once[name], rtol=1e-10)


def test_it_is_not_the_square_of_a_mean_gradient() -> None:
    # That is too small by about the size of the batch: the gradients of samples nearly cancel.
    made, X = network(0), np.random.default_rng(1).normal(size=(64, 5))
    likely = softmax_over(made.logits(X), EVERY)
    rng = np.random.default_rng(2)
    squares = []
    for _ in range(200):
        labels = np.array([rng.choice(4, p=p) for p in likely])
        error = (likely - np.eye(4)[labels]) / len(X)
        squares.append(made.gradients(X, X, error)["weights"] ** 2)
    ratio = np.mean(squares) / fisher_diagonal(made, X, EVERY)["weights"].mean()
    assert ratio == pytest.approx(1 / 64, rel=0.2)


def test_classes_outside_the_softmax_have_no_information() -> None:
    found = fisher_diagonal(network(7), np.random.default_rng(1).normal(size=(9, 5)), SOME)
    assert (found["weights"][~SOME] == 0).all()
    assert (found["bias"][~SOME] == 0).all()
