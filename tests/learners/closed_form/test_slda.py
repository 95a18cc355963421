import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.covariance import oas
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.utils.estimator_checks import check_estimator

from i2cansay.learners.closed_form.slda import StreamingLDA


def draw(n: int = 90) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, 3, n) * rng.integers(0, 2, n))  # unequal classes, one after the other
    return rng.standard_normal((n, 4)) * np.array([1, 2, 3, 4]) + y[:, None] + 20, y


def by_row(scores: np.ndarray) -> np.ndarray:
    """Take away what all classes share, which no decision sees."""
    centred: np.ndarray = scores - scores.mean(axis=1, keepdims=True)
    return centred


@pytest.mark.parametrize("shrinkage", ["fixed", "oas"])
def test_scikit_learn_accepts_it(shrinkage: str) -> None:
    check_estimator(StreamingLDA(shrinkage=shrinkage), on_skip=None)  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [1e-4, 0.3, 1.0])
@pytest.mark.parametrize("prior", ["uniform", "empirical"])
def test_agrees_with_scikit_learn(epsilon: float, prior: str) -> None:
    # Scikit-learn shrinks each class's covariance and weighs by the priors: with the classes' shares as
    # weights that is the pooled covariance, shrunk; the uniform prior is then a matter of the constant.
    X, y = draw()
    reference = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=epsilon).fit(X, y)
    expected = reference.decision_function(X)
    if prior == "uniform":
        expected = expected - np.log(np.bincount(y) / len(y))
    model = StreamingLDA(epsilon=epsilon, prior=prior)  # type: ignore[arg-type]
    for start in range(0, 90, 7):
        model.partial_fit(X[start : start + 7], y[start : start + 7])
    np.testing.assert_allclose(by_row(model.class_scores(X)), by_row(expected), rtol=1e-7, atol=1e-9)


def test_bias_counts_in_the_decision() -> None:
    # Without -p A^-1 p / 2 the class with the longer mean would take both.
    model = StreamingLDA().partial_fit(np.array([[1.0], [1.2], [3.0], [3.2]]), [0, 0, 1, 1])
    assert model.predict(np.array([[1.5], [2.5]])).tolist() == [0, 1]


def test_order_batches_and_merge_change_nothing() -> None:
    X, y = draw()
    expected = StreamingLDA().partial_fit(X, y).class_scores(X)
    shuffled = StreamingLDA()
    for row in np.random.default_rng(1).permutation(60):
        shuffled.partial_fit(X[row : row + 1], y[row : row + 1])
    shuffled.merge(StreamingLDA().partial_fit(X[60:], y[60:]))
    np.testing.assert_allclose(shuffled.class_scores(X), expected, rtol=1e-7, atol=1e-9)


def test_oas_shrinks_as_scikit_learn_does() -> None:
    X, y = draw()
    deviations = X - np.stack([X[y == row].mean(axis=0) for row in range(3)])[y]
    model = StreamingLDA(shrinkage="oas").partial_fit(X, y)
    assert model.shrinkage_ == pytest.approx(oas(deviations, assume_centered=True)[1])
    fixed = StreamingLDA(epsilon=model.shrinkage_).partial_fit(X, y)
    np.testing.assert_allclose(model.class_scores(X), fixed.class_scores(X))


def test_weight_two_is_the_sample_twice() -> None:
    X, y = draw()
    weighted = StreamingLDA().partial_fit(X, y, sample_weight=np.where(np.arange(90) < 30, 2.0, 1.0))
    twice = StreamingLDA().partial_fit(np.concatenate([X, X[:30]]), np.concatenate([y, y[:30]]))
    np.testing.assert_allclose(weighted.class_scores(X), twice.class_scores(X), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("shrinkage", ["fixed", "oas"])
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_few_samples_constant_dimensions_and_scales_stay_finite(scale: float, shrinkage: str) -> None:
    X = scale * np.array([[0.0, 1.0, 5.0], [2.0, 1.0, 5.0], [9.0, 1.0, 5.0], [9.5, 1.0, 5.0]])
    for n in (1, 2, 4):
        model = StreamingLDA(shrinkage=shrinkage)  # type: ignore[arg-type]
        model.partial_fit(X[:n], np.arange(n) // 2)
        assert np.isfinite(model.class_scores(X)).all()
    assert model.predict(X).tolist() == [0, 0, 1, 1]


def test_forget_leaves_the_other_scores_and_resume_is_exact() -> None:
    X, y = draw()
    model = StreamingLDA().partial_fit(X, y)
    before = model.class_scores(X)
    np.testing.assert_allclose(model.forget(1).class_scores(X), before[:, [0, 2]], rtol=1e-9, atol=1e-10)
    twin = StreamingLDA().set_state(model.state())
    scores = [learner.partial_fit(X[:9], y[:9]).class_scores(X) for learner in (model, twin)]
    np.testing.assert_array_equal(scores[0], scores[1])


@pytest.mark.parametrize("epsilon", [0.0, 1.5])
def test_epsilon_outside_its_range_is_named(epsilon: float) -> None:
    with pytest.raises(ValueError, match="epsilon must be above 0 and at most 1"):
        StreamingLDA(epsilon=epsilon).partial_fit(np.eye(2), [0, 1])


@pytest.mark.data
def test_cub_200() -> None:
    folders = [Path(folder) for folder in os.environ.get("I2CANSAY_DATA", "").split(os.pathsep) if folder]
    places = [f for f in folders if (f / "cub200_efflite0_train.npz").exists()]
    if not places:
        pytest.skip("no CUB-200 features in the folders of I2CANSAY_DATA")
    train, test = (np.load(places[0] / f"cub200_efflite0_{part}.npz") for part in ("train", "test"))
    model = StreamingLDA().partial_fit(train["F"].astype(np.float32), train["y"])
    assert 100 * model.score(test["F"].astype(np.float32), test["y"]) == pytest.approx(68.9, abs=0.3)


def test_unlearning_gives_what_the_rest_alone_would() -> None:
    rng = np.random.default_rng(3)
    y = np.arange(60) % 3
    X = 2 * np.eye(3)[y] @ rng.normal(size=(3, 4)) + rng.normal(size=(60, 4))
    model, rest = StreamingLDA().partial_fit(X, y), StreamingLDA().partial_fit(X[20:], y[20:])
    np.testing.assert_allclose(model.unlearn(X[:20], y[:20]).class_scores(X), rest.class_scores(X), atol=1e-8)
    model.unlearn(X[20:][y[20:] == 2], y[20:][y[20:] == 2])
    assert model.classes_.tolist() == [0, 1]
    before = model.state()
    with pytest.raises(ValueError, match=r"not taught|more samples|cannot"):
        model.unlearn(X[:1] + 1e3, y[:1])
    for name, array in model.state().items():
        np.testing.assert_array_equal(array, before[name])
