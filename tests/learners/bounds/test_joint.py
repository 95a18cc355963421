import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import check_estimator

from i2cansay.learners.bounds.joint import PATH, JointLogisticRegression


def draw(n: int = 120, n_classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.sort(np.arange(n) % n_classes)
    return rng.standard_normal((n, 4)) + 1.5 * np.eye(4)[y] + 10, y


def test_scikit_learn_accepts_it() -> None:
    check_estimator(JointLogisticRegression(), on_skip=None)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_is_logistic_regression_on_standardised_features(n_classes: int) -> None:
    X, y = draw(n_classes=n_classes)
    model = JointLogisticRegression(C=0.5)
    for start in range(0, 120, 50):
        model.partial_fit(X[start : start + 50], y[start : start + 50])
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    expected = LogisticRegression(C=0.5, tol=1e-8).fit(scaled, y).predict_proba(scaled)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-3)


@pytest.mark.parametrize("C", [0.1, "cv"])
def test_order_and_batches_leave_no_trace_at_all(C: float | str) -> None:
    X, y = draw()
    one = JointLogisticRegression(C=C).partial_fit(X, y)  # type: ignore[arg-type]
    other = JointLogisticRegression(C=C)  # type: ignore[arg-type]
    order = np.random.default_rng(1).permutation(120)
    for start in range(0, 120, 7):
        other.partial_fit(X[order[start : start + 7]], y[order[start : start + 7]])
    np.testing.assert_array_equal(one.class_scores(X), other.class_scores(X))


def test_cv_prefers_strong_regularisation_where_there_is_nothing_to_learn() -> None:
    X, y = draw()
    noise = np.random.default_rng(1).permutation(y)
    learnt = JointLogisticRegression(C="cv").partial_fit(X, y)
    nothing = JointLogisticRegression(C="cv").partial_fit(X, noise)
    assert nothing.C_ < learnt.C_
    assert learnt.C_ in PATH


def test_transform_is_chosen_by_what_it_brings() -> None:
    # Classes told apart by the small values of features with long tails: the root brings those forward.
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = np.exp(3 * rng.standard_normal((400, 3)) + 2 * y[:, None])
    chosen = JointLogisticRegression(C="cv", feature_transform="cv").partial_fit(X, y)
    assert chosen.feature_transform_ == "sqrt"
    rooted = JointLogisticRegression(C=chosen.C_).partial_fit(np.sqrt(X), y)
    np.testing.assert_allclose(chosen.class_scores(X), rooted.class_scores(np.sqrt(X)), rtol=0.02, atol=0.02)


def test_unfinished_solution_is_told_without_a_warning() -> None:
    X, y = draw()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not JointLogisticRegression(C=10.0, max_iter=1).partial_fit(X, y).converged_
        assert JointLogisticRegression().partial_fit(X, y).converged_


def test_weight_two_is_the_sample_twice() -> None:
    X, y = draw()
    weighted = JointLogisticRegression().partial_fit(
        X, y, sample_weight=np.where(np.arange(120) < 30, 2.0, 1.0)
    )
    twice = JointLogisticRegression().partial_fit(np.concatenate([X, X[:30]]), np.concatenate([y, y[:30]]))
    np.testing.assert_allclose(weighted.class_scores(X), twice.class_scores(X), atol=1e-3)


def test_one_class_one_sample_and_constant_features_stay_finite() -> None:
    X = np.array([[0.1, 7.3], [0.1, 7.3], [0.1, 9.0]])
    for n in (1, 2, 3):
        for labels in ([0, 0, 0], [0, 1, 1]):
            model = JointLogisticRegression().partial_fit(X[:n], labels[:n])
            assert np.isfinite(model.class_scores(X)).all()


def test_constant_features_say_nothing_however_their_means_are_rounded() -> None:
    X, y = draw(1500)
    X = X.astype(np.float32)
    # Square roots have all their digits, and a mean of 1,500 of them is off by more than the last one.
    constant = np.tile(np.arange(1, 40, dtype=np.float32), (len(X), 1))
    both = np.concatenate([X, constant], axis=1)
    plain = JointLogisticRegression(feature_transform="sqrt").partial_fit(X, y)
    model = JointLogisticRegression(feature_transform="sqrt").partial_fit(both, y)
    assert np.mean(model.predict(both) == plain.predict(X)) > 0.99


def test_solves_once_per_change(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = draw()
    solved: list[JointLogisticRegression] = []
    solve = JointLogisticRegression._solve

    def counted(self: JointLogisticRegression) -> Any:
        solved.append(self)
        return solve(self)

    monkeypatch.setattr(JointLogisticRegression, "_solve", counted)
    model = JointLogisticRegression().partial_fit(X, y)
    for _ in range(2):
        model.predict(X)
    model.partial_fit(X[:1], y[:1]).predict(X)
    assert len(solved) == 2


def test_forget_is_as_if_the_class_had_never_come() -> None:
    X, y = draw()
    model = JointLogisticRegression().partial_fit(X, y).forget(1)
    without = JointLogisticRegression().partial_fit(X[y != 1], y[y != 1])
    np.testing.assert_array_equal(model.class_scores(X), without.class_scores(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_resumes_bit_for_bit_and_keeps_no_view_of_the_input(dtype: type) -> None:
    X, y = draw()
    X = X.astype(dtype)
    given = X.copy()
    model = JointLogisticRegression().partial_fit(given, y)
    given[:] = 0
    twin = JointLogisticRegression().set_state(model.state())
    assert twin.state()["samples.X"].dtype == dtype
    np.testing.assert_array_equal(model.class_scores(X), twin.class_scores(X))
    np.testing.assert_array_equal(
        model.class_scores(X), JointLogisticRegression().partial_fit(X, y).class_scores(X)
    )


def test_damaged_state_is_refused() -> None:
    state = JointLogisticRegression().partial_fit(*draw()).state()
    with pytest.raises(ValueError, match="do not fit together"):
        JointLogisticRegression().set_state({**state, "samples.rows": state["samples.rows"][:-1]})
    with pytest.raises(ValueError, match="of 3 classes"):
        JointLogisticRegression().set_state({**state, "samples.rows": 0 * state["samples.rows"]})


@pytest.mark.parametrize("C", [0.0, "best"])
def test_C_outside_its_range_is_named(C: float | str) -> None:
    with pytest.raises(ValueError, match="C must be"):
        JointLogisticRegression(C=C).partial_fit(np.eye(2), [0, 1])  # type: ignore[arg-type]
