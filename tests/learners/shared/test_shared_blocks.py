"""Features made of several blocks, as the stages of an encoder: none of their units may matter."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from i2cansay import SharedI2CANSAY, load
from i2cansay.testing import learner_checks
from i2cansay.testing.requirements import state_difference
from tests.learners.shared.material import closed_form, shared, taught

WIDTHS = (5, 8, 3)
C, D = 6, sum(WIDTHS)
SECOND = np.repeat([False, True, False], WIDTHS)
PARAMETERS: list[dict[str, Any]] = [
    {},
    {"lift": 12},
    {"shrinkage": "oas"},
    {"forgetting": 0.01},
    {"prior": "empirical", "shrink_means": 0.0},
]


def draw(n: int = 200, seed: int = 0, signed: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return features of correlated blocks; the second one is signed, the others only where asked for."""
    rng, fixed = np.random.default_rng(seed), np.random.default_rng(99)
    y = rng.integers(0, C, n)
    X = rng.standard_normal((n, D)) @ (np.eye(D) + 0.3 * fixed.standard_normal((D, D)))
    X += 1.5 * fixed.standard_normal((C, D))[y]
    return (X if signed else np.where(SECOND, X, np.abs(X))), y


def in_units(X: np.ndarray, *units: float) -> np.ndarray:
    scaled: np.ndarray = X * np.repeat(units, WIDTHS)
    return scaled


def scores(X: np.ndarray, y: np.ndarray, asked: np.ndarray | None = None, **parameters: Any) -> np.ndarray:
    model = closed_form(**{"blocks": WIDTHS, **parameters})
    return taught(model, X, y).class_scores(X if asked is None else asked)


# -- the unit of a block ----------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(
    powers=st.tuples(*[st.integers(-15, 15)] * 3),
    parameters=st.sampled_from(PARAMETERS),
    dtype=st.sampled_from([np.float32, np.float64]),
    signed=st.booleans(),
)
def test_power_of_four_changes_no_bit(
    powers: tuple[int, ...], parameters: dict[str, Any], dtype: type[np.floating], signed: bool
) -> None:
    X, y = draw(signed=signed)
    X = X.astype(dtype)
    other = in_units(X, *(4.0**power for power in powers)).astype(dtype)
    np.testing.assert_array_equal(scores(other, y, **parameters), scores(X, y, **parameters))


@settings(max_examples=25, deadline=None)
@given(
    units=st.tuples(*[st.floats(1e-6, 1e6)] * 3),
    parameters=st.sampled_from(PARAMETERS),
    analogies=st.booleans(),
    first=st.integers(1, 12),
)
def test_any_other_unit_changes_nothing_beyond_rounding(
    units: tuple[float, ...], parameters: dict[str, Any], analogies: bool, first: int
) -> None:
    # Beginning with few samples: also with one of each class at most, when there is no spread yet.
    X, y = draw(120)
    other = in_units(X, *units)
    models = [shared(blocks=WIDTHS, analogies=analogies, **parameters) for _ in range(2)]
    for rows in (slice(0, first), slice(first, 40), slice(40, 120)):
        found = []
        for model, samples in zip(models, (X, other), strict=True):
            model.partial_fit(samples[rows], y[rows])
            found.append(model.class_scores(samples))
        size = np.abs(found[0]).max()
        np.testing.assert_allclose(found[1], found[0], atol=max(1e-3 if analogies else 1e-5, 1e-6 * size))
        if not analogies and "lift" not in parameters:
            np.testing.assert_allclose(found[1], found[0], rtol=1e-7, atol=1e-9 * max(size, 1.0))


def test_one_block_does_depend_on_what_it_is_put_together_of() -> None:
    X, y = draw()
    other = in_units(X, 1.0, 1.0, 100.0)
    assert np.abs(scores(other, y, blocks=None) - scores(X, y, blocks=None)).max() > 0.1


@pytest.mark.parametrize("per_class", [1, 2, 8])
def test_novelty_knows_no_unit_either(per_class: int) -> None:
    X, _ = draw(12 * per_class)
    y = np.repeat(np.arange(12), per_class)
    for n in (1, per_class, len(X)):  # one sample, one class, many
        plain, other = (
            closed_form(blocks=WIDTHS, feature_transform="none").partial_fit(Z[:n], y[:n]).novelty(Z)
            for Z in (X, in_units(X, 1e-4, 3.0, 1e5))
        )
        assert np.ptp(plain) > 0
        np.testing.assert_allclose(other, plain, rtol=1e-6, atol=1e-6)


