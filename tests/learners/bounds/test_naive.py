import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from i2cansay.learners.bounds.naive import Naive


def test_scikit_learn_accepts_it() -> None:
    check_estimator(Naive(), on_skip=None, expected_failed_checks=dict(Naive.expected_failed_checks))


def test_one_step_is_the_gradient_of_the_mean_cross_entropy() -> None:
    X, y = np.array([[1.0, 2.0], [3.0, -1.0]]), np.array([0, 1])
    model = Naive(lr=0.1, weight_decay=0.0).partial_fit(X, y)
    # From zero weights both classes have probability 1/2.
    error = np.array([[-0.5, 0.5], [0.5, -0.5]]) / 2
    weights, bias = -0.1 * error.T @ X, -0.1 * error.sum(axis=0)
    np.testing.assert_allclose(model.class_scores(X), X @ weights.T + bias, rtol=1e-5)


def test_equal_weights_are_no_weights() -> None:
    X, y = np.random.default_rng(0).standard_normal((20, 3)), np.arange(20) % 2
    plain, weighted = Naive().partial_fit(X, y), Naive().partial_fit(X, y, sample_weight=np.full(20, 7.0))
    np.testing.assert_allclose(plain.class_scores(X), weighted.class_scores(X), rtol=1e-5)


def test_it_forgets_what_no_longer_comes() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((600, 5)) + 3 * np.eye(5)[np.arange(600) % 3], np.arange(600) % 3
    mixed, by_class = Naive(random_state=0).fit(X, y), Naive()
    for start in range(0, 600, 50):
        batch = np.argsort(y, kind="stable")[start : start + 50]
        by_class.partial_fit(X[batch], y[batch])
    assert mixed.score(X, y) > by_class.score(X, y) + 0.2


def test_forget_leaves_the_other_scores() -> None:
    X, y = np.random.default_rng(0).standard_normal((30, 3)), np.arange(30) % 3
    model = Naive().partial_fit(X, y)
    before = model.class_scores(X)
    # A narrower product is another one to a BLAS: equal up to rounding.
    np.testing.assert_allclose(model.forget(1).class_scores(X), before[:, [0, 2]], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_resumes_bit_for_bit(momentum: float) -> None:
    X, y = np.random.default_rng(0).standard_normal((30, 3)), np.arange(30) % 3
    model = Naive(momentum=momentum).partial_fit(X[:20], y[:20])
    twin = Naive(momentum=momentum).set_state(model.state())
    scores = [learner.partial_fit(X[20:], y[20:]).class_scores(X) for learner in (model, twin)]
    np.testing.assert_array_equal(scores[0], scores[1])


def test_state_of_another_width_is_refused() -> None:
    state = Naive().partial_fit(np.eye(2), [0, 1]).state()
    state["head.weights"] = np.zeros((2, 5), dtype=np.float32)
    with pytest.raises(ValueError, match=r"should be of shape \(2, 2\), not \(2, 5\)"):
        Naive().set_state(state)


def test_bad_parameter_is_named() -> None:
    with pytest.raises(ValueError, match="lr must be a number above 0"):
        Naive(lr=-1).partial_fit(np.eye(2), [0, 1])
