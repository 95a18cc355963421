"""The scatter of features whose blocks differ in their unit."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from i2cansay.core.linalg.low_rank import LowRankMatrix
from i2cansay.core.rounding import EXACT
from i2cansay.core.statistics.cross_validation import PENALTIES
from i2cansay.core.statistics.discriminant import (
    cross_validated_penalty,
    cross_validated_shrinkage,
    shrink_means,
)
from i2cansay.core.statistics.scatter import SharedScatter, oas_shrinkage

WIDTHS = (4, 7, 2)
UNITS = (1e3, 1.0, 1e-5)
C, D = 4, sum(WIDTHS)
ENDS = np.cumsum(WIDTHS)
SLICES = [slice(end - width, end) for end, width in zip(ENDS.tolist(), WIDTHS, strict=True)]


def draw(n: int = 60, seed: int = 0, units: Sequence[float] = UNITS) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % C)
    mixing = np.eye(D) + 0.3 * np.random.default_rng(99).standard_normal((D, D))
    X = rng.standard_normal((n, D)) @ mixing + np.random.default_rng(98).standard_normal((C, D))[y]
    return (X + 3) * np.repeat(units, WIDTHS), y


def taught(
    X: np.ndarray, y: np.ndarray, widths: Sequence[int] | None = WIDTHS, batch: int = 1000
) -> SharedScatter:
    scatter = SharedScatter(X.shape[1], widths)
    scatter.resize(int(y.max()) + 1)
    for start in range(0, len(X), batch):
        scatter.add(X[start : start + batch], y[start : start + batch])
    return scatter


def within(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    means = np.stack([X[y == label].mean(axis=0) for label in range(y.max() + 1)])
    deviations: np.ndarray = X - means[y]
    return deviations


def scaled_by_hand(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return `X` with each block divided by the root of its mean variance within the classes."""
    deviations = within(X, y)
    spreads = [np.sqrt((deviations[:, block] ** 2).mean()) for block in SLICES]
    scaled: np.ndarray = X / np.repeat(spreads, WIDTHS)
    return scaled


# -- what it is shrunk towards ----------------------------------------------------------------------------------


@pytest.mark.parametrize("shrinkage", [1e-3, 0.3, 1.0])
def test_solutions_are_those_of_a_covariance_shrunk_towards_a_sphere_for_each_block(shrinkage: float) -> None:
    X, y = draw()
    scatter, deviations = taught(X, y), within(X, y)
    covariance = deviations.T @ deviations / len(X)
    variances = [
        np.trace(covariance[block, block]) / width for block, width in zip(SLICES, WIDTHS, strict=True)
    ]
    np.testing.assert_allclose(scatter.variances, variances)
    shrunk = (1 - shrinkage) * covariance + shrinkage * np.diag(np.repeat(variances, WIDTHS))
    B = np.eye(D)
    units = np.outer(np.repeat(UNITS, WIDTHS), np.repeat(UNITS, WIDTHS))
    expected = np.linalg.inv(shrunk * (1 / units)) / units  # inverted where it is well conditioned
    np.testing.assert_allclose(
        scatter.solve_shrunk(B, shrinkage) * units, expected * units, rtol=1e-7, atol=1e-9
    )
    inverse = scatter.shrunk_inverse(shrinkage)
    np.testing.assert_allclose(inverse.dense() * units, expected * units, rtol=1e-7, atol=1e-9)
    centre = X.mean(axis=0)
    between = scatter.means.mean - centre
    everything = (shrunk + between.T @ between / C) / units
    np.testing.assert_allclose(
        scatter.solve_with_means(B, shrinkage, centre) * units,
        np.linalg.inv(everything),
        rtol=1e-7,
        atol=1e-9,
    )