def test_steps_are_taken_as_long_as_float32_holds_every_block() -> None:
    X, y = draw()
    steps = {}
    for unit in (1.0, 1e-9, 1e-30, 1e14):
        model = taught(shared(blocks=WIDTHS, feature_transform="none"), in_units(X, 1.0, unit, 1.0), y)
        steps[unit] = bool(model.state()["head.weights"].any())
        found = model.class_scores(in_units(X, 1.0, unit, 1.0))
        expected = scores(X, y, feature_transform="none")
        assert (found.argmax(axis=1) == expected.argmax(axis=1)).mean() > 0.9
    assert steps == {1.0: True, 1e-9: True, 1e-30: False, 1e14: True}


# -- one block is what there was, blocks can change places --------------------------------------------------------


@pytest.mark.parametrize("lift", [0, 12])
@pytest.mark.parametrize("analogies", [True, False])
def test_one_block_of_all_dimensions_is_none(lift: int, analogies: bool) -> None:
    X, y = draw()
    none, one = (
        taught(shared(blocks=blocks, lift=lift, analogies=analogies), X, y).unlearn(X[:2], y[:2])
        for blocks in (None, [D])
    )
    assert state_difference(none.state(), one.state()) is None
    np.testing.assert_array_equal(none.class_scores(X), one.class_scores(X))
    np.testing.assert_array_equal(none.novelty(X), one.novelty(X))


@pytest.mark.parametrize("analogies", [True, False])
def test_blocks_that_change_places_change_the_places_of_weights_only(analogies: bool) -> None:
    X, y = draw()
    order = np.concatenate([np.arange(13, 16), np.arange(5), np.arange(5, 13)])
    here, there = (
        taught(shared(blocks=blocks, analogies=analogies), Z, y)
        for blocks, Z in ((WIDTHS, X), ((3, 5, 8), X[:, order]))
    )
    tolerance = 1e-3 if analogies else 1e-9
    np.testing.assert_allclose(
        there.class_scores(X[:, order]), here.class_scores(X), rtol=tolerance, atol=tolerance
    )
    weights, moved = (model._solution.get(model._solve).closed_form.scores.weights for model in (here, there))
    np.testing.assert_allclose(moved, weights[:, order], rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("value", [0.0, 3.0])
@pytest.mark.parametrize("analogies", [True, False])
def test_dead_block_is_as_if_it_were_not_there(value: float, analogies: bool) -> None:
    X, y = draw()
    dead = np.insert(X, 5, np.full((40, 1), value), axis=1)  # forty dimensions between the first two blocks
    for n in (C, 40, 200):
        alive, beside = (
            taught(shared(blocks=blocks, analogies=analogies), Z[:n], y[:n])
            for blocks, Z in ((WIDTHS, X), ((5, 40, 8, 3), dead))
        )
        assert alive.shrinkage_ == pytest.approx(beside.shrinkage_)
        tolerance = 1e-4 if analogies else 1e-9
        np.testing.assert_allclose(
            beside.class_scores(dead), alive.class_scores(X), rtol=tolerance, atol=tolerance
        )
        np.testing.assert_allclose(beside.novelty(dead), alive.novelty(X), rtol=1e-7, atol=1e-8)


def test_block_that_wakes_up_is_learnt_from() -> None:
    rng, y = np.random.default_rng(0), np.arange(600) % C
    X = rng.standard_normal((600, D)) + np.where(np.arange(D) < 5, 4.0, 0.3) * np.eye(C, D)[y]
    asleep = X[:300].copy()
    asleep[:60, :5] = 0.0
    for analogies in (True, False):
        model = shared(blocks=WIDTHS, analogies=analogies, feature_transform="none")
        assert taught(model, asleep[:60], y[:60]).score(X[300:], y[300:]) < 0.5
        assert taught(model, asleep[60:], y[60:300]).score(X[300:], y[300:]) > 0.7


# -- exact in any order, merged, taken back, resumed --------------------------------------------------------------


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), batch=st.integers(1, 60), lift=st.sampled_from([0, 6]))
def test_closed_form_knows_neither_order_nor_batches(seed: int, batch: int, lift: int) -> None:
    X, y = draw(120)
    X = in_units(X, 1e4, 1.0, 1e-7)
    order = np.random.default_rng(seed).permutation(120)
    models = [closed_form(blocks=WIDTHS, lift=lift, feature_transform="none") for _ in range(2)]
    expected = models[0].partial_fit(X, y).class_scores(X)
    found = taught(models[1], X[order], y[order], batch).class_scores(X)
    np.testing.assert_allclose(found, expected, rtol=1e-5 if lift else 1e-8, atol=1e-5 if lift else 1e-8)


