import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import check_estimator

from i2cansay.learners.closed_form import lifted_ridge
from i2cansay.learners.closed_form.ranpac import RanPAC


def draw(n: int = 90) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, 3, n))
    return rng.standard_normal((n, 4)) + 2 * np.eye(4)[y], y


def small(random_state: int | None = 0) -> RanPAC:
    return RanPAC(n_projections=40, random_state=random_state)


def test_scikit_learn_accepts_it() -> None:
    check_estimator(small(), on_skip=None)


def test_is_ridge_on_the_rectified_projection() -> None:
    X, y = draw()
    model = RanPAC(n_projections=40, penalty=2.0, relative=False, random_state=0).partial_fit(X, y)
    lifted = np.maximum(X @ model._draw(np.random.default_rng(model._projection.seed)).T, 0)
    expected = Ridge(alpha=2.0, fit_intercept=False).fit(lifted, np.eye(3)[y]).predict(lifted)
    np.testing.assert_allclose(model.class_scores(X), expected, rtol=1e-7, atol=1e-9)


def test_penalty_is_chosen_from_the_statistics_and_told() -> None:
    X, y = draw()
    model = small().partial_fit(X, y)
    fixed = RanPAC(n_projections=40, penalty=model.penalty_, random_state=0).partial_fit(X, y)
    np.testing.assert_allclose(model.class_scores(X), fixed.class_scores(X), rtol=1e-7, atol=1e-9)
    noise = small().partial_fit(X, np.random.default_rng(1).permutation(y))
    assert noise.penalty_ > model.penalty_


def test_order_batches_and_merge_change_nothing() -> None:
    X, y = draw()
    expected = small().partial_fit(X, y).class_scores(X)
    shuffled = small()
    for row in np.random.default_rng(1).permutation(60):
        shuffled.partial_fit(X[row : row + 1], y[row : row + 1])
    shuffled.merge(small().partial_fit(X[60:], y[60:]))
    np.testing.assert_allclose(shuffled.class_scores(X), expected, rtol=1e-7, atol=1e-9)


def test_blocks_leave_no_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = draw()
    weights = np.linspace(1, 2, 90)
    expected = small().partial_fit(X, y, sample_weight=weights).class_scores(X)
    monkeypatch.setattr(lifted_ridge, "BLOCK", 7)
    blocked = small().partial_fit(X, y, sample_weight=weights).class_scores(X)
    np.testing.assert_allclose(blocked, expected, rtol=1e-7, atol=1e-9)


def test_projection_comes_back_from_the_state_though_it_is_not_in_it() -> None:
    X, y = draw()
    model = small(random_state=None).partial_fit(X, y)
    state = model.state()
    assert all(array.size != 40 * 4 for array in state.values())
    twin = small(random_state=None).set_state(state)
    scores = [learner.partial_fit(X[:9], y[:9]).class_scores(X) for learner in (model, twin)]
    np.testing.assert_array_equal(scores[0], scores[1])


def test_fit_and_partial_fit_share_the_projection_of_a_seed() -> None:
    X, y = draw()
    expected = small().partial_fit(X, y).class_scores(X)
    np.testing.assert_allclose(small().fit(X, y).class_scores(X), expected, rtol=1e-7, atol=1e-9)


def test_merging_different_projections_is_refused() -> None:
    X, y = draw()
    with pytest.raises(ValueError, match="different projections"):
        small(0).partial_fit(X, y).merge(small(1).partial_fit(X, y))


def test_forget_leaves_the_other_scores() -> None:
    X, y = draw()
    model = small().partial_fit(X, y)
    before = model.class_scores(X)
    np.testing.assert_allclose(model.forget(1).class_scores(X), before[:, [0, 2]], rtol=1e-9, atol=1e-12)


def test_parameters_are_checked() -> None:
    with pytest.raises(ValueError, match="n_projections must be a whole number"):
        RanPAC(n_projections=0).partial_fit(np.eye(2), [0, 1])
