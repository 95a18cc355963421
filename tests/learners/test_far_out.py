"""Very wide, very small, very many: each has a sane answer, or a sentence."""

import warnings
from typing import Any

import numpy as np
import pytest

from i2cansay import make_learner
from i2cansay.core.linalg.symmetric import MatrixTooLarge
from i2cansay.core.statistics import discriminant
from tests.learners.shared.material import digits, shared


@pytest.mark.parametrize(
    ("name", "parameters", "width"),
    [
        ("slda", {}, 300_000),
        ("ridge", {}, 300_000),
        ("fecam", {}, 300_000),
        ("ranpac", {"n_projections": 300_000}, 2),
        ("ranpac_recent", {"n_projections": 300_000}, 2),
        ("gacl", {"n_projections": 300_000}, 2),
        ("foal", {"n_projections": 300_000}, 2),
        ("air", {"n_projections": 300_000}, 2),
        ("rff_lda", {"n_projections": 300_000}, 2),
        ("klda", {"n_projections": 300_000}, 2),
        ("i2cansay_shared", {"lift": 300_000}, 2),
    ],
)
def test_a_covariance_larger_than_memory_is_refused_with_its_size(
    name: str, parameters: dict[str, Any], width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("i2cansay.core.linalg.symmetric.physical_memory", lambda: 32 * 2**30)
    learner = make_learner(name, **parameters)
    with pytest.raises(
        MatrixTooLarge, match=r"covariance of 300\d* dimensions takes .* GB, .* 34.4 GB; reduce"
    ):
        learner.partial_fit(np.ones((2, width), dtype=np.float32), [0, 1])
    assert not hasattr(learner, "classes_")


# -- small values -----------------------------------------------------------------------------------------------


def decisions(scale: float, **parameters: Any) -> Any:
    X, y = digits()
    X, y = scale * X[:300].astype(np.float64), y[:300]
    model = shared(**parameters)
    for start in range(0, 250, 50):
        model.partial_fit(X[start : start + 50], y[start : start + 50])
    return model.predict(X)


@pytest.mark.parametrize(
    "parameters", [{}, {"feature_transform": "none"}, {"analogies": False}, {"lift": 20}]
)
def test_a_power_of_two_changes_no_decision(parameters: dict[str, Any]) -> None:
    expected = decisions(1.0, **parameters)
    for exponent in (-36, -20, 10, 44):  # 1e-11 to 1e13
        np.testing.assert_array_equal(decisions(2.0**exponent, **parameters), expected)


@pytest.mark.parametrize("parameters", [{}, {"feature_transform": "none"}])
def test_what_float32_cannot_hold_is_decided_by_the_closed_form(parameters: dict[str, Any]) -> None:
    expected = decisions(1.0, analogies=False, **parameters)
    for exponent in (-126, -149, -250):  # at 1e-38 there were warnings of an overflow, and nonsense
        np.testing.assert_array_equal(decisions(2.0**exponent, **parameters), expected)


@pytest.mark.parametrize("parameters", [{}, {"feature_transform": "none"}, {"lift": 20}])
def test_values_next_to_nothing_are_answered_without_a_word(parameters: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for scale in (2.0**-500, 2.0**-1000, 5e-324, 0.0):
            assert set(decisions(scale, **parameters).tolist()) <= set(range(10))


# -- many classes -----------------------------------------------------------------------------------------------


def test_novelty_of_more_classes_than_dimensions_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    for per_class in (1, 3):
        y = np.arange(90) // per_class
        X = rng.standard_normal((90, 12)) + 3 * rng.standard_normal((90, 12))[y]
        model = shared().partial_fit(X, y)
        by_dimensions = model.novelty(X)
        with monkeypatch.context() as patch:
            patch.setattr("i2cansay.learners.shared.feature_map.FeatureMap.width", property(lambda _: 10**6))
            by_classes = model.novelty(X)
        np.testing.assert_allclose(by_dimensions, by_classes, rtol=1e-8, atol=1e-10)


def test_of_very_many_classes_those_farthest_out_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discriminant, "MOST_JUDGED", 5)
    lengths = np.array([9.0, 1.0, 8.0, 2.0, 7.0, 3.0, 6.0])
    assert discriminant.farthest(lengths).tolist() == [0, 2, 4, 5, 6]
    X, y = digits()
    for analogies in (True, False):
        model = shared(analogies=analogies)
        for start in range(0, 600, 50):
            model.partial_fit(X[start : start + 50], y[start : start + 50])
        assert model.score(X[600:], y[600:]) > 0.85


def test_pairs_of_many_classes_are_never_all_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discriminant, "MOST_JUDGED", 5)
    shapes: list[tuple[int, ...]] = []
    largest_safe_strength = discriminant.largest_safe_strength

    def noted(shrink_means: float, products: Any) -> float:
        shapes.append(products.shape)
        return largest_safe_strength(shrink_means, products)

    monkeypatch.setattr(discriminant, "largest_safe_strength", noted)
    X = np.random.default_rng(0).standard_normal((80, 4))
    model = shared().partial_fit(X, np.arange(80) // 2)
    model.predict(X)
    assert len(shapes) == 2
    assert set(shapes) == {(5, 5)}