@pytest.mark.parametrize("lift", [0, 12])
def test_merged_halves_are_one_pass(lift: int) -> None:
    X, y = draw()
    X = in_units(X, 1e4, 1.0, 1e-7)
    whole = taught(closed_form(blocks=WIDTHS, lift=lift), X, y)
    half, other = (taught(closed_form(blocks=WIDTHS, lift=lift), X[p::2], y[p::2]) for p in (0, 1))
    half.merge(other)
    np.testing.assert_allclose(half.class_scores(X), whole.class_scores(X), rtol=1e-5, atol=1e-5)
    assert half.shrinkage_ == pytest.approx(whole.shrinkage_)


@pytest.mark.parametrize("lift", [0, 12])
@pytest.mark.parametrize("signed", [True, False])
def test_row_of_blocks_far_apart_in_size_is_taken_back(lift: int, signed: bool) -> None:
    X, y = draw(signed=signed)
    X = in_units(X, 1e9, 1.0, 1e-8)
    kept = np.arange(200) % 3 > 0
    settings_ = {"blocks": WIDTHS, "lift": lift, "feature_transform": "none" if signed else "sqrt"}
    never = closed_form(**settings_).partial_fit(X[kept], y[kept])
    model = taught(closed_form(**settings_), X, y).unlearn(X[~kept], y[~kept])
    tolerance = 1e-4 if lift else 1e-6
    np.testing.assert_allclose(model.class_scores(X), never.class_scores(X), rtol=tolerance, atol=tolerance)


def test_outlier_that_one_block_has_swallowed_is_not_taken_back() -> None:
    X, y = draw(signed=True)
    X = in_units(X, 1e9, 1.0, 1.0)
    far = X[:1].copy()
    far[:, 13:] = 1e8
    model = closed_form(blocks=WIDTHS, feature_transform="none").partial_fit(X, y).partial_fit(far, y[:1])
    before = model.state()
    with pytest.raises(ValueError, match=r"too few digits of the rest.*forget the class"):
        model.unlearn(far, y[:1])
    assert state_difference(before, model.state()) is None


@pytest.mark.parametrize("parameters", [{}, {"lift": 12}, {"analogies": False}, {"forgetting": 0.01}])
@pytest.mark.parametrize("blocks", [WIDTHS, list(WIDTHS)])
def test_saved_and_loaded_it_goes_on_bit_for_bit(
    tmp_path: Path, parameters: dict[str, Any], blocks: Any
) -> None:
    X, y = draw()
    model = taught(shared(blocks=blocks, **parameters), X[:100], y[:100])
    if "forgetting" not in parameters:
        model.unlearn(X[:1], y[:1])  # leaves its rounding in the state
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert isinstance(loaded, SharedI2CANSAY)
    assert loaded.blocks == WIDTHS
    for each in (model, loaded):
        taught(each, X[100:], y[100:])
    assert state_difference(model.state(), loaded.state()) is None
    np.testing.assert_array_equal(model.class_scores(X), loaded.class_scores(X))
    if "forgetting" not in parameters:
        loaded.merge(model)  # whether they were given as a list or as a tuple


def test_one_sample_of_each_class_is_enough() -> None:
    X, y = draw(400)
    first = np.array([np.flatnonzero(y == label)[0] for label in range(C)])
    for analogies in (True, False):
        model = shared(blocks=WIDTHS, analogies=analogies).partial_fit(X[first], y[first])
        assert (model.predict(X[first]) == y[first]).all()
        assert model.score(X, y) > 0.3
        assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("analogies", [True, False])
