import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import check_estimator

from i2cansay.learners.closed_form.gaussian_nb import OnlineGaussianNB


def draw(n: int = 90) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, 3, n) * rng.integers(0, 2, n))  # unequal classes, one after the other
    return rng.standard_normal((n, 4)) * (1 + y[:, None]) + y[:, None], y


def test_scikit_learn_accepts_it() -> None:
    check_estimator(OnlineGaussianNB(), on_skip=None)


@pytest.mark.parametrize("var_smoothing", [1e-9, 0.1])
def test_agrees_with_scikit_learn_whatever_the_batches(var_smoothing: float) -> None:
    X, y = draw()
    reference = GaussianNB(var_smoothing=var_smoothing).fit(X, y)
    model = OnlineGaussianNB(var_smoothing=var_smoothing)
    for start in range(0, 90, 7):
        model.partial_fit(X[start : start + 7], y[start : start + 7])
    np.testing.assert_allclose(model.class_scores(X), reference.predict_joint_log_proba(X), rtol=1e-9)


def test_uniform_prior_agrees_with_scikit_learn() -> None:
    X, y = draw()
    expected = GaussianNB(priors=np.full(3, 1 / 3)).fit(X, y).predict_joint_log_proba(X)
    model = OnlineGaussianNB(prior="uniform").partial_fit(X, y)
    np.testing.assert_allclose(model.class_scores(X) - np.log(3), expected, rtol=1e-9)


def test_one_batch_gives_the_probabilities_of_scikit_learn() -> None:
    X, y = draw()
    expected = GaussianNB().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(OnlineGaussianNB().partial_fit(X, y).predict_proba(X), expected, atol=1e-9)


def test_merging_halves_equals_one_pass() -> None:
    X, y = draw()
    half = OnlineGaussianNB().partial_fit(X[:40], y[:40])
    half.merge(OnlineGaussianNB().partial_fit(X[40:], y[40:]))
    expected = OnlineGaussianNB().partial_fit(X, y).class_scores(X)
    np.testing.assert_allclose(half.class_scores(X), expected, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_one_sample_constant_dimensions_and_scales_stay_finite(scale: float) -> None:
    X = scale * np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 3.0]])
    for n in (1, 2, 3):
        model = OnlineGaussianNB().partial_fit(X[:n], np.arange(n))
        assert np.isfinite(model.class_scores(X)).all()
        assert model.predict(X[:1]).tolist() == [0]


def test_forget_leaves_the_other_scores_and_resume_is_exact() -> None:
    X, y = draw()
    model = OnlineGaussianNB().partial_fit(X, y)
    before = model.class_scores(X)
    # A narrower product is another one to a BLAS: equal up to rounding.
    np.testing.assert_allclose(model.forget(1).class_scores(X), before[:, [0, 2]], rtol=1e-9, atol=1e-9)
    twin = OnlineGaussianNB().set_state(model.state())
    scores = [learner.partial_fit(X[:9], y[:9]).class_scores(X) for learner in (model, twin)]
    np.testing.assert_array_equal(scores[0], scores[1])


def test_state_of_another_shape_is_refused() -> None:
    state = OnlineGaussianNB().partial_fit(*draw()).state()
    state["together.count"] = np.ones(2)
    with pytest.raises(ValueError, match="should be of 1 classes"):
        OnlineGaussianNB().set_state(state)


def test_smoothing_must_be_positive() -> None:
    with pytest.raises(ValueError, match="var_smoothing must be a number above 0"):
        OnlineGaussianNB(var_smoothing=0.0).partial_fit(np.eye(2), [0, 1])
