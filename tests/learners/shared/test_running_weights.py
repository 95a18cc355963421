"""Weights that follow lessons against weights that are solved for with the same ridge."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from i2cansay.core.statistics.ridged_covariance import RidgedCovariance, absolute_ridge
from i2cansay.core.statistics.scatter import SharedScatter
from i2cansay.core.types import Float64
from i2cansay.learners.shared.running_weights import RunningWeights

D = 12


def begun(
    n_classes: int = 3, blocks: Sequence[int] | None = None, dead: int = 0
) -> tuple[SharedScatter, Float64]:
    """Return a scatter of 40 samples and a ridge; the last `dead` dimensions are constant."""
    rng, scatter = np.random.default_rng(0), SharedScatter(D, blocks)
    scatter.resize(n_classes)
    X, y = 5 + rng.standard_normal((40, D)), np.arange(40) % n_classes
    X[:, D - dead :] = 5.0
    scatter.add(X + y[:, None] * (np.arange(D) < D - dead), y)
    ridge = absolute_ridge(scatter, 0.1)
    assert ridge is not None
    return scatter, ridge


def require_followed(
    weights: RunningWeights, scatter: SharedScatter, ridge: Float64, rtol: float = 1e-9
) -> None:
    """Require weights, offsets and products to be those of an exact solution."""
    covariance = RidgedCovariance(scatter, ridge)
    found, products = weights.closed_form(scatter, covariance.scale, 0.02, empirical_prior=True)
    anew = RunningWeights(scatter, covariance, follow=False)
    exact, exact_products = anew.closed_form(scatter, covariance.scale, 0.02, empirical_prior=True)
    for mine, theirs in (*zip(found.scores, exact.scores, strict=True), (products, exact_products)):
        np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=rtol * float(np.abs(theirs).max()))
    np.testing.assert_allclose(found.factors, exact.factors, rtol=rtol)


@pytest.mark.parametrize(("blocks", "dead"), [(None, 0), ((7, 5), 0), ((7, 5), 5)])
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 1000),
    lessons=st.lists(st.tuples(st.integers(1, 5), st.integers(1, 6), st.booleans()), min_size=1, max_size=8),
)
def test_they_are_those_of_an_exact_solution(
    blocks: Sequence[int] | None, dead: int, seed: int, lessons: list[tuple[int, int, bool]]
) -> None:
    scatter, ridge = begun(blocks=blocks, dead=dead)
    weights = RunningWeights(scatter, RidgedCovariance(scatter, ridge), follow=True)
    rng = np.random.default_rng(seed)
    for n, n_classes, weighted in lessons:
        X, y = 5 + 2 * rng.standard_normal((n, D)), rng.integers(0, n_classes, n)
        X[:, D - dead :] = 5.0
        y = np.minimum(y, len(scatter.means))  # classes come in the order of their numbers
        scatter.resize(max(len(scatter.means), int(y.max()) + 1))
        gained = scatter.gain(X, y, rng.random(n) + 0.1 if weighted else None)
        weights.follow(gained, np.unique(y), scatter)
    require_followed(weights, scatter, ridge)


def test_ten_thousand_lessons_later_they_still_are() -> None:
    scatter, ridge = begun()
    weights = RunningWeights(scatter, RidgedCovariance(scatter, ridge), follow=True)
    rng = np.random.default_rng(1)
    for x, y in zip(5 + rng.standard_normal((10_000, D)), rng.integers(0, 3, 10_000), strict=True):
        weights.follow(scatter.gain(x[None], y[None]), y[None], scatter)
    require_followed(weights, scatter, ridge)


def test_a_sample_repeated_moves_its_class_only_as_far_as_it_should() -> None:
    scatter, ridge = begun()
    weights = RunningWeights(scatter, RidgedCovariance(scatter, ridge), follow=True)
    for _ in range(200):
        weights.follow(scatter.gain(np.full((1, D), 9.0), np.array([1])), np.array([1]), scatter)
    require_followed(weights, scatter, ridge)


def test_far_from_the_origin_nothing_is_lost() -> None:
    rng, scatter = np.random.default_rng(0), SharedScatter(D)
    scatter.resize(3)
    X, y = 1e6 + rng.standard_normal((60, D)), np.arange(60) % 3
    scatter.add(X[:40], y[:40])
    ridge = absolute_ridge(scatter, 0.1)
    assert ridge is not None
    weights = RunningWeights(scatter, RidgedCovariance(scatter, ridge), follow=True)
    for row in range(40, 60):
        weights.follow(scatter.gain(X[row : row + 1], y[row : row + 1]), y[row : row + 1], scatter)
    require_followed(weights, scatter, ridge, rtol=1e-6)


def test_the_closed_form_is_no_view_of_what_changes() -> None:
    scatter, ridge = begun()
    weights = RunningWeights(scatter, RidgedCovariance(scatter, ridge), follow=True)
    closed_form, products = weights.closed_form(scatter, 1.0, 0.02)
    kept = [array.copy() for array in (*closed_form.scores, closed_form.factors, products)]
    weights.follow(scatter.gain(np.full((1, D), 9.0), np.array([1])), np.array([1]), scatter)
    for before, after in zip(kept, (*closed_form.scores, closed_form.factors, products), strict=True):
        np.testing.assert_array_equal(before, after)
