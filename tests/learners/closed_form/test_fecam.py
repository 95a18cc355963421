from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from i2cansay.learners.closed_form import fecam
from i2cansay.learners.closed_form.fecam import FeCAM
from i2cansay.testing import check_learner

PARAMETERS: list[dict[str, Any]] = [
    {},
    {"covariance": "common"},
    {"feature_transform": "none", "gamma1": 9.0},
]


def draw(n: int = 90) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, 3, n))
    return np.abs(rng.standard_normal((n, 5)) + 2 * np.eye(5)[y]), y


def published(
    X: np.ndarray, y: np.ndarray, questions: np.ndarray, gamma: float = 1.0, times: int = 2
) -> np.ndarray:
    """Return the distances as published, class by class, with full inverses; the article shrinks one time."""

    def unit(rows: np.ndarray) -> np.ndarray:
        scaled: np.ndarray = rows / np.linalg.norm(rows, axis=-1, keepdims=True)
        return scaled

    X, questions = np.sqrt(X), np.sqrt(questions)
    columns, eye = [], np.eye(X.shape[1])
    for row in range(3):
        S = np.cov(X[y == row].T)
        for _ in range(times):
            S = S + gamma * np.diag(S).mean() * eye + gamma * S[eye == 0].mean() * (1 - eye)
        deviation = np.sqrt(np.diag(S))
        offset = unit(questions) - unit(X[y == row].mean(axis=0))
        columns.append(
            np.einsum("nd,de,ne->n", offset, np.linalg.inv(S / np.outer(deviation, deviation)), offset)
        )
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("parameters", PARAMETERS)
def test_scikit_learn_and_the_contract_accept_it(parameters: dict[str, Any]) -> None:
    check_estimator(
        FeCAM(**parameters), on_skip=None, expected_failed_checks=dict(FeCAM.expected_failed_checks)
    )
    check_learner(FeCAM(**parameters))


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("gamma", [1.0, 100.0])
def test_distances_are_the_published_ones(gamma: float, times: int) -> None:
    X, y = draw()
    at_once = (1 + gamma) ** times - 1
    model = FeCAM(gamma1=at_once, gamma2=at_once)
    for start in range(0, 90, 7):
        model.partial_fit(X[start : start + 7], y[start : start + 7])
    np.testing.assert_allclose(-model.class_scores(X), published(X, y, X, gamma, times), rtol=1e-3, atol=1e-5)


def test_by_default_it_shrinks_as_the_authors_code_does() -> None:
    X, y = draw()
    scores = FeCAM().partial_fit(X, y).class_scores(X)
    np.testing.assert_allclose(-scores, published(X, y, X, gamma=1.0, times=2), rtol=1e-3, atol=1e-5)


def test_common_covariance_of_classes_that_spread_alike_is_that_of_each() -> None:
    X, _ = draw(30)
    X, y = np.concatenate([X + 3 * k for k in range(3)]), np.repeat([0, 1, 2], 30)
    scores = [
        FeCAM(covariance=kind, feature_transform="none").partial_fit(X, y).class_scores(X)
        for kind in ("class", "common")
    ]
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("parameters", PARAMETERS)
def test_order_blocks_and_merge_change_nothing(
    parameters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = draw()
    expected = FeCAM(**parameters).partial_fit(X, y).class_scores(X)
    monkeypatch.setattr(fecam, "BLOCK", 7)
    shuffled = FeCAM(**parameters)
    for row in np.random.default_rng(1).permutation(60):
        shuffled.partial_fit(X[row : row + 1], y[row : row + 1])
    shuffled.class_scores(X[:3])
    shuffled.merge(FeCAM(**parameters).partial_fit(X[60:], y[60:]))
    np.testing.assert_allclose(shuffled.class_scores(X), expected, rtol=1e-4, atol=1e-6)


def test_forgetting_a_class_leaves_the_others_untouched() -> None:
    X, y = draw()
    model = FeCAM().partial_fit(X, y)
    before = model.class_scores(X)
    np.testing.assert_array_equal(model.forget(1).class_scores(X), before[:, [0, 2]])
    without = FeCAM().partial_fit(X[y != 1], y[y != 1])
    np.testing.assert_allclose(model.class_scores(X), without.class_scores(X), rtol=1e-4)


def test_length_of_a_question_does_not_matter() -> None:
    X, y = draw()
    model = FeCAM().partial_fit(X, y)
    np.testing.assert_allclose(model.class_scores(7 * X), model.class_scores(X), rtol=1e-4, atol=1e-7)


def test_parameters_are_checked() -> None:
    for wrong, sentence in (
        ({"gamma1": 1.0, "gamma2": 2.0}, "gamma2 must be at most gamma1"),
        ({"covariance": "diagonal"}, "covariance must be one of"),
        ({"feature_transform": "log"}, "feature_transform must be one of"),
    ):
        with pytest.raises(ValueError, match=sentence):
            FeCAM(**wrong).partial_fit(np.eye(2), [0, 1])
