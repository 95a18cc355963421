import os
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from sklearn.neighbors import NearestCentroid
from sklearn.utils.estimator_checks import check_estimator

from i2cansay.learners.closed_form.ncm import NearestClassMean

METRICS: list[Literal["euclidean", "cosine"]] = ["euclidean", "cosine"]


def draw(n: int = 90) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, 4)) + 2 * np.eye(4)[np.arange(n) % 3], np.arange(n) % 3


@pytest.mark.parametrize("metric", METRICS)
def test_scikit_learn_accepts_it(metric: Literal["euclidean", "cosine"]) -> None:
    check_estimator(NearestClassMean(metric=metric), on_skip=None)


def test_agrees_with_nearest_centroid() -> None:
    X, y = draw()
    expected = NearestCentroid().fit(X, y).predict(X)
    np.testing.assert_array_equal(NearestClassMean().partial_fit(X, y).predict(X), expected)


def test_scores_are_negative_squared_distances_up_to_a_term_of_the_row() -> None:
    X, y = draw()
    means = np.stack([X[y == row].mean(axis=0) for row in range(3)])
    distances = ((X[:, None] - means) ** 2).sum(axis=2)
    rest = NearestClassMean().partial_fit(X, y).class_scores(X) + distances
    np.testing.assert_allclose(rest, np.repeat(rest[:, :1], 3, axis=1), atol=1e-10)


def test_scores_are_cosines() -> None:
    X, y = draw()
    means = np.stack([X[y == row].mean(axis=0) for row in range(3)])
    lengths = np.linalg.norm(X, axis=1)[:, None] * np.linalg.norm(means, axis=1)
    model = NearestClassMean(metric="cosine").partial_fit(X, y)
    np.testing.assert_allclose(model.class_scores(X), X @ means.T / lengths, rtol=1e-9)


def test_cosine_of_nothing_is_finite() -> None:
    model = NearestClassMean(metric="cosine").partial_fit(np.array([[0.0, 0.0], [1.0, 0.0]]), [0, 1])
    assert np.isfinite(model.class_scores(np.zeros((1, 2)))).all()


def test_far_from_the_origin_near_means_are_told_apart() -> None:
    X = np.array([[1e7, 0.0], [1e7, 0.01]])
    assert NearestClassMean().partial_fit(X, [0, 1]).predict(X).tolist() == [0, 1]


@pytest.mark.parametrize("metric", METRICS)
def test_order_batches_and_merge_change_nothing(metric: Literal["euclidean", "cosine"]) -> None:
    X, y = draw()
    whole = NearestClassMean(metric=metric).partial_fit(X, y)
    backwards = NearestClassMean(metric=metric)
    for start in range(0, 50, 7):
        rows = np.arange(89, -1, -1)[start : min(start + 7, 50)]
        backwards.partial_fit(X[rows], y[rows])
    backwards.merge(NearestClassMean(metric=metric).partial_fit(X[:40], y[:40]))
    np.testing.assert_allclose(backwards.class_scores(X), whole.class_scores(X), atol=1e-10)


def test_forget_leaves_the_other_scores_and_save_goes_round() -> None:
    X, y = draw()
    model = NearestClassMean().partial_fit(X, y)
    before = model.class_scores(X)
    # A narrower product is another one to a BLAS: equal up to rounding.
    np.testing.assert_allclose(model.forget(1).class_scores(X), before[:, [0, 2]], rtol=1e-9, atol=1e-12)
    twin = NearestClassMean().set_state(model.state())
    np.testing.assert_array_equal(twin.class_scores(X), model.class_scores(X))


def test_merging_different_metrics_is_refused() -> None:
    with pytest.raises(ValueError, match="differ in metric"):
        NearestClassMean().merge(NearestClassMean(metric="cosine"))


def test_unknown_metric_is_named() -> None:
    with pytest.raises(ValueError, match="metric must be one of"):
        NearestClassMean(metric="manhattan").partial_fit(np.eye(2), [0, 1])  # type: ignore[arg-type]


@pytest.mark.data
def test_cub_200() -> None:
    folders = [Path(folder) for folder in os.environ.get("I2CANSAY_DATA", "").split(os.pathsep) if folder]
    places = [f for f in folders if (f / "cub200_efflite0_train.npz").exists()]
    if not places:
        pytest.skip("no CUB-200 features in the folders of I2CANSAY_DATA")
    train, test = (np.load(places[0] / f"cub200_efflite0_{part}.npz") for part in ("train", "test"))
    model = NearestClassMean().partial_fit(train["F"].astype(np.float32), train["y"])
    assert 100 * model.score(test["F"].astype(np.float32), test["y"]) == pytest.approx(65.65, abs=0.2)
