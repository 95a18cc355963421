"""How strange a row is to `SharedI2CANSAY`: against a slow computation, and on a class that was never taught."""

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

from i2cansay import SharedI2CANSAY
from i2cansay.testing.blobs import blobs
from i2cansay.testing.requirements import state_difference

FIXED: dict[str, Any] = {"lift": 0, "feature_transform": "none", "shrinkage": 0.2}


def drawn(n: int = 300, d: int = 5, n_classes: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    centres = 2 * np.random.default_rng(99).standard_normal((n_classes, d))
    return rng.standard_normal((n, d)) + centres[y], y


@pytest.mark.parametrize("prior", ["uniform", "empirical"])
def test_it_is_the_distance_to_the_nearest_class_less_the_distance_to_everything(prior: Any) -> None:
    X, y = drawn()
    model = SharedI2CANSAY(prior=prior, random_state=0, **FIXED).partial_fit(X, y)
    asked = drawn(seed=1)[0]

    means = np.stack([X[y == label].mean(axis=0) for label in range(4)])
    centre = means.mean(axis=0)
    within = np.cov((X - means[y]).T, bias=True)
    within = 0.8 * within + 0.2 * np.trace(within) / 5 * np.eye(5)
    offsets = means - centre
    everything = within + np.einsum("ci,cj->ij", offsets, offsets) / 4

    def squared(rows: np.ndarray, covariance: np.ndarray) -> np.ndarray:
        distances: np.ndarray = np.einsum("ni,ij,nj->n", rows, np.linalg.inv(covariance), rows)
        return distances

    nearest = np.min([squared(asked - mean, within) for mean in means], axis=0)
    np.testing.assert_allclose(model.novelty(asked), nearest - squared(asked - centre, everything), rtol=1e-8)


def test_rows_of_a_class_never_taught_are_stranger() -> None:
    X, y = drawn(n=600, d=8, n_classes=6)
    model = SharedI2CANSAY(lift=0, random_state=0).partial_fit(X[y < 5], y[y < 5])
    asked, truth = drawn(n=600, d=8, n_classes=6, seed=1)
    assert roc_auc_score(truth == 5, model.novelty(asked)) > 0.9


def test_it_does_not_depend_on_the_unit_of_the_features() -> None:
    X, y = drawn()
    small, large = (
        SharedI2CANSAY(random_state=0, **FIXED).partial_fit(unit * X, y).novelty(unit * X)
        for unit in (0.01, 100.0)
    )
    np.testing.assert_allclose(small, large, rtol=1e-6, atol=1e-6)


def test_asking_changes_nothing() -> None:
    X, y = drawn()
    model = SharedI2CANSAY(lift=0, random_state=0).partial_fit(X, y)
    before = model.state()
    model.novelty(X)
    assert state_difference(before, model.state()) is None


def test_one_class_and_one_sample_are_enough_to_ask() -> None:
    model = SharedI2CANSAY(lift=0, random_state=0).partial_fit([[1.0, 2.0]], ["only"])
    near, far = model.novelty([[1.0, 2.0], [9.0, 2.0]])
    assert np.isfinite([near, far]).all()


def test_bad_questions_are_refused() -> None:
    with pytest.raises(NotFittedError):
        SharedI2CANSAY().novelty([[1.0]])
    model = SharedI2CANSAY(lift=0, random_state=0).partial_fit(*blobs(n_features=3))
    with pytest.raises(ValueError, match="was the encoder changed"):
        model.novelty([[1.0]])


def test_strangers_to_a_single_class_are_strange() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4)) * [1.0, 1.0, 1.0, 5.0]
    model = SharedI2CANSAY(random_state=0, **FIXED).partial_fit(X, np.zeros(60, dtype=int))
    near, far = model.novelty([[0.0, 0.0, 0.0, 9.0], [0.0, 9.0, 0.0, 0.0]])
    assert 0 < near < far / 3  # in units of the spread
