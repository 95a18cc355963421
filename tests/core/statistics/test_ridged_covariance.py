"""A covariance whose ridge is held in absolute numbers."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from i2cansay.core.statistics.ridged_covariance import LEAST_SHARE, RidgedCovariance, absolute_ridge, fits
from i2cansay.core.statistics.scatter import SharedScatter

D, C = 6, 3
BLOCKS: list[Sequence[int] | None] = [None, (4, 2), (1, 3, 2)]


def scatter_of(n: int = 30, blocks: Sequence[int] | None = None, seed: int = 0) -> SharedScatter:
    rng, scatter = np.random.default_rng(seed), SharedScatter(D, blocks)
    scatter.resize(C)
    y = np.arange(n) % C
    scatter.add(rng.standard_normal((n, D)) * np.arange(1, D + 1) + y[:, None], y)
    return scatter


@pytest.mark.parametrize("blocks", BLOCKS)
@settings(max_examples=15, deadline=None)
@given(shrinkage=st.floats(0.01, 0.99), seed=st.integers(0, 100))
def test_when_it_is_chosen_it_is_the_shrunk_covariance(
    blocks: Sequence[int] | None, shrinkage: float, seed: int
) -> None:
    scatter = scatter_of(blocks=blocks, seed=seed)
    ridge = absolute_ridge(scatter, shrinkage)
    assert ridge is not None
    held = RidgedCovariance(scatter, ridge)
    assert held.shrinkage == pytest.approx(shrinkage)
    np.testing.assert_allclose(held.solve(np.eye(D)), scatter.solve_shrunk(np.eye(D), shrinkage), rtol=1e-8)
    centre = scatter.means.mean.mean(axis=0)
    np.testing.assert_allclose(
        held.solve_with_means(np.eye(D), centre),
        scatter.solve_with_means(np.eye(D), shrinkage, centre),
        rtol=1e-7,
        atol=1e-12,
    )


@pytest.mark.parametrize("blocks", BLOCKS)
def test_later_only_the_scatter_and_the_scale_change(blocks: Sequence[int] | None) -> None:
    scatter = scatter_of(blocks=blocks)
    ridge = absolute_ridge(scatter, 0.3)
    assert ridge is not None
    scatter.add(np.random.default_rng(1).standard_normal((20, D)), np.arange(20) % C)
    held = RidgedCovariance(scatter, ridge)
    dense = scatter.matrix.dense() + np.diag(scatter.blocks.expand(ridge))
    np.testing.assert_allclose(held.solve(np.eye(D)), held.scale * np.linalg.inv(dense), rtol=1e-9)
    solved, inverse = held.solve_and_invert(np.eye(D))
    np.testing.assert_allclose(solved, held.solve(np.eye(D)), rtol=1e-9)
    np.testing.assert_allclose(inverse.dense(), np.linalg.inv(dense), rtol=1e-9)
    assert held.scale == scatter.means.total + held.penalty
    assert 0 < held.shrinkage < 0.3


def test_a_dead_block_is_left_out_and_nothing_is_held_once_it_lives() -> None:
    X, y = np.random.default_rng(0).standard_normal((30, D)), np.arange(30) % C
    X[:, 4:] = 7.0
    scatter = SharedScatter(D, (4, 2))
    scatter.resize(C)
    scatter.add(X, y)
    ridge = absolute_ridge(scatter, 0.2)
    assert ridge is not None
    assert ridge[0] > 0
    assert ridge[1] == 0
    _, inverse = RidgedCovariance(scatter, ridge).solve_and_invert(np.eye(D))
    assert not inverse.dense()[4:].any()
    np.testing.assert_allclose(
        RidgedCovariance(scatter, ridge).solve(np.eye(D)), scatter.solve_shrunk(np.eye(D), 0.2), rtol=1e-9
    )
    scatter.add(X[:1] + 1.0, y[:1])
    assert not fits(scatter, ridge)


def test_nothing_is_held_while_only_means_tell_a_block() -> None:
    X, y = np.random.default_rng(0).standard_normal((30, D)), np.arange(30) % C
    X[:, 4:] = y[:, None]
    scatter = SharedScatter(D, (4, 2))
    scatter.resize(C)
    scatter.add(X, y)
    assert scatter.spheres()[1] > 0
    assert absolute_ridge(scatter, 0.2) is None


def test_nothing_is_held_without_any_spread_or_where_the_sphere_is_everything() -> None:
    scatter = SharedScatter(D)
    scatter.resize(1)
    scatter.add(np.ones((1, D)), np.array([0]))
    assert absolute_ridge(scatter, 0.2) is None
    assert absolute_ridge(scatter_of(), 1.0) is None


def test_a_ridge_that_rounding_would_swallow_is_raised() -> None:
    scatter = scatter_of()
    ridge = absolute_ridge(scatter, 1e-15)
    assert ridge is not None
    assert ridge[0] == pytest.approx(LEAST_SHARE * D * scatter.means.total * scatter.mean_variance)
