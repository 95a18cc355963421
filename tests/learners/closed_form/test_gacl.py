import numpy as np
from sklearn.utils.estimator_checks import check_estimator

from i2cansay.core.types import Float64, Rows
from i2cansay.learners.closed_form.gacl import GACL
from i2cansay.testing import check_learner


def draw(n: int = 90) -> tuple[Float64, Rows]:
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, 3, n))
    return rng.standard_normal((n, 4)) + 2 * np.eye(4)[y], y


def small(penalty: float = 2.0) -> GACL:
    return GACL(n_projections=40, penalty=penalty, relative=False, random_state=0)


def recursive_least_squares(H: Float64, Y: Float64, *, penalty: float, batch: int, times: int = 1) -> Float64:
    """Return the weights after batches, each learnt `times` times; a class begins with weights of zero."""
    inverse, weights = np.eye(H.shape[1]) / penalty, np.zeros((H.shape[1], Y.shape[1]))
    for start in range(0, len(H), batch):
        h, y = H[start : start + batch], Y[start : start + batch]
        for _ in range(times):
            gain = np.linalg.inv(np.eye(len(h)) + h @ inverse @ h.T)
            inverse = inverse - inverse @ h.T @ gain @ h @ inverse
            weights = weights + inverse @ h.T @ (y - h @ weights)
    return weights


def test_scikit_learn_and_the_contract_accept_it() -> None:
    check_estimator(GACL(n_projections=40, random_state=0), on_skip=None)
    check_learner(small())


def test_is_recursive_least_squares_on_the_rectified_lift() -> None:
    X, y = draw()
    model = small()
    for start in range(0, 90, 7):  # class after class: the columns grow
        model.partial_fit(X[start : start + 7], y[start : start + 7])
    H, Y = np.maximum(X @ model._projection.get(model._draw).T, 0), np.eye(3)[y]
    weights = recursive_least_squares(H, Y, penalty=2.0, batch=10)
    np.testing.assert_allclose(model.class_scores(X), H @ weights, rtol=1e-6, atol=1e-9)


def test_batches_learnt_three_times_over_are_a_third_of_the_penalty() -> None:
    X, y = draw()
    model = small(2.0 / 3).partial_fit(X, y)
    H = model._lift(X)
    thrice = recursive_least_squares(H, np.eye(3)[y], penalty=2.0, batch=10, times=3)
    np.testing.assert_allclose(model.class_scores(X), H @ thrice, rtol=1e-6, atol=1e-9)


def test_the_lift_is_drawn_as_a_linear_layer_begins() -> None:
    model = GACL(n_projections=5000, random_state=0)
    model.n_features_in_ = 9
    drawn = model._draw(np.random.default_rng(0))
    assert np.abs(drawn).max() <= 1 / 3
    np.testing.assert_allclose(drawn.var(), 1 / 27, rtol=0.05)


def test_the_scale_of_the_features_does_not_matter_to_a_relative_penalty() -> None:
    X, y = draw()
    scores = [
        GACL(n_projections=40, random_state=0).partial_fit(scale * X, y).class_scores(scale * X)
        for scale in (1.0, 1000.0)
    ]
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-6, atol=1e-9)
