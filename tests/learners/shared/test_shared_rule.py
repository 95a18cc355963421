from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from i2cansay.core.linalg.symmetric import SymmetricMatrix, unpack32
from i2cansay.core.statistics.discriminant import (
    cross_validated_penalty,
    cross_validated_shrinkage,
    shrink_means,
)
from i2cansay.core.statistics.scatter import SharedScatter, oas_shrinkage
from i2cansay.learners.shared.preconditioned_head import PreconditionedHead
from i2cansay.learners.shared.shared_rule import HEAD_SHARE, SharedRule, SharedSettings

C, D = 4, 6
SETTINGS = SharedSettings(
    lr=0.02,
    beta=2.0,
    n_pseudo=1.0,
    old_classes="all",
    analogies=True,
    feature_transform="auto",
    shrinkage="gcv",
    shrink_means=0.02,
    lift=0,
    prior="uniform",
    forgetting=0.0,
)


def draw(n: int = 200, d: int = D, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % C
    centres = np.random.default_rng(99).standard_normal((C, d))
    return (rng.standard_normal((n, d)) + centres[y]).astype(np.float32), y


def taught(
    X: np.ndarray, y: np.ndarray, settings: SharedSettings = SETTINGS, batch: int = 20, seed: int = 0
) -> SharedRule:
    rule, rng = SharedRule(X.shape[1], settings, seed), np.random.default_rng(seed)
    rule.resize(C)
    for start in range(0, len(X), batch):
        rule.learn(X[start : start + batch], y[start : start + batch], None, rng)
    return rule


def closed_form(X: np.ndarray, y: np.ndarray, shrinkage: float) -> np.ndarray:
    scatter = SharedScatter(X.shape[1])
    scatter.resize(C)
    scatter.add(X, y)
    return shrink_means(scatter, shrinkage, SETTINGS.shrink_means).scores.of(X)


def inverse_of(state: Mapping[str, np.ndarray]) -> np.ndarray:
    return unpack32(D, state["shared.inverse"])


@pytest.mark.parametrize("analogies", [True, False])
def test_every_way_to_a_shrinkage(analogies: bool) -> None:
    X, y = draw()
    settings = SETTINGS._replace(analogies=analogies)
    for chosen in (0.2, 1):
        assert taught(X, y, settings._replace(shrinkage=chosen)).shrinkage() == chosen
    rule = taught(X, y, settings._replace(shrinkage="oas"))
    assert rule.shrinkage() == oas_shrinkage(rule.scatter.matrix, 200)
    rule = taught(X, y, settings, batch=200)
    assert rule.shrinkage() == pytest.approx(cross_validated_shrinkage(rule.scatter))


def test_penalty_stays_between_inverses_and_the_shrinkage_falls_with_the_samples() -> None:
    X, y = draw(220)
    rule = taught(X[:200], y[:200], batch=200)
    before = rule.shrinkage()
    rule.learn(X[200:], y[200:], None, np.random.default_rng(0))
    penalty = (
        200 * before / (1 - before)
    )  # far more samples than dimensions: lowered as far as it goes, both times
    assert rule.shrinkage() == pytest.approx(penalty / (penalty + 220))


def test_scores_are_the_closed_form_divided_by_the_temperature_plus_a_share_of_the_head() -> None:
    X, y = draw()
    settings = SETTINGS._replace(shrinkage=0.2)
    rule = taught(X, y, settings)
    state = rule.state()
    head = (X - state["shared.head_centre"]) @ state["shared.weights"].T
    assert np.abs(head).max() > 1e-3
    expected = closed_form(X, y, 0.2) / rule.temperature + HEAD_SHARE * head
    np.testing.assert_allclose(rule.scores(X), expected, rtol=1e-4, atol=1e-5)
    alone = taught(X, y, settings._replace(analogies=False))
    np.testing.assert_allclose(alone.scores(X), closed_form(X, y, 0.2), rtol=1e-8, atol=1e-8)
    assert "shared.weights" not in alone.state()


@pytest.mark.parametrize(
    ("per_class", "classes", "temperature"), [(20, 60, 1.0), (160, 60, 2.0), (4000, 60, 3.0), (4000, 5, 1.0)]
)
def test_temperature_grows_with_samples_per_class_up_to_a_share_of_the_classes(
    per_class: int, classes: int, temperature: float
) -> None:
    rule, rng = SharedRule(D, SETTINGS, 0), np.random.default_rng(0)
    rule.resize(classes)
    X, weights = rng.standard_normal((classes, D)).astype(np.float32), np.full(classes, float(per_class))
    rule.scatter.add(X, np.arange(classes), weights)
    assert rule.temperature == pytest.approx(temperature)


def test_asking_changes_nothing_of_what_is_learnt_next() -> None:
    X, y = draw()
    silent, asked = taught(X[:40], y[:40]), taught(X[:40], y[:40])
    for start in range(40, 200, 20):
        rows = slice(start, start + 20)
        asked.scores(X)
        for rule in (silent, asked):
            rule.learn(X[rows], y[rows], None, np.random.default_rng(start))
    for name, array in silent.state().items():
        np.testing.assert_array_equal(asked.state()[name], array)


def test_inverses_are_made_as_often_as_the_logarithm_of_the_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[float] = []
    inverse = SharedScatter.shrunk_inverse

    def counted(scatter: SharedScatter, shrinkage: float) -> SymmetricMatrix:
        made.append(scatter.means.total)
        return inverse(scatter, shrinkage)

    monkeypatch.setattr(SharedScatter, "shrunk_inverse", counted)
    X, y = draw(4000)
    taught(X, y, batch=10)
    assert 15 < len(made) <= 2 + np.log(4000 / 10) / np.log(1.3)
    # What fades makes way for as much that is new: then one for each 30% of what is remembered.
    made.clear()
    taught(X, y, SETTINGS._replace(forgetting=0.005), batch=10)
    assert max(np.diff(made)) < 0.3 * 200 + 10
    assert 4000 / (0.3 * 200) * 0.7 < len(made) < 4000 / (0.3 * 200) * 1.5


def watched(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, float]]:
    """Return a list that fills with the sample count and outcome of every choice of a penalty."""
    chosen: list[tuple[float, float]] = []

    def watching(scatter: SharedScatter, begin: float = 0.0) -> float:
        chosen.append((scatter.means.total, cross_validated_penalty(scatter, begin)))
        return chosen[-1][1]

    monkeypatch.setattr("i2cansay.learners.shared.shared_rule.cross_validated_penalty", watching)
    return chosen


