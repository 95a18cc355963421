from typing import Literal

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import check_estimator

from i2cansay.core.types import Float64, Rows
from i2cansay.learners.closed_form.air import AIR
from i2cansay.learners.closed_form.gacl import GACL
from i2cansay.testing import check_learner

Covariance = Literal["common", "class"]
COUNTS = (70, 14, 6)


def draw(counts: tuple[int, ...] = COUNTS) -> tuple[Float64, Rows]:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(len(counts)), counts)
    return rng.standard_normal((len(y), 4)) + 2 * np.eye(4)[y], y


def small(covariance: Covariance = "common", penalty: float = 2.0) -> AIR:
    return AIR(n_projections=40, covariance=covariance, penalty=penalty, relative=False, random_state=0)


@pytest.mark.parametrize("covariance", ["common", "class"])
def test_scikit_learn_and_the_contract_accept_it(covariance: Covariance) -> None:
    # Matrices of single classes are in float32, where weights differ from copies in the last digits.
    excused = {"check_sample_weight_equivalence_on_dense_data": "float32"} if covariance == "class" else {}
    check_estimator(small(covariance), on_skip=None, expected_failed_checks=excused)
    check_learner(small(covariance))


def test_is_ridge_with_a_weight_for_every_class() -> None:
    X, y = draw()
    model = small("class").partial_fit(X, y)
    lifted = model._lift(X)
    inverse = 1 / np.array(COUNTS)
    weights = (inverse * len(COUNTS) / inverse.sum())[y]
    expected = Ridge(alpha=2.0, fit_intercept=False).fit(lifted, np.eye(3)[y], weights).predict(lifted)
    np.testing.assert_allclose(model.class_scores(X), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("covariance", ["common", "class"])
def test_with_classes_of_equal_size_it_is_gacl(covariance: Covariance) -> None:
    X, y = draw((30, 30, 30))
    plain = GACL(n_projections=40, penalty=2.0, relative=False, random_state=0).partial_fit(X, y)
    balanced = small(covariance).partial_fit(X, y)
    np.testing.assert_allclose(balanced.class_scores(X), plain.class_scores(X), rtol=1e-4, atol=1e-4)


def test_rare_classes_are_found() -> None:
    X, y = draw((900, 30))
    rare = y == 1
    plain = GACL(n_projections=40, penalty=1.0, random_state=0).partial_fit(X, y).score(X[rare], y[rare])
    for covariance in ("common", "class"):
        model = AIR(n_projections=40, penalty=1.0, covariance=covariance, random_state=0)
        assert model.partial_fit(X, y).score(X[rare], y[rare]) > plain + 0.1


@pytest.mark.parametrize("covariance", ["common", "class"])
def test_order_batches_and_merge_change_nothing(covariance: Covariance) -> None:
    X, y = draw()
    expected = small(covariance).partial_fit(X, y).class_scores(X)
    shuffled = small(covariance)
    for row in np.random.default_rng(1).permutation(60):
        shuffled.partial_fit(X[row : row + 1], y[row : row + 1])
    shuffled.merge(small(covariance).partial_fit(X[60:], y[60:]))
    np.testing.assert_allclose(shuffled.class_scores(X), expected, rtol=1e-4, atol=1e-4)


def test_the_penalty_can_be_chosen_from_the_weighted_statistics() -> None:
    X, y = draw()
    model = AIR(n_projections=40, penalty="gcv", random_state=0).partial_fit(X, y)
    noise = AIR(n_projections=40, penalty="gcv", random_state=0).partial_fit(
        X, np.random.default_rng(1).permutation(y)
    )
    assert noise.penalty_ > model.penalty_


def test_parameters_are_checked() -> None:
    with pytest.raises(ValueError, match="covariance must be one of 'common', 'class'"):
        AIR(covariance="each").partial_fit(np.eye(2), [0, 1])  # type: ignore[arg-type]
