from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from i2cansay.core.types import Float64, Rows
from i2cansay.learners import make_seeded_learner
from i2cansay.learners.closed_form.foal import FOAL
from i2cansay.testing import check_learner


def draw(n: int = 90, d: int = 6) -> tuple[Float64, Rows]:
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, 3, n))
    return rng.standard_normal((n, d)) + 2 * np.eye(d)[y], y


def small(**parameters: Any) -> FOAL:
    return FOAL(**{"n_projections": 40, "random_state": 0, **parameters})


def test_scikit_learn_and_the_contract_accept_it() -> None:
    check_estimator(small(), on_skip=None, expected_failed_checks=dict(FOAL.expected_failed_checks))
    check_learner(small())


def test_is_recursive_least_squares_from_the_identity_on_the_sigmoid_lift() -> None:
    X, y = draw()
    model = small()
    for row in range(90):
        model.partial_fit(X[row : row + 1], y[row : row + 1])
    normed = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
    H = 1 / (1 + np.exp(-normed @ model._projection.get(model._draw).T))
    inverse, weights = np.eye(40), np.zeros((40, 3))
    for start in range(0, 90, 10):
        h, target = H[start : start + 10], np.eye(3)[y[start : start + 10]]
        inverse = inverse - inverse @ h.T @ np.linalg.inv(np.eye(10) + h @ inverse @ h.T) @ h @ inverse
        weights = weights + inverse @ h.T @ (target - h @ weights)
    np.testing.assert_allclose(model.class_scores(X), H @ weights, rtol=1e-6, atol=1e-9)


def test_blocks_of_equal_widths_are_averaged() -> None:
    X, y = draw()
    fused = small(blocks=(3, 3)).partial_fit(X, y)
    mean = (X[:, :3] + X[:, 3:]) / 2
    np.testing.assert_allclose(
        fused.class_scores(X), small().partial_fit(mean, y).class_scores(mean), rtol=1e-9
    )


def test_neither_the_scale_of_a_sample_nor_the_unit_of_a_block_matters() -> None:
    X, y = draw()
    expected = small(blocks=(4, 2)).partial_fit(X, y).class_scores(X)
    other = X * np.geomspace(1e-3, 1e3, 90)[:, None]
    other[:, 4:] = 7 * other[:, 4:] + 5
    np.testing.assert_allclose(
        small(blocks=(4, 2)).partial_fit(other, y).class_scores(other), expected, rtol=1e-6, atol=1e-9
    )


def test_a_constant_sample_is_lifted_to_the_middle_of_the_sigmoid() -> None:
    X, y = draw()
    model = small().partial_fit(X, y)
    np.testing.assert_array_equal(model._lift(np.full((1, 6), 0.1)), 0.5)


def test_the_evaluator_tells_it_of_the_blocks() -> None:
    assert make_seeded_learner("foal", 1, blocks=(4, 2)).get_params()["blocks"] == (4, 2)


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ((4, 4), "blocks that add up to the width of the features, 6, got 4, 4"),
        ((), "blocks must be None or the widths"),
        ("six", "blocks must be None or the widths"),
        ((6, 0), "the width of each of the blocks must be a whole number"),
    ],
)
def test_blocks_that_do_not_fit_are_refused(blocks: Any, message: str) -> None:
    X, y = draw()
    with pytest.raises(ValueError, match=message):
        small(blocks=blocks).partial_fit(X, y)