def test_penalty_that_has_not_fallen_is_chosen_anew_from_twice_as_many_samples(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chosen = watched(monkeypatch)
    X, y = draw(4000)
    rule = taught(X, y, batch=10)
    fell = [False, *(late[1] < early[1] for early, late in pairwise(chosen))]
    for has_fallen, (early, late) in zip(fell, pairwise(count for count, _ in chosen), strict=False):
        assert late < 1.4 * early + 10 if has_fallen else late >= 2 * early
    assert any(fell)
    assert not all(fell)
    asked = len(chosen)
    rule.scores(X[:3])  # asking makes no further choice
    assert len(chosen) == asked


@pytest.mark.parametrize("batch", [1, 7, 50])
def test_penalty_falls_as_fast_as_samples_ask_for_however_they_come(batch: int) -> None:
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(800) % C)
    mixing = rng.standard_normal((30, 30)) / 5
    X = rng.standard_normal((800, 30)) @ mixing + rng.standard_normal((C, 30))[y]
    rule = taught(X.astype(np.float32), y, batch=batch)
    best = cross_validated_penalty(rule.scatter)
    assert best / 4 < rule._penalty < best * 4


def test_penalty_is_chosen_anew_also_where_samples_fade_as_fast_as_they_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chosen = watched(monkeypatch)
    X, y = draw(4000)
    taught(X, y, SETTINGS._replace(forgetting=0.005), batch=10)
    assert sum(count > 190 for count, _ in chosen) > 5


