"""The buffer is balanced, and the answer is a logistic regression on the buffer and on nothing else."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from i2cansay.core.types import Float32, Rows
from i2cansay.learners.replay.gdumb import GDumb


def by_class(n_classes: int = 5, per_class: int = 60, seed: int = 0) -> tuple[Float32, Rows]:
    """Return classes that overlap a little, one after the other."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_classes), per_class)
    centres = np.random.default_rng(99).normal(size=(n_classes, 12))
    return (centres[y] + rng.normal(size=(len(y), 12))).astype(np.float32), y


def taught(model: GDumb, X: Float32, y: Rows) -> GDumb:
    for start in range(0, len(X), 20):
        model.partial_fit(X[start : start + 20], y[start : start + 20])
    return model


def test_the_buffer_is_balanced_after_every_session() -> None:
    X, y = by_class()
    model = GDumb(memory_size=43, random_state=0)
    for label in range(5):
        model.partial_fit(X[y == label], y[y == label])
        counts = np.bincount(model.state()["buffer.classes"], minlength=label + 1)
        assert counts.sum() == 43
        assert np.ptp(counts) <= 1


@pytest.mark.parametrize("C", [0.003, 0.1])
def test_it_is_logistic_regression_on_the_scaled_buffer(C: float) -> None:
    X, y = by_class()
    model = taught(GDumb(memory_size=50, C=C, random_state=0), X, y)
    rows, classes = model.state()["buffer.rows"].astype(float), model.state()["buffer.classes"]
    centre, scale = rows.mean(axis=0), rows.std(axis=0)
    independent = LogisticRegression(C=C, tol=1e-10, max_iter=5000).fit((rows - centre) / scale, classes)
    expected = independent.decision_function((X - centre) / scale)
    found = model.class_scores(X)
    # Scores are defined up to what is common to all classes.
    np.testing.assert_allclose(
        found - found.mean(axis=1, keepdims=True), expected - expected.mean(axis=1, keepdims=True), atol=1e-2
    )


def test_only_the_buffer_counts() -> None:
    X, y = by_class()
    model = taught(GDumb(memory_size=50, random_state=0), X, y)
    rows, classes = model.state()["buffer.rows"], model.state()["buffer.classes"]
    # The classes keep the order of their arrival: it decides where the solver stops within its tolerance.
    order = np.concatenate(
        [np.unique(classes, return_index=True)[1], np.random.default_rng(1).permutation(50)]
    )
    order = order[np.sort(np.unique(order, return_index=True)[1])]
    again = GDumb(memory_size=50, random_state=7).partial_fit(rows[order], classes[order])
    np.testing.assert_allclose(again.class_scores(X), model.class_scores(X), atol=1e-9)


def test_it_is_solved_anew_only_after_a_change() -> None:
    X, y = by_class()
    model = taught(GDumb(memory_size=50, random_state=0), X, y)
    model.class_scores(X)
    solution = model._solution.get(lambda: pytest.fail("it should have been kept"))
    assert solution is model._solution.get(lambda: pytest.fail("it should have been kept"))
    before = model.class_scores(X)
    model.partial_fit(X[:1] + 5, np.array([9]))
    assert model.class_scores(X).shape[1] == before.shape[1] + 1


def test_it_learns_a_stream_of_one_class_after_the_other() -> None:
    (X, y), (X_test, y_test) = by_class(), by_class(seed=1)
    model = taught(GDumb(memory_size=100, C=0.1, random_state=0), X, y)
    best = LogisticRegression().fit(X, y).score(X_test, y_test)
    assert model.score(X_test, y_test) > best - 0.05


def test_a_class_without_a_row_is_never_the_answer() -> None:
    X, y = by_class()
    model = taught(GDumb(memory_size=3, random_state=0), X, y)
    scores = model.class_scores(X)
    assert scores.shape == (len(X), 5)
    absent = np.setdiff1d(np.arange(5), model.state()["buffer.classes"])
    assert len(absent) == 2
    assert not np.isin(model.predict(X), absent).any()
