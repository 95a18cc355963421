import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from i2cansay.learners.memory.dsdm import DSDM


def clouds(n: int = 600, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 5, n)
    return 2 * np.random.default_rng(9).normal(size=(5, 12))[y] + rng.normal(size=(n, 12)), y


def taught(model: DSDM, X: np.ndarray, y: np.ndarray, batch: int = 50) -> DSDM:
    for start in range(0, len(X), batch):
        model.partial_fit(X[start : start + batch], y[start : start + batch])
    return model


def nearest_row(model: DSDM, X: np.ndarray) -> np.ndarray:
    """Return the label that the nearest row speaks for most."""
    rows = model.addresses_
    distances = np.linalg.norm(X[:, None] - rows, axis=2)
    answers: np.ndarray = model.classes_[model.contents_.argmax(axis=1)[distances.argmin(axis=1)]]
    return answers


@pytest.mark.parametrize("memory_size", [10, 2000])
def test_scikit_learn_accepts_it(memory_size: int) -> None:
    check_estimator(
        DSDM(memory_size=memory_size), on_skip=None, expected_failed_checks=dict(DSDM.expected_failed_checks)
    )


def test_it_is_at_least_as_good_as_the_nearest_of_its_rows() -> None:
    # A row from the boundary between two classes is one voice here, and the whole answer there.
    X, y = clouds(1500)
    order = np.argsort(y, kind="stable")
    model = taught(DSDM(memory_size=150), X[order], y[order])
    X_test, y_test = clouds(1000, seed=1)
    assert model.score(X_test, y_test) > (nearest_row(model, X_test) == y_test).mean() - 0.01
    assert model.score(X_test, y_test) > 0.8


@pytest.mark.parametrize("slack", [0.0, 0.1, 0.5])
def test_there_are_never_more_rows_than_the_memory_has(slack: float) -> None:
    X, y = clouds()
    model = DSDM(memory_size=60, slack=slack)
    most = 0
    for start in range(0, len(X), 7):
        model.partial_fit(X[start : start + 7], y[start : start + 7])
        most = max(most, model.n_rows_)
        assert model.n_rows_ <= 60
    assert most > 50
    assert model.n_rows_ >= (1 - slack) * 60
    assert np.bincount(model.contents_.argmax(axis=1)).min() >= (1 - slack) * 60 // 5


def test_how_the_stream_is_cut_makes_no_difference() -> None:
    X, y = clouds()
    whole = taught(DSDM(memory_size=80), X, y, batch=600)
    pieces = taught(DSDM(memory_size=80), X, y, batch=13)
    assert whole.n_rows_ == pieces.n_rows_
    np.testing.assert_allclose(whole.class_scores(X), pieces.class_scores(X), atol=1e-3)


def test_a_temperature_in_units_of_the_radius_follows_the_scale_of_the_features() -> None:
    X, y = clouds()
    small, large = taught(DSDM(memory_size=100), X, y), taught(DSDM(memory_size=100), 100 * X, y)
    np.testing.assert_allclose(large.class_scores(100 * X), small.class_scores(X), atol=1e-3)
    assert large.radius_ == pytest.approx(100 * small.radius_, rel=1e-3)
    fixed = DSDM(memory_size=100, unit="features", temperature=0.1 * small.radius_)
    assert taught(fixed, X, y).score(X, y) == pytest.approx(small.score(X, y), abs=0.05)


def test_forgetting_a_class_leaves_none_of_its_rows() -> None:
    X, y = clouds()
    model = taught(DSDM(memory_size=400), X, y)
    rows, of_class = model.addresses_, model.contents_.argmax(axis=1) == 2
    assert 20 < of_class.sum() < len(rows) / 2
    model.forget(2)
    np.testing.assert_array_equal(model.addresses_, rows[~of_class])
    assert (model.predict(X[y == 4]) == 4).mean() > 0.8


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"memory_size": 0}, "memory_size must be a whole number of at least 1"),
        ({"temperature": 0.0}, "temperature must be a number above 0"),
        ({"slack": 1.0}, "slack must be a share of the rows"),
        ({"unit": "metres"}, "unit must be one of 'radius', 'features'"),
    ],
)
def test_parameters_out_of_range_are_named(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DSDM(**parameters).partial_fit(np.eye(2), [0, 1])  # type: ignore[arg-type]
