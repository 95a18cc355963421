"""How `I2CANSAY` makes its steps of its parts: head, pseudo-features, correction and buffer."""

from typing import Any

import numpy as np
import pytest

from i2cansay.core.buffers.reservoir import Reservoir
from i2cansay.core.paper.head import LinearHead
from i2cansay.core.types import Features, Rows
from i2cansay.learners.i2cansay import I2CANSAY, REPLAYED

C, D = 3, 5
# The head alone: no pseudo-features, no correction.
BARE: dict[str, Any] = {"pseudo": None, "significance": False}
STEP = {"lr": 0.02, "weight_decay": 5e-5}


def samples(n: int = 60, seed: int = 0) -> tuple[Features, Rows]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % C
    return (rng.standard_normal((n, D)) + 2 * np.eye(C, D)[y]).astype(np.float32), y


def taught(X: Features, y: Rows, batch: int = 12, **parameters: Any) -> I2CANSAY:
    model = I2CANSAY(random_state=0, **parameters)
    for start in range(0, len(X), batch):
        model.partial_fit(X[start : start + batch], y[start : start + batch])
    return model


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("lr", 0.0, "lr must be a number above 0"),
        ("alpha", -1.0, "alpha must be a number above 0"),
        ("weight_decay", -1.0, "weight_decay must be a number of at least 0"),
        ("momentum", -0.5, "momentum must be a number of at least 0"),
        ("beta", np.nan, "beta must be a number of at least 0"),
        ("n_pseudo", -1.0, "n_pseudo must be a number of at least 0"),
        ("memory_size", 1.5, "memory_size must be a whole number"),
        ("significance", "yes", "significance must be one of True, False"),
        ("old_classes", "some", "old_classes must be one of 'all', 'absent'"),
        ("pseudo", "noise", "pseudo must be one of 'ican'"),
        ("distance", "cosine", "distance must be one of 'euclidean'"),
        ("bias_scale", "none", "bias_scale must be one of 'paper', 'mean'"),
    ],
)
def test_parameters_that_make_no_sense_are_named(name: str, value: Any, sentence: str) -> None:
    model = I2CANSAY(**{name: value})
    with pytest.raises(ValueError, match=f"{sentence}.*got {value!r}"):
        model.partial_fit([[0.0]], [0])
    assert not hasattr(model, "classes_")


def test_without_pseudo_features_and_significance_only_a_head_with_a_bias_is_left() -> None:
    X, y = samples()
    head = LinearHead(D, bias=True)
    head.resize(C)
    for start in range(0, len(X), 12):
        batch = slice(start, start + 12)
        head.step(X[batch], y[batch], np.full(12, 1 / 12), **STEP)
    np.testing.assert_allclose(taught(X, y, **BARE).class_scores(X), head.logits(X), rtol=1e-6, atol=1e-7)


def test_replayed_rows_are_of_earlier_batches_and_weigh_as_much_as_the_batch() -> None:
    X, y = samples()
    head, reservoir, rng = LinearHead(D, bias=True), Reservoir(20, D), np.random.default_rng(0)
    head.resize(C)
    for start in range(0, len(X), 12):
        batch = slice(start, start + 12)
        replayed, rows = reservoir.draw(REPLAYED, rng) if start else (X[:0], y[:0])
        weights = np.r_[np.full(12, 1 / 12), np.full(len(rows), 1 / max(len(rows), 1))]
        head.step(
            np.concatenate([X[batch], replayed]),
            np.concatenate([y[batch], rows]),
            weights,
            **STEP,
        )
        reservoir.add(X[batch], y[batch], rng)
    model = taught(X, y, memory_size=20, **BARE)
    np.testing.assert_allclose(model.class_scores(X), head.logits(X), rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(model.state()["memory.rows"], reservoir.state()["rows"])


def test_first_class_alone_has_nothing_to_be_moved_to() -> None:
    X, y = samples()
    models = [I2CANSAY(random_state=0, pseudo=kind) for kind in ("ican", None)]
    for model in models:
        model.partial_fit(X, np.zeros_like(y))
    first, second = (model.state()["head.weights"] for model in models)
    np.testing.assert_array_equal(first, second)
    states = [model._rng.bit_generator.state for model in models]
    assert states[0] == states[1]  # nothing was drawn


def test_weights_of_samples_are_shares_of_the_step_whatever_their_sum() -> None:
    X, y = samples(12)
    weights = np.linspace(0.5, 2.0, 12)
    models = [
        I2CANSAY(random_state=0, **BARE).partial_fit(X, y, sample_weight=factor * weights)
        for factor in (1.0, 8.0)
    ]
    np.testing.assert_allclose(models[1].class_scores(X), models[0].class_scores(X), rtol=1e-6)
    np.testing.assert_allclose(models[1].class_counts_, 8 * models[0].class_counts_)
    assert not np.allclose(taught(X, y, **BARE).class_scores(X), models[0].class_scores(X), rtol=1e-3)


def test_what_is_unlearnt_leaves_the_buffer_and_the_distances() -> None:
    X, y = samples()
    model = taught(X, y, memory_size=100)
    model.class_scores(X)  # the significances are made, and must be made again
    model.unlearn(X[:30], y[:30])
    np.testing.assert_array_equal(model.state()["memory.rows"], X[30:])
    fresh = I2CANSAY(random_state=0, memory_size=100).set_state(model.state())
    np.testing.assert_array_equal(model.class_scores(X), fresh.class_scores(X))


def test_merged_buffers_hold_rows_of_both() -> None:
    X, y = samples()
    mine, theirs = (taught(part, y[:30], memory_size=30, batch=10) for part in (X[:30], X[30:]))
    held = mine.merge(theirs).state()["memory.rows"]
    own = (held[:, None] == X[:30]).all(axis=2).any(axis=1)
    assert len(held) == 30
    assert 5 < own.sum() < 25


def test_state_has_a_buffer_only_where_there_is_one() -> None:
    X, y = samples()
    assert not any(name.startswith("memory.") for name in taught(X, y).state())
    assert "memory.rows" in taught(X, y, memory_size=5).state()


def test_state_of_other_classes_or_features_is_refused() -> None:
    X, y = samples()
    state = taught(X, y).state()
    wider = {**state, "progress": state["progress"] + [1, 0, 0, 0]}
    more = {**state, "labels": taught(X[:4], np.arange(4)).state()["labels"]}
    for forged, n_features, n_classes in ((wider, D + 1, C), (more, D, C + 1)):
        with pytest.raises(ValueError, match=f"should be of {n_classes} classes with {n_features} features"):
            I2CANSAY().set_state(forged)
