"""I2CANSAY at its edges: every variant keeps the contract, and no stream makes a score NaN or infinite."""

from typing import Any

import numpy as np
import pytest

from i2cansay import I2CANSAY
from i2cansay.core.types import Features
from i2cansay.testing import check_learner
from i2cansay.testing.blobs import Samples, batches, blobs
from i2cansay.testing.requirements import state_difference, teach

VARIANTS: list[dict[str, Any]] = [
    {},
    {"significance": False},
    {"significance": False, "momentum": 0.9, "pseudo": None},
    {"momentum": 0.9, "n_pseudo": 0.3},
    {"distance": "squared", "n_pseudo": 2.5, "old_classes": "absent"},
    {"distance": "absolute", "bias_scale": "mean"},
    {"pseudo": "gaussian", "memory_size": 20},
    {"pseudo": "radius"},
    {"pseudo": "first_radius"},
    {"pseudo": "translation"},
    {"source": "nearest"},
    {"pseudo": "translation", "source": "nearest", "old_classes": "absent"},
    {"pseudo": "prototype", "memory_size": 3},
]
variants = pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: "-".join(variant) or "as_printed")


@variants
def test_every_variant_keeps_the_contract(variant: dict[str, Any]) -> None:
    assert check_learner(I2CANSAY(**variant)) > 30


def require_finite(model: I2CANSAY, X: Any) -> Features:
    """Return the scores of `X`, and see that nothing in the model or its answers is NaN or infinite."""
    scores = model.class_scores(X)
    assert np.isfinite(scores).all()
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.isfinite(model.decision_function(X)).all()
    for name, array in model.state().items():
        assert array.dtype.kind != "f" or np.isfinite(array).all(), name
    return scores


@variants
def test_one_sample(variant: dict[str, Any]) -> None:
    model = I2CANSAY(random_state=0, **variant).partial_fit([[1.0, -2.0]], ["only"])
    assert require_finite(model, [[1.0, -2.0], [50.0, 50.0]]).shape == (2, 1)
    assert model.predict([[9.0, 9.0]]).tolist() == ["only"]


@variants
def test_one_sample_of_each_class(variant: dict[str, Any]) -> None:
    model = I2CANSAY(random_state=0, **variant)
    for row, x in enumerate(np.eye(6)):
        model.partial_fit(x[None], [row])
    require_finite(model, np.eye(6))


@variants
def test_constant_dimensions_and_constant_classes(variant: dict[str, Any]) -> None:
    X, y = blobs(per_class=20)
    X[:, 2:] = 7.0
    X[y == 1] = 3.0
    require_finite(teach(I2CANSAY(random_state=0, **variant), batches(Samples(X, y))), X)


@variants
def test_duplicated_samples_under_one_and_under_several_labels(variant: dict[str, Any]) -> None:
    X, y = blobs()
    doubled = Samples(np.repeat(X, 3, axis=0), np.repeat(y, 3))
    require_finite(teach(I2CANSAY(random_state=0, **variant), batches(doubled)), X)
    same = Samples(np.tile(X[:1], (len(y), 1)), y)  # all classes in one point: all distances are zero
    scores = require_finite(teach(I2CANSAY(random_state=0, **variant), batches(same)), X)
    assert scores.shape == (len(X), 4)


@variants
def test_a_point_on_a_prototype_belongs_to_it(variant: dict[str, Any]) -> None:
    X, y = blobs()
    model = teach(I2CANSAY(random_state=0, **variant), batches(Samples(X, y)))
    scores = require_finite(model, model.class_means_)
    if model.significance:
        assert scores.argmax(axis=1).tolist() == [0, 1, 2, 3]


@variants
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32])
def test_any_number_type(dtype: Any, variant: dict[str, Any]) -> None:
    X, y = blobs()
    X = np.round(2 * X)
    given = teach(
        I2CANSAY(random_state=0, **variant),
        (Samples(part.X.astype(dtype), part.y) for part in batches(Samples(X, y))),
    )
    plain = teach(I2CANSAY(random_state=0, **variant), batches(Samples(X, y)))
    scores = require_finite(given, X.astype(dtype))
    np.testing.assert_allclose(scores, plain.class_scores(X), rtol=1e-3, atol=1e-3 * np.abs(scores).max())


@variants
@pytest.mark.parametrize("scale", [1e-30, 1e-8, 1e8, 1e14])
def test_tiny_and_huge_values(scale: float, variant: dict[str, Any]) -> None:
    X, y = blobs(per_class=30)
    model = teach(I2CANSAY(random_state=0, **variant), batches(Samples(X * scale, y)))
    require_finite(model, X * scale)
    require_finite(model, np.concatenate([X * 1e-8, X * 1e8, np.zeros_like(X[:1])]))


@variants
def test_dimensions_of_very_different_scale(variant: dict[str, Any]) -> None:
    X, y = blobs(per_class=30)
    X *= np.array([1e-8, 1e-4, 1.0, 1e2, 1e4, 1e8])
    require_finite(teach(I2CANSAY(random_state=0, **variant), batches(Samples(X, y))), X)


@pytest.mark.parametrize("n_features", [1, 20_000])
def test_one_dimension_and_twenty_thousand(n_features: int) -> None:
    train = blobs(per_class=15, n_features=n_features)
    for variant in ({}, {"distance": "absolute"}, {"significance": False}):
        model = teach(I2CANSAY(random_state=0, **variant), batches(train, (20,)))
        require_finite(model, train.X)
        if n_features > 1:
            assert model.score(train.X, train.y) > 0.9


