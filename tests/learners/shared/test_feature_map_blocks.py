"""How features of several blocks are mapped: each by itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from i2cansay.learners.shared.feature_map import FeatureMap

WIDTHS = (4, 6, 2)
D = sum(WIDTHS)


def draw(n: int = 20, d: int = D) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((n, d))


def test_stages_of_an_encoder_are_not_reduced() -> None:
    stages = (1280, 1152, 1152)
    features = FeatureMap(3584, blocks=stages, transform="none", lift="auto", seed=0)
    assert features.blocks == stages
    assert not features.random
    X = draw(2, 3584)
    np.testing.assert_array_equal(features.apply(X), X)


@pytest.mark.parametrize("rooted", [True, False])
def test_lift_is_of_the_directions_of_all_blocks_alike(rooted: bool) -> None:
    X = np.abs(draw()) if rooted else draw()
    features = FeatureMap(D, blocks=WIDTHS, transform="sqrt" if rooted else "none", lift=9, seed=5)
    assert features.blocks == (*WIDTHS, 9)
    assert features.precision.tolist() == [0, 0, 0, np.finfo(np.float32).eps]
    plain, lift = np.split(features.apply(X), [D], axis=1)
    np.testing.assert_array_equal(plain, np.sqrt(X) if rooted else X)
    projections = np.random.default_rng(5).standard_normal((9, D), dtype=np.float32)
    for row, lifted in zip(plain, lift, strict=True):
        parts = [part / np.sqrt((part**2).mean()) for part in np.split(row, np.cumsum(WIDTHS)[:-1])]
        expected = np.maximum(projections @ np.concatenate(parts) / np.sqrt(D), 0) / 3
        np.testing.assert_allclose(lifted, expected, rtol=1e-5, atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(powers=st.tuples(*[st.integers(-14, 14)] * 3), dtype=st.sampled_from([np.float32, np.float64]))
def test_lift_knows_no_unit(powers: tuple[int, ...], dtype: type[np.floating]) -> None:
    X = np.abs(draw()).astype(dtype)
    features = FeatureMap(D, blocks=WIDTHS, transform="sqrt", lift=9, seed=5)
    other = (X * np.repeat([4.0**power for power in powers], WIDTHS)).astype(dtype)
    np.testing.assert_array_equal(features.apply(other)[:, D:], features.apply(X)[:, D:])


def test_lift_survives_blocks_of_nothing() -> None:
    X = draw()
    X[:10, :4] = 0.0
    X[5] = 0.0
    lifted = FeatureMap(D, blocks=WIDTHS, transform="none", lift=9, seed=5).apply(X)[:, D:]
    assert np.isfinite(lifted).all()
    assert not lifted[5].any()
    assert lifted[0].any()


def test_only_blocks_of_one_sign_are_rooted_and_the_input_is_left_alone() -> None:
    X = np.abs(draw())
    X[3, 4] = -1e-6
    before = X.copy()
    features = FeatureMap(D, blocks=WIDTHS, transform="auto", lift=0, seed=0)
    features.decide(X)
    assert features.rooted == (True, False, True)
    mapped = features.apply(X)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(mapped[:, 4:10], X[:, 4:10])
    np.testing.assert_array_equal(mapped[:, :4], np.sqrt(X[:, :4]))
    np.testing.assert_array_equal(mapped[:, 10:], np.sqrt(X[:, 10:]))


def test_decisions_and_seed_come_back() -> None:
    X = np.abs(draw())
    X[:, 4:10] *= -1
    features = FeatureMap(D, blocks=WIDTHS, transform="auto", lift=5, seed=77)
    features.decide(X)
    assert features.state()["root_and_seed"].tolist() == [1, 0, 1, 77]
    twin = FeatureMap(D, blocks=WIDTHS, transform="auto", lift=5, seed=0)
    twin.restore(features.state(), 0)
    np.testing.assert_array_equal(twin.apply(X), features.apply(X))
