import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from i2cansay.learners.closed_form import fourier_lift
from i2cansay.learners.closed_form.rff_lda import RandomFourierLDA
from i2cansay.learners.closed_form.slda import StreamingLDA
from i2cansay.testing import check_learner


def draw(n: int = 90) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, 3, n))
    return rng.standard_normal((n, 4)) + 2 * np.eye(4)[y], y


def small(random_state: int | None = 0) -> RandomFourierLDA:
    return RandomFourierLDA(n_projections=40, random_state=random_state)


def test_scikit_learn_and_the_contract_accept_it() -> None:
    check_estimator(small(), on_skip=None)
    check_learner(small())


def test_is_streaming_lda_with_oas_on_the_lift() -> None:
    X, y = draw()
    model = small().partial_fit(X, y)
    lifted = model._waves.of(X)
    reference = StreamingLDA(shrinkage="oas").partial_fit(lifted, y)
    np.testing.assert_allclose(model.class_scores(X), reference.class_scores(lifted), rtol=1e-7, atol=1e-9)
    assert model.shrinkage_ == pytest.approx(reference.shrinkage_)


def test_length_of_a_sample_does_not_matter_unless_asked_for() -> None:
    X, y = draw()
    longer = X * np.linspace(0.1, 10, 90)[:, None]
    expected = small().partial_fit(X, y).class_scores(X)
    np.testing.assert_allclose(small().partial_fit(longer, y).class_scores(longer), expected, atol=1e-6)
    raw = RandomFourierLDA(n_projections=40, normalize=False, random_state=0)
    assert np.abs(raw.partial_fit(longer, y).class_scores(longer) - raw.fit(X, y).class_scores(X)).max() > 0.1


def test_order_blocks_and_merge_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = draw()
    expected = small().partial_fit(X, y).class_scores(X)
    monkeypatch.setattr(fourier_lift, "BLOCK", 7)
    shuffled = small()
    for row in np.random.default_rng(1).permutation(60):
        shuffled.partial_fit(X[row : row + 1], y[row : row + 1])
    shuffled.merge(small().partial_fit(X[60:], y[60:]))
    np.testing.assert_allclose(shuffled.class_scores(X), expected, rtol=1e-6, atol=1e-8)


def test_lift_comes_back_from_the_state_though_it_is_not_in_it() -> None:
    X, y = draw()
    model = small(random_state=None).partial_fit(X, y)
    state = model.state()
    directions, phases = model._waves.draw(np.random.default_rng(model._waves.seed))
    assert all(array.size != directions.size for array in state.values())
    assert all(not np.array_equal(array, phases) for array in state.values())
    twin = small(random_state=None).set_state(state)
    np.testing.assert_array_equal(model.class_scores(X), twin.class_scores(X))


def test_merging_different_lifts_is_refused() -> None:
    X, y = draw()
    with pytest.raises(ValueError, match="different lifts"):
        small(0).partial_fit(X, y).merge(small(1).partial_fit(X, y))


def test_a_lift_that_changed_after_learning_began_is_refused() -> None:
    X, y = draw()
    model = small().partial_fit(X, y).set_params(bandwidth=1.0)
    with pytest.raises(ValueError, match="bandwidth changed after learning began"):
        model.merge(small().partial_fit(X, y).set_params(bandwidth=1.0))


def test_parameters_are_checked() -> None:
    with pytest.raises(ValueError, match="bandwidth must be a number above 0"):
        RandomFourierLDA(bandwidth=0.0).partial_fit(np.eye(2), [0, 1])
