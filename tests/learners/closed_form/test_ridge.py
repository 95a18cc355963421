import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import check_estimator

from i2cansay.learners.closed_form.ridge import RecursiveRidge


def draw(n: int = 90) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, 3, n))
    return rng.standard_normal((n, 4)) + 2 * np.eye(4)[y] + 5, y


def test_scikit_learn_accepts_it() -> None:
    check_estimator(RecursiveRidge(), on_skip=None)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_agrees_with_scikit_learn_whatever_the_batches(fit_intercept: bool) -> None:
    X, y = draw()
    reference = Ridge(alpha=0.5, fit_intercept=fit_intercept).fit(X, np.eye(3)[y])
    model = RecursiveRidge(penalty=0.5, relative=False, fit_intercept=fit_intercept)
    for start in range(0, 90, 7):
        model.partial_fit(X[start : start + 7], y[start : start + 7])
    np.testing.assert_allclose(model.class_scores(X), reference.predict(X), rtol=1e-8, atol=1e-10)


def test_order_and_merge_change_nothing() -> None:
    X, y = draw()
    expected = RecursiveRidge().partial_fit(X, y).class_scores(X)
    shuffled = RecursiveRidge()
    for row in np.random.default_rng(1).permutation(60):
        shuffled.partial_fit(X[row : row + 1], y[row : row + 1])
    shuffled.merge(RecursiveRidge().partial_fit(X[60:], y[60:]))
    np.testing.assert_allclose(shuffled.class_scores(X), expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_cross_validated_penalty_is_that_of_the_samples_at_any_scale(scale: float) -> None:
    X, y = draw()
    model = RecursiveRidge(penalty="gcv").partial_fit(scale * X, y)
    unscaled = RecursiveRidge(penalty="gcv").partial_fit(X, y)
    assert model.penalty_ == unscaled.penalty_
    fixed = RecursiveRidge(penalty=model.penalty_).partial_fit(X, y)
    np.testing.assert_allclose(model.class_scores(scale * X), fixed.class_scores(X), rtol=1e-6, atol=1e-8)


def test_late_class_counts_the_samples_before_it_as_not_its_own() -> None:
    X, y = draw()
    late = RecursiveRidge().partial_fit(X[y < 2], y[y < 2]).partial_fit(X[y == 2], y[y == 2])
    expected = RecursiveRidge().partial_fit(X, y).class_scores(X)
    np.testing.assert_allclose(late.class_scores(X), expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_default_does_not_see_the_scale(scale: float) -> None:
    X, y = draw()
    expected = RecursiveRidge().partial_fit(X, y).class_scores(X)
    np.testing.assert_allclose(
        RecursiveRidge().partial_fit(scale * X, y).class_scores(scale * X), expected, rtol=1e-6
    )


def test_one_sample_and_more_dimensions_than_samples_stay_finite() -> None:
    X = np.random.default_rng(0).standard_normal((4, 30))
    for n in (1, 2, 4):
        assert np.isfinite(RecursiveRidge().partial_fit(X[:n], np.arange(n)).class_scores(X)).all()


def test_forget_leaves_the_other_scores_and_resume_is_exact() -> None:
    X, y = draw()
    model = RecursiveRidge().partial_fit(X, y)
    before = model.class_scores(X)
    np.testing.assert_allclose(model.forget(1).class_scores(X), before[:, [0, 2]], rtol=1e-9, atol=1e-10)
    twin = RecursiveRidge().set_state(model.state())
    scores = [learner.partial_fit(X[:9], y[:9]).class_scores(X) for learner in (model, twin)]
    np.testing.assert_array_equal(scores[0], scores[1])


def test_penalty_must_be_positive() -> None:
    with pytest.raises(ValueError, match="penalty must be a number above 0"):
        RecursiveRidge(penalty=0.0).partial_fit(np.eye(2), [0, 1])