def test_few_samples_of_many_dimensions_are_the_same_in_less_time(
    analogies: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, widths = np.random.default_rng(0), (200, 150, 50)
    y = np.arange(90) % 9
    X = (rng.standard_normal((90, 400)) + rng.standard_normal((9, 400))[y]) * np.repeat(
        [1e-3, 1.0, 1e3], widths
    )

    def found() -> np.ndarray:
        return taught(shared(blocks=widths, analogies=analogies), X, y).class_scores(X)

    whole = found()
    monkeypatch.setattr("i2cansay.core.statistics.scatter.LOW_RANK_FROM", 100)
    np.testing.assert_allclose(found(), whole, rtol=1e-4, atol=1e-4)


def test_contract_of_every_learner_is_kept_with_blocks() -> None:
    for name, check in learner_checks(ByTwo()):
        if name != "constructor_stores_untouched":
            check()


class ByTwo(SharedI2CANSAY):
    """Blocks of one and of all other dimensions, whatever their number."""

    def __init__(self, *, random_state: Any = None) -> None:
        super().__init__(lift=10, random_state=random_state)

    def _feature_map(self, n_features: int, seed: int) -> Any:
        self.blocks = (1, n_features - 1) if n_features > 1 else None
        made = super()._feature_map(n_features, seed)
        self.blocks = None
        return made


# -- square roots, parameters -------------------------------------------------------------------------------------


def test_square_root_is_taken_of_the_blocks_without_anything_below_zero() -> None:
    X, y = draw()
    model = closed_form(blocks=WIDTHS).partial_fit(X, y)
    expected = np.where(SECOND, X, np.sqrt(np.abs(X)))
    for label in range(C):
        np.testing.assert_allclose(model.class_means_[label], expected[y == label].mean(axis=0))
    assert model.state()["features.root_and_seed"][:-1].tolist() == [1, 0, 1]
    for transform, roots in (("sqrt", [1, 1, 1]), ("none", [0, 0, 0])):
        other = closed_form(blocks=WIDTHS, feature_transform=transform).partial_fit(X, y)
        assert other.state()["features.root_and_seed"][:-1].tolist() == roots


def test_merge_names_the_block_that_was_seen_differently() -> None:
    X, y = draw()
    model, other = closed_form(blocks=WIDTHS).partial_fit(X, y), closed_form(blocks=WIDTHS)
    other.partial_fit(in_units(X, 1.0, 1.0, -1.0), y)
    before = model.state()
    with pytest.raises(ValueError, match="square root of block 3 of its features and the other does not"):
        model.merge(other)
    assert state_difference(before, model.state()) is None


def test_merge_needs_the_same_blocks() -> None:
    X, y = draw()
    model, other = (closed_form(blocks=blocks).partial_fit(X, y) for blocks in (WIDTHS, (8, 5, 3)))
    with pytest.raises(ValueError, match="differ in blocks"):
        model.merge(other)


@pytest.mark.parametrize(
    ("blocks", "match"),
    [
        ((8, 7), "add up to the width of the features, 16, got 8, 7, which add up to 15; was the encoder"),
        ((16, 0), "width of each of the blocks must be a whole number of at least 1, got 0"),
        ((8, 8.0), r"width of each of the blocks must be a whole number of at least 1, got 8\.0"),
        ((), r"blocks must be None or the widths of the blocks, as \(1280, 1152\), got \(\)"),
        ("88", "blocks must be None or the widths of the blocks, .* got '88'"),
        (16, "blocks must be None or the widths of the blocks, .* got 16"),
    ],
)
def test_blocks_that_make_no_sense_are_refused(blocks: Any, match: str) -> None:
    X, y = draw()
    model = closed_form(blocks=blocks)
    with pytest.raises(ValueError, match=match):
        model.partial_fit(X, y)
    assert not hasattr(model, "classes_")


def test_blocks_wait_for_a_new_beginning() -> None:
    X, y = draw()
    model = closed_form(blocks=WIDTHS).partial_fit(X, y)
    expected = model.class_scores(X)
    model.set_params(blocks=list(WIDTHS)).merge(closed_form(blocks=WIDTHS).partial_fit(X, y))  # the same
    model.set_params(blocks=None)
    with pytest.raises(ValueError, match="blocks changed after learning began"):
        model.merge(closed_form().partial_fit(X, y))
    assert (model.class_scores(X).argmax(axis=1) == expected.argmax(axis=1)).mean() > 0.95


def test_state_of_other_blocks_is_refused() -> None:
    X, y = draw()
    state = closed_form(blocks=WIDTHS).partial_fit(X, y).state()
    with pytest.raises(ValueError, match="should be two numbers"):
        closed_form().set_state(state)
    with pytest.raises(ValueError, match="should be 3 numbers: whether the root of each block"):
        closed_form(blocks=(8, 8)).set_state(state)
    wrong = {**state, "features.root_and_seed": np.array([1, 2, 0, 5])}
    with pytest.raises(ValueError, match="whether the root is taken should lie from 0 to 1"):
        closed_form(blocks=WIDTHS).set_state(wrong)
    taken = closed_form(blocks=WIDTHS).partial_fit(X, y).unlearn(X[:1], y[:1]).state()
    with pytest.raises(ValueError, match="two numbers for a block"):
        closed_form(blocks=WIDTHS).set_state({**taken, "scatter.rounding": np.zeros(2)})
