import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from i2cansay.learners.shared.feature_map import WIDEST, FeatureMap


def draw(n: int = 20, d: int = 6, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d))


def decided(first: np.ndarray, lift: int = 0, seed: int = 5) -> FeatureMap:
    features = FeatureMap(first.shape[1], transform="auto", lift=lift, seed=seed)
    features.decide(first)
    return features


@pytest.mark.parametrize(
    ("n_features", "auto", "wide"),
    [(192, 3584, 7680), (4000, 4000, 7680), (5000, 4096, 7680), (9000, 4096, 7680)],
)
def test_a_lift_by_name_fills_its_width_whatever_the_features_are(
    n_features: int, auto: int, wide: int
) -> None:
    assert FeatureMap(n_features, transform="none", lift="auto", seed=0).width == auto
    assert FeatureMap(n_features, transform="none", lift="wide", seed=0).width == wide


def test_first_batch_without_anything_below_zero_takes_the_root() -> None:
    X = np.maximum(draw(), 0)  # as a ReLU leaves them, with zeros
    features = decided(X)
    assert features.rooted == (True,)
    np.testing.assert_allclose(features.apply(X) ** 2, X)


def test_one_value_below_zero_in_the_first_batch_leaves_features_as_they_are() -> None:
    X = np.abs(draw())
    X[3, 2] = -1e-6
    features = decided(X)
    assert features.rooted == (False,)
    np.testing.assert_array_equal(features.apply(X), X)


def test_value_below_zero_that_comes_later_gets_minus_the_root_of_its_size() -> None:
    features = decided(np.ones((1, 3)))
    assert features.apply(np.array([[-4.0, 0.0, 9.0]])).tolist() == [[-2.0, 0.0, 3.0]]


@pytest.mark.parametrize(("transform", "rooted"), [("sqrt", True), ("none", False)])
def test_transform_that_is_given_is_not_decided_again(transform: str, rooted: bool) -> None:
    features = FeatureMap(6, transform=transform, lift=0, seed=0)  # type: ignore[arg-type]
    for first in (draw(), np.abs(draw())):
        features.decide(first)
        assert features.rooted == (rooted,)


@settings(max_examples=30, deadline=None)
@given(
    scale=st.floats(1e-4, 1e4),
    lift=st.sampled_from([0, 7]),
    rooted=st.booleans(),
    d=st.sampled_from([6, WIDEST + 3]),
)
def test_scaling_stays_a_scaling(scale: float, lift: int, rooted: bool, d: int) -> None:
    X = draw(4, d)
    features = FeatureMap(d, transform="sqrt" if rooted else "none", lift=lift, seed=0)
    expected = (np.sqrt(scale) if rooted else scale) * features.apply(X)
    # The projections are float32: what is left after the rectifier has seven digits of the row's length.
    length = np.linalg.norm(expected, axis=1).max()
    np.testing.assert_allclose(features.apply(scale * X), expected, atol=1e-6 * length)


def test_lift_is_the_rectified_projection_of_the_direction_as_long_as_the_root() -> None:
    X = np.abs(draw())
    lifted = decided(X, lift=9).apply(X)
    assert lifted.shape == (20, 15)
    np.testing.assert_array_equal(lifted[:, :6], np.sqrt(X))
    projections = np.random.default_rng(5).standard_normal((9, 6), dtype=np.float32)
    for x, row in zip(X, lifted[:, 6:], strict=True):
        expected = np.maximum(projections @ (x / np.linalg.norm(x)), 0) * np.linalg.norm(np.sqrt(x)) / 3
        np.testing.assert_allclose(row, expected, rtol=1e-5, atol=1e-6)


def test_wide_lift_is_half_the_squared_length_of_the_row_beside() -> None:
    X = draw(50)
    lifted = FeatureMap(6, transform="none", lift=4000, seed=1).apply(X)
    shares = (lifted[:, 6:] ** 2).sum(axis=1) / (X**2).sum(axis=1)
    np.testing.assert_allclose(shares, 0.5, atol=0.1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [6, WIDEST + 1])
def test_zero_rows_stay_zero_and_precision_stays_unless_they_are_reduced(
    dtype: type[np.floating], d: int
) -> None:
    X: np.ndarray = np.zeros((2, d), dtype=dtype)
    mapped = decided(X, lift=8).apply(X)
    assert mapped.dtype == (dtype if d <= WIDEST else np.float64)
    assert not mapped.any()


def test_input_is_neither_changed_nor_needed_again() -> None:
    X = np.abs(draw())
    before = X.copy()
    mapped = decided(X, lift=4).apply(X)
    np.testing.assert_array_equal(X, before)
    assert not np.shares_memory(mapped, X)


def test_state_is_two_numbers_and_brings_back_projections() -> None:
    X = np.abs(draw(3, WIDEST + 1))
    features = decided(X, lift=50, seed=12345678901234567)
    expected = features.apply(X)
    state = features.state()
    assert {name: array.shape for name, array in state.items()} == {"root_and_seed": (2,)}

    twin = FeatureMap(WIDEST + 1, transform="auto", lift=50, seed=0)
    assert not np.allclose(twin.apply(X), expected)  # what it has drawn by now is to be thrown away
    twin.restore(state, 0)
    assert (twin.rooted, twin.seed) == ((True,), 12345678901234567)
    np.testing.assert_array_equal(twin.apply(X), expected)


def test_state_of_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="two numbers"):
        decided(draw()).restore({"root_and_seed": np.zeros(3, dtype=np.int64)}, 0)


@pytest.mark.parametrize(
    ("d", "lift", "width"),
    [
        (WIDEST, 0, WIDEST),
        (WIDEST - 5, 6, WIDEST + 1),
        (20_000, 0, WIDEST),
        (10, 5, 15),
        (5000, 7, WIDEST + 7),
    ],
)
def test_width_is_that_of_the_rows_and_bounded(d: int, lift: int, width: int) -> None:
    features = FeatureMap(d, transform="none", lift=lift, seed=0)
    assert features.width == width
    assert features.apply(draw(2, d)).shape == (2, width)


def test_only_what_is_drawn_depends_on_the_seed() -> None:
    for d, lift in [(6, 0), (6, 3), (WIDEST, 0), (WIDEST + 1, 0), (WIDEST - 1, 3)]:
        X = draw(2, d)
        first, second = (FeatureMap(d, transform="none", lift=lift, seed=seed) for seed in (1, 2))
        assert np.array_equal(first.apply(X), second.apply(X)) is not first.random


def test_maps_that_see_features_differently_are_told_apart() -> None:
    signed, rooted = decided(draw()), decided(np.abs(draw()))
    with pytest.raises(ValueError, match="square root"):
        signed.check_same(rooted)
    lifted = [FeatureMap(6, transform="none", lift=5, seed=seed) for seed in (0, 0, 1)]
    lifted[0].check_same(lifted[1])
    with pytest.raises(ValueError, match="same random_state"):
        lifted[0].check_same(lifted[2])
    plain = [FeatureMap(6, transform="none", lift=0, seed=seed) for seed in (0, 1)]
    plain[0].check_same(plain[1])  # nothing was drawn
