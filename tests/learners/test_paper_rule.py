from typing import Any

import numpy as np
import pytest

from i2cansay.core.buffers.reservoir import Reservoir
from i2cansay.core.paper.head import LinearHead
from i2cansay.core.types import Features, Rows
from i2cansay.learners.paper_rule import REPLAYED, PaperRule, PaperSettings

C, D = 3, 5
SETTINGS = PaperSettings(
    lr=0.02,
    weight_decay=5e-5,
    momentum=0.0,
    beta=2.0,
    alpha=1e-8,
    n_pseudo=1.0,
    old_classes="all",
    pseudo="ican",
    significance=True,
    distance="euclidean",
    bias_scale="paper",
    memory_size=0,
)
# The head alone: no pseudo-features, no correction.
BARE = SETTINGS._replace(pseudo=None, significance=False)


def samples(n: int = 60, seed: int = 0) -> tuple[Features, Rows]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % C
    return (rng.standard_normal((n, D)) + 2 * np.eye(C, D)[y]).astype(np.float32), y


def taught(X: Features, y: Rows, settings: PaperSettings = SETTINGS, batch: int = 12) -> PaperRule:
    rule, rng = PaperRule(D, settings), np.random.default_rng(0)
    rule.resize(C)
    for start in range(0, len(X), batch):
        rule.learn(X[start : start + batch], y[start : start + batch], None, rng)
    return rule


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
def test_settings_that_make_no_sense_are_named(name: str, value: Any, sentence: str) -> None:
    SETTINGS.check()
    with pytest.raises(ValueError, match=f"{sentence}.*got {value!r}"):
        SETTINGS._replace(**{name: value}).check()


def test_without_pseudo_features_and_significance_only_a_head_with_a_bias_is_left() -> None:
    X, y = samples()
    head = LinearHead(D, bias=True)
    head.resize(C)
    for start in range(0, len(X), 12):
        batch = slice(start, start + 12)
        head.step(X[batch], y[batch], np.full(12, 1 / 12), lr=BARE.lr, weight_decay=BARE.weight_decay)
    np.testing.assert_allclose(taught(X, y, BARE).scores(X), head.logits(X), rtol=1e-6, atol=1e-7)


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
            lr=BARE.lr,
            weight_decay=BARE.weight_decay,
        )
        reservoir.add(X[batch], y[batch], rng)
    rule = taught(X, y, BARE._replace(memory_size=20))
    np.testing.assert_allclose(rule.scores(X), head.logits(X), rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(rule.state()["memory.rows"], reservoir.state()["rows"])


def test_first_class_alone_has_nothing_to_be_moved_to() -> None:
    X, y = samples()
    states = []
    for settings in (SETTINGS, SETTINGS._replace(pseudo=None)):
        rule, rng = PaperRule(D, settings), np.random.default_rng(0)
        rule.resize(1)
        rule.learn(X, np.zeros_like(y), None, rng)
        states.append((rule.state()["head.weights"], rng.bit_generator.state))
    np.testing.assert_array_equal(states[0][0], states[1][0])
    assert states[0][1] == states[1][1]  # nothing was drawn


def test_weights_of_samples_are_shares_of_the_step_whatever_their_sum() -> None:
    X, y = samples(12)
    rules = [PaperRule(D, BARE) for _ in range(2)]
    weights = np.linspace(0.5, 2.0, 12)
    for rule, factor in zip(rules, (1.0, 8.0), strict=True):
        rule.resize(C)
        rule.learn(X, y, factor * weights, np.random.default_rng(0))
    np.testing.assert_allclose(rules[1].scores(X), rules[0].scores(X), rtol=1e-6)
    np.testing.assert_allclose(rules[1].counts, 8 * rules[0].counts)
    assert not np.allclose(taught(X, y, BARE).scores(X), rules[0].scores(X), rtol=1e-3)


def test_what_is_unlearnt_leaves_the_buffer_and_the_distances() -> None:
    X, y = samples()
    rule = taught(X, y, SETTINGS._replace(memory_size=100))
    rule.scores(X)  # the significances are made, and must be made again
    rule.unlearn(X[:30], y[:30], None)
    np.testing.assert_array_equal(rule.state()["memory.rows"], X[30:])
    fresh = PaperRule(D, rule.settings)
    fresh.restore(rule.state(), C)
    np.testing.assert_array_equal(rule.scores(X), fresh.scores(X))


def test_merged_heads_are_weighed_by_the_samples_of_each_class() -> None:
    X, y = samples()
    mine, theirs = taught(X[:12], y[:12]), taught(X[12:48], y[12:48])
    a, b = mine.head.weights.copy(), theirs.head.weights.copy()
    mine.merge(theirs, np.arange(C), np.random.default_rng(0))
    np.testing.assert_allclose(mine.head.weights, 0.25 * a + 0.75 * b, rtol=1e-5, atol=1e-8)


def test_merged_buffers_hold_rows_of_both() -> None:
    X, y = samples()
    mine, theirs = (
        taught(part, y[:30], SETTINGS._replace(memory_size=30), batch=10) for part in (X[:30], X[30:])
    )
    mine.merge(theirs, np.arange(C), np.random.default_rng(0))
    held = mine.state()["memory.rows"]
    own = (held[:, None] == X[:30]).all(axis=2).any(axis=1)
    assert len(held) == 30
    assert 5 < own.sum() < 25


def test_state_has_a_buffer_only_where_there_is_one() -> None:
    X, y = samples()
    assert not any(name.startswith("memory.") for name in taught(X, y).state())
    assert "memory.rows" in taught(X, y, SETTINGS._replace(memory_size=5)).state()


def test_state_of_other_classes_or_features_is_refused() -> None:
    X, y = samples()
    state = taught(X, y).state()
    for n_features, n_classes in ((D, C + 1), (D + 1, C)):
        with pytest.raises(
            ValueError, match=f"expected statistics of {n_classes} classes with {n_features} features"
        ):
            PaperRule(n_features, SETTINGS).restore(state, n_classes)