def test_what_fades_is_the_same_in_any_batches() -> None:
    X, y = draw(60)
    settings = SETTINGS._replace(forgetting=0.01, analogies=False)
    once, each = taught(X, y, settings, batch=60), taught(X, y, settings, batch=1)
    np.testing.assert_allclose(once.counts, each.counts)
    np.testing.assert_allclose(once.means, each.means, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(once.scatter.matrix.packed, each.scatter.matrix.packed, rtol=1e-4, atol=1e-4)


def test_part_of_a_batch_that_is_moved_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[np.ndarray] = []
    step = PreconditionedHead.step

    def watching(head: PreconditionedHead, *arguments: Any, sources: np.ndarray, **others: Any) -> None:
        moved.append(sources)
        step(head, *arguments, sources=sources, **others)

    monkeypatch.setattr(PreconditionedHead, "step", watching)
    X, y = draw(400)
    taught(X, y, SETTINGS._replace(n_pseudo=0.5))
    assert {len(rows) for rows in moved} == {10}
    assert set(np.concatenate(moved).tolist()) == set(range(20))


def test_head_waits_for_some_spread() -> None:
    X, y = draw()
    rule = taught(X[:4], y[:4])  # one sample of each
    rule.train(X[:4], y[:4], None, np.random.default_rng(0))
    assert not rule.state()["shared.weights"].any()
    assert (rule.scores(X[:4]).argmax(axis=1) == y[:4]).all()
    rule.learn(X[4:5], y[4:5], None, np.random.default_rng(0))
    assert rule.state()["shared.weights"].any()
    np.testing.assert_allclose(
        inverse_of(rule.state()), rule.scatter.shrunk_inverse(rule.shrinkage()).into_dense32(), rtol=1e-5
    )


@pytest.mark.parametrize("forgetting", [0.0, 0.01])
def test_pulled_means_are_those_of_the_statistics_all_along(forgetting: float) -> None:
    X, y = draw()
    rule, rng = SharedRule(D, SETTINGS._replace(forgetting=forgetting), 0), np.random.default_rng(0)
    rule.resize(C)
    for start in range(0, 200, 10):
        batch = slice(start, start + 10)
        rule.learn(X[batch], y[batch], np.linspace(0.5, 2.0, 10), rng)
        state = rule.state()
        expected = (rule.scatter.means.mean - state["shared.head_centre"]) @ inverse_of(state)
        np.testing.assert_allclose(state["shared.pulled"], expected, rtol=1e-4, atol=1e-4)


def test_further_training_moves_the_head_alone() -> None:
    X, y = draw()
    rule = taught(X, y)
    before = {name: array.copy() for name, array in rule.state().items()}
    rule.train(X, y, None, np.random.default_rng(0))
    changed = {name for name, array in rule.state().items() if not np.array_equal(array, before[name])}
    assert changed == {"shared.weights"}


def test_old_classes_absent_from_the_batch_are_the_only_ones_moved_into() -> None:
    # A batch of all classes leaves none: the step is then one without analogies.
    X, y = draw(20)
    absent = taught(X, y, SETTINGS._replace(old_classes="absent"))
    nobody = taught(X, y, SETTINGS._replace(n_pseudo=0.0))
    np.testing.assert_array_equal(absent.state()["shared.weights"], nobody.state()["shared.weights"])
    assert not np.array_equal(taught(X, y).state()["shared.weights"], nobody.state()["shared.weights"])


def test_merging_rules_of_other_features_is_refused() -> None:
    X, y = draw()
    signed, rooted = taught(X, y), taught(np.abs(X), y)
    with pytest.raises(ValueError, match="square root"):
        signed.check_mergeable(rooted)
    lifted = [taught(X, y, SETTINGS._replace(lift=5), seed=seed) for seed in (0, 0, 1)]
    lifted[0].check_mergeable(lifted[1])
    with pytest.raises(ValueError, match="same random_state"):
        lifted[0].check_mergeable(lifted[2])
    signed.check_mergeable(taught(X, y, seed=1))  # nothing was drawn


def test_merged_heads_are_weighed_by_the_samples_of_each_class() -> None:
    X, y = draw(160)
    mine, theirs = taught(X[:40], y[:40]), taught(X[40:], y[40:])
    a, b = mine.state()["shared.weights"].copy(), theirs.state()["shared.weights"].copy()
    mine.merge(theirs, np.arange(C), np.random.default_rng(0))
    np.testing.assert_allclose(mine.state()["shared.weights"], 0.25 * a + 0.75 * b, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(mine.scatter.means.count, 40.0)
    np.testing.assert_allclose(mine.shrinkage(), cross_validated_shrinkage(mine.scatter))


def test_unlearning_names_the_classes_that_have_nothing_left() -> None:
    X, y = draw()
    rule = taught(X, y)
    assert rule.unlearn(X[:20], y[:20], None).tolist() == []
    assert rule.unlearn(X[20:][y[20:] == 2], y[20:][y[20:] == 2], None).tolist() == [2]


def test_damaged_state_is_named() -> None:
    X, y = draw()
    state = taught(X, y).state()
    for name, match in [("shrinkage", "three numbers"), ("features", "two numbers"), ("weights", "of shape")]:
        with pytest.raises(ValueError, match=match):
            SharedRule(D, SETTINGS, 0).restore({**state, f"shared.{name}": np.zeros(7)}, C)


def test_wide_features_are_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("i2cansay.learners.shared.feature_map.WIDEST", 64)
    X, y = draw(300, d=500)
    rule = taught(X[:200], y[:200], SETTINGS._replace(lift=20))
    assert rule.scatter.matrix.size == 64 + 20  # the lift stands beside the fold
    assert (rule.scores(X[200:]).argmax(axis=1) == y[200:]).mean() > 0.9


def test_head_draws_in_no_further_than_classes_on_one_line_can_bear() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(400) % C
    X = rng.standard_normal((400, D)) * 0.1
    X[:, 0] += 10.0 * y
    settings = SETTINGS._replace(feature_transform="none")
    assert taught(X.astype(np.float32), y, settings)._shrink_means < SETTINGS.shrink_means
    assert taught(*draw(), settings)._shrink_means == SETTINGS.shrink_means