def test_blocks_of_one_unit_each_are_measured_in_it() -> None:
    X, y = draw()
    scatter, plain = taught(X, y), taught(scaled_by_hand(X, y), y, None)
    assert (scatter.mean_variance, scatter.width) == (1.0, D)
    assert scatter.oas_shrinkage() == pytest.approx(oas_shrinkage(plain.matrix, len(X)))
    assert cross_validated_penalty(scatter) == cross_validated_penalty(plain)


@pytest.mark.parametrize("n", [20, 60, 300])
def test_penalty_is_that_of_the_best_regression_on_the_scaled_features(n: int) -> None:
    # By the whole hat matrix, (n, n), for each penalty.
    X, y = draw(n)
    scatter, Z, Y = taught(X, y), scaled_by_hand(X, y), np.eye(C)[y]
    oracle = scatter.oas_shrinkage()
    allowed = [penalty for penalty in PENALTIES if penalty / (penalty + n) >= oracle] or [PENALTIES[-1]]
    centred, errors = Z - Z.mean(axis=0), []
    for penalty in allowed:
        hat = centred @ np.linalg.solve(centred.T @ centred + penalty * np.eye(D), centred.T) + 1 / n
        errors.append(n * ((Y - hat @ Y) ** 2).sum() / (n - np.trace(hat)) ** 2)
    best = allowed[int(np.argmin(errors))]
    assert cross_validated_penalty(scatter) == best
    lowered = best * min(D / n, 1.0)
    assert cross_validated_shrinkage(scatter) == pytest.approx(lowered / (lowered + n))