def test_five_thousand_classes() -> None:
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(5000, 16)).astype(np.float32)
    model = I2CANSAY(random_state=0)
    for _ in range(2):
        for rows in np.array_split(rng.permutation(5000), 10):
            model.partial_fit(centres[rows] + 0.01 * rng.normal(size=(len(rows), 16)), rows)
    assert len(model.classes_) == 5000
    asked = rng.permutation(5000)[:200]
    assert require_finite(model, centres[asked]).shape == (200, 5000)
    assert (model.predict(centres[asked]) == asked).mean() > 0.95


def test_labels_of_growing_length() -> None:
    model = I2CANSAY(random_state=0)
    labels = ["x" * length for length in (3, 1, 10, 100, 1000)]
    for label, x in zip(labels, np.eye(5) * 4, strict=True):
        model.partial_fit([x, x + 0.1], [label, label])
    assert model.classes_.tolist() == sorted(labels)
    assert model.predict(np.eye(5) * 4).tolist() == labels


def test_distances_do_not_suffer_far_from_the_origin() -> None:
    X, y = blobs(per_class=30)
    near = teach(I2CANSAY(lr=1e-30, random_state=0), batches(Samples(X, y)))
    far = teach(I2CANSAY(lr=1e-30, random_state=0), batches(Samples(X + 1e5, y)))
    # With no step taken the scores are the correction alone, which depends on distances only.
    np.testing.assert_allclose(far.class_scores(X + 1e5), near.class_scores(X), rtol=1e-3)


def test_a_class_may_come_in_every_batch_size() -> None:
    X, y = blobs(n_classes=6, per_class=7)
    for size in (1, 2, 3, 42):
        model = teach(I2CANSAY(random_state=0), batches(Samples(X, y), (size,)))
        assert model.class_counts_.tolist() == [7.0] * 6
        np.testing.assert_allclose(model.class_means_, [X[y == c].mean(axis=0) for c in range(6)], rtol=1e-5)
        np.testing.assert_allclose(model.class_stds_, [X[y == c].std(axis=0) for c in range(6)], rtol=1e-4)


@variants
def test_unlearning_what_was_not_taught_changes_nothing(variant: dict[str, Any]) -> None:
    X, y = blobs()
    model = teach(I2CANSAY(random_state=0, **variant), batches(Samples(X, y)))
    before = model.state()
    mistakes: list[tuple[Any, Any, str]] = [
        (X[:1], [99], "99 is not a known class"),
        (X[:1], ["a"], "whole numbers"),
        (X[:1, :2], [0], "expecting 6 features"),
        (np.repeat(X[:1], 13, axis=0), [int(y[0])] * 13, "more samples"),
        (X[:1] + 1e6, [int(y[0])], "cannot be unlearnt"),
        (X[:2], [0], "one label per row"),
    ]
    for features, labels, sentence in mistakes:
        with pytest.raises(ValueError, match=sentence):
            model.unlearn(features, labels)
        assert state_difference(before, model.state()) is None, sentence


@variants
def test_unlearning_everything_leaves_an_empty_model_that_can_learn(variant: dict[str, Any]) -> None:
    X, y = blobs()
    model = teach(I2CANSAY(random_state=0, **variant), batches(Samples(X, y)))
    for part in batches(Samples(X, y), (5, 9)):
        model.unlearn(part.X, part.y)
    assert len(model.classes_) == 0
    model.partial_fit(X, np.array(list("abcd"))[y])
    require_finite(model, X)
    np.testing.assert_allclose(model.class_means_, [X[y == c].mean(axis=0) for c in range(4)], rtol=1e-5)


@variants
def test_merging_what_does_not_fit_changes_nothing(variant: dict[str, Any]) -> None:
    X, y = blobs()
    model = I2CANSAY(random_state=0, **variant).partial_fit(X, y)
    before = model.state()
    others: list[tuple[Any, str]] = [
        (I2CANSAY(random_state=0, **variant).partial_fit(X[:, :3], y), "width"),
        (I2CANSAY(random_state=0, **{**variant, "beta": 0.125}).partial_fit(X, y), "beta"),
        (I2CANSAY(random_state=0, **variant).partial_fit(X, y.astype(str)), "strings"),
        (model, "another learner"),
    ]
    for other, sentence in others:
        with pytest.raises(ValueError, match=sentence):
            model.merge(other)
        assert state_difference(before, model.state()) is None, sentence


@variants
def test_merging_leaves_the_other_as_it_was_and_goes_on(variant: dict[str, Any]) -> None:
    first, second = blobs(n_classes=3), blobs(n_classes=5, seed=1)
    one, two = (I2CANSAY(random_state=0, **variant).partial_fit(*part) for part in (first, second))
    before = two.state()
    assert one.merge(two) is one
    assert state_difference(before, two.state()) is None
    require_finite(one, second.X)
    resumed = I2CANSAY(random_state=0, **variant).set_state(one.state())
    for model in (one, resumed):
        model.partial_fit(*first)
    assert state_difference(one.state(), resumed.state()) is None
    one.merge(I2CANSAY(random_state=0, **variant))  # one that has seen nothing adds nothing
    assert state_difference(one.state(), resumed.state()) is None
    empty = I2CANSAY(random_state=0, **variant).merge(two)
    np.testing.assert_array_equal(empty.class_scores(second.X), two.class_scores(second.X))