@pytest.mark.parametrize("per_class", [1, 2])
def test_few_samples_are_solved_by_few_rows(per_class: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, widths = np.random.default_rng(0), (30, 50)
    y = np.arange(4 * per_class) % 4
    X = (rng.standard_normal((len(y), 80)) + rng.standard_normal((4, 80))[y]) * np.repeat([1e-4, 1e4], widths)
    scatter, B = taught(X, y, widths), X[:2]

    def found() -> list[Any]:
        shrinkage = cross_validated_shrinkage(scatter)
        rule = shrink_means(scatter, shrinkage, 0.02).scores
        return [shrinkage, rule.of(X), B @ scatter.shrunk_inverse(shrinkage).dense() @ B.T]

    dense = found()
    monkeypatch.setattr("i2cansay.core.statistics.scatter.LOW_RANK_FROM", 80)
    assert isinstance(scatter.compact(), LowRankMatrix)
    for few, many in zip(found(), dense, strict=True):
        np.testing.assert_allclose(few, many, rtol=1e-8, atol=1e-8)


# -- without a spread -------------------------------------------------------------------------------------------


def test_one_sample_of_each_class_is_measured_in_the_spread_of_the_means() -> None:
    X, y = draw(C)
    scatter = taught(X, y)
    assert (scatter.mean_variance, scatter.width) == (0.0, 0)
    between = [X[:, block].var(axis=0).mean() for block in SLICES]
    expected = np.repeat(between, WIDTHS)
    np.testing.assert_allclose(scatter.solve_shrunk(np.eye(D), 0.5), np.diag(1 / expected))
    np.testing.assert_allclose(scatter.shrunk_inverse(0.5).dense(), np.diag(1 / expected))
    assert cross_validated_shrinkage(scatter) == pytest.approx(1.0)


def test_first_sample_is_measured_in_its_own_size() -> None:
    X, y = draw(1)
    expected = np.repeat([(X[:, block] ** 2).mean() for block in SLICES], WIDTHS)
    np.testing.assert_allclose(taught(X, y).solve_shrunk(X, 0.5), X / expected)


def test_block_that_varies_between_classes_only_is_measured_by_that() -> None:
    X, y = draw()
    X[:, SLICES[1]] = 5.0 * np.random.default_rng(1).standard_normal((C, 7))[y]
    scatter = taught(X, y, batch=7)
    spheres = scatter.spheres()
    assert scatter.variances[1] == 0.0
    assert spheres[1] == pytest.approx(scatter.means.mean[:, SLICES[1]].var(axis=0).mean())
    assert scatter.width == D - 7
    solved = scatter.solve_shrunk(np.eye(D), 0.25)[SLICES[1], SLICES[1]]
    np.testing.assert_allclose(solved, np.eye(7) / (0.25 * spheres[1]), rtol=1e-9)


@pytest.mark.parametrize("constant", [0.0, 5.0, 1e-30, -7e9])
@pytest.mark.parametrize("noise", [0.0, 1e-9])
def test_constant_block_is_left_out(constant: float, noise: float) -> None:
    X, y = draw()
    rest = np.repeat([True, False, True], WIDTHS)
    X[:, ~rest] = constant * (1 + noise * np.random.default_rng(2).standard_normal((len(X), 7)))
    scatter, without = taught(X, y, batch=7), taught(X[:, rest], y, (4, 2), batch=7)
    assert scatter.spheres()[1] == 0.0
    assert scatter.width == without.width == 6
    assert scatter.oas_shrinkage() == pytest.approx(without.oas_shrinkage())
    assert cross_validated_shrinkage(scatter) == pytest.approx(cross_validated_shrinkage(without))
    rule, expected = (shrink_means(s, 0.2, 0.02).scores for s in (scatter, without))
    assert not rule.weights[:, ~rest].any()
    np.testing.assert_allclose(rule.of(X), expected.of(X[:, rest]), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("unit", [1e-60, 1e-98, 1e14])
def test_unit_at_the_ends_of_the_range_changes_no_score(unit: float) -> None:
    (X, y), (ordinary, _) = draw(units=(1.0, unit, 1.0)), draw(units=(1.0, 1.0, 1.0))
    found, expected = (
        shrink_means(s, cross_validated_shrinkage(s), 0.02).scores
        for s in (taught(X, y), taught(ordinary, y))
    )
    np.testing.assert_allclose(found.of(X), expected.of(ordinary), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("unit", [1e-103, 1e-160, 5e-324])
def test_block_too_small_to_be_squared_is_left_out(unit: float) -> None:
    X, y = draw(units=(1.0, unit, 1.0))
    rest = np.repeat([True, False, True], WIDTHS)
    scatter, without = taught(X, y), taught(X[:, rest], y, (4, 2))
    assert scatter.spheres()[1] == 0.0
    found, expected = (shrink_means(s, cross_validated_shrinkage(s), 0.02).scores for s in (scatter, without))
    np.testing.assert_allclose(found.of(X), expected.of(X[:, rest]), rtol=1e-9, atol=1e-9)


# -- exact under merging, fading, taking out ----------------------------------------------------------------------


def test_merged_and_faded_statistics_have_the_blocks_of_one_pass() -> None:
    X, y = draw()
    half = taught(X[:25], y[:25])
    half.merge(taught(X[25:], y[25:]), np.arange(C))
    whole = taught(X, y)
    np.testing.assert_allclose(half.variances, whole.variances, rtol=1e-12)
    whole.fade(0.25)
    np.testing.assert_allclose(whole.variances, half.variances, rtol=1e-12)


def test_rows_of_blocks_far_apart_in_size_are_taken_out_exactly() -> None:
    X, y = draw(units=(1e12, 1.0, 1e-9))
    scatter, alone = taught(X, y), taught(X[9:], y[9:])
    scatter.subtract(X[:9], y[:9])
    np.testing.assert_allclose(scatter.variances, alone.variances, rtol=1e-9)
    units = np.repeat([1e12, 1.0, 1e-9], WIDTHS)
    np.testing.assert_allclose(
        scatter.matrix.dense() / np.outer(units, units),
        alone.matrix.dense() / np.outer(units, units),
        atol=1e-9,
    )
    restored = SharedScatter(D, WIDTHS)
    restored.resize(C)
    restored.restore({name: array.copy() for name, array in scatter.state().items()}, C)
    assert restored.state()["rounding"].shape == (2, 3)
    np.testing.assert_array_equal(restored.state()["rounding"], scatter.state()["rounding"])


def test_outlier_in_a_small_block_is_refused_though_a_large_block_would_hide_it() -> None:
    X, y = draw(units=(1e9, 1.0, 1.0))
    far = X[:1].copy()
    far[:, SLICES[1]] = (
        1e8  # swallows the digits of the second block, and is next to nothing beside the first
    )
    for widths, refused in ((WIDTHS, True), (None, False)):
        scatter = taught(X, y, widths)
        scatter.add(far, y[:1])
        before = scatter.matrix.packed.copy()
        if refused:
            with pytest.raises(ValueError, match="too few digits"):
                scatter.subtract(far, y[:1])
            np.testing.assert_array_equal(scatter.matrix.packed, before)
        else:
            scatter.subtract(far, y[:1])


def test_rows_never_taught_are_found_out_in_a_small_block() -> None:
    X, y = draw(units=(1e9, 1.0, 1.0))
    other = X[:5].copy()
    other[:, SLICES[2]] += 100 * np.arange(5)[:, None]
    with pytest.raises(ValueError, match="not taught"):
        taught(X, y).subtract(other, y[:5])
    taught(X, y, None).subtract(other, y[:5])  # one block takes it for rounding


def test_what_is_left_without_a_spread_is_none_in_this_block_alone() -> None:
    X, y = draw(40, units=(1.0, 1.0, 1.0))
    X[8:, SLICES[1]] = X[8, SLICES[1]] * 1e9  # large and constant, but for eight rows
    scatter = taught(X, y)
    scatter.subtract(X[:8], y[:8])
    assert scatter.variances[1] == 0.0
    inside = scatter.matrix.dense()
    assert not inside[SLICES[1]].any()
    assert (scatter.variances[[0, 2]] > 0.1).all()
    np.testing.assert_allclose(scatter.variances[[0, 2]], taught(X[8:], y[8:]).variances[[0, 2]], rtol=1e-5)


@settings(deadline=None, max_examples=200)
@given(
    exponents=st.tuples(st.integers(-10, 12), st.integers(-10, 12)),
    outlier=st.integers(0, 9),
    seed=st.integers(0, 2**32 - 1),
    batch=st.integers(1, 9),
)
def test_every_block_is_that_of_the_rest_alone_or_refused(
    exponents: tuple[int, int], outlier: int, seed: int, batch: int
) -> None:
    rng, widths = np.random.default_rng(seed), (2, 3)
    n = int(rng.integers(2, 25))
    X, y = rng.standard_normal((n, 5)) * np.repeat(10.0 ** np.array(exponents), widths), rng.integers(0, 3, n)
    leaving = rng.random(n) < rng.choice([0.1, 0.5, 0.9])
    X[leaving] *= np.where(np.arange(5) < 2, 10.0**outlier, 1.0)[:: rng.choice([1, -1])]
    if not leaving.any():
        return
    scatter, alone = (SharedScatter(5, widths) for _ in range(2))
    for each in (scatter, alone):
        each.resize(3)
    for start in range(0, n, batch):
        scatter.add(X[start : start + batch], y[start : start + batch])
    if not leaving.all():
        alone.add(X[~leaving], y[~leaving])
    try:
        scatter.subtract(X[leaving], y[leaving])
    except ValueError as refused:
        if "too few digits" not in str(refused):
            raise
        return
    total = max(alone.means.total, 1e-300)
    found, expected = scatter.matrix.dense(), alone.matrix.dense()
    allowed = []
    for block in (slice(0, 2), slice(2, 5)):
        spread = np.diagonal(expected)[block].mean()
        size = max(np.abs(alone.means.mean[:, block]).max(), np.abs(alone.means.centre[block]).max())
        allowed.append(1.01 * max(EXACT * spread, total * (EXACT * size) ** 2))
    limits = np.repeat(allowed, widths)
    # Between two blocks at most the geometric mean of what is allowed in each.
    assert (np.abs(found - expected) <= np.sqrt(np.outer(limits, limits))).all()
