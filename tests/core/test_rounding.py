"""What is left when samples are taken out is exact to the stated share, or it is refused and nothing changes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from i2cansay.core.paper.moments import ClassMoments
from i2cansay.core.rounding import EXACT
from i2cansay.core.statistics.scatter import SharedScatter
from i2cansay.core.types import Features, Float64, Rows
from i2cansay.learners.closed_form.slda import StreamingLDA
from i2cansay.learners.i2cansay import I2CANSAY
from i2cansay.learners.shared.shared_i2cansay import SharedI2CANSAY

UNLEARNING: dict[str, Callable[[], Any]] = {
    "paper": lambda: I2CANSAY(random_state=0),
    "shared": lambda: SharedI2CANSAY(lift=0, feature_transform="none", random_state=0),
    "closed form": lambda: SharedI2CANSAY(lift=0, feature_transform="none", analogies=False, random_state=0),
    "lifted": lambda: SharedI2CANSAY(lift=4, random_state=0),
    "slda": StreamingLDA,
}
# Learning the rest alone rounds as well.
ALONE = 1.01


def unit_data(n: int = 102, seed: int = 0) -> tuple[Float64, Rows]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 8)), np.arange(n) % 2


@pytest.mark.parametrize("name", UNLEARNING)
@pytest.mark.parametrize("outlier", [1e7, 1e8, 1e12])
def test_an_outlier_that_has_swallowed_the_digits_of_the_rest_is_not_taken_out(
    name: str, outlier: float
) -> None:
    X, y = unit_data()
    far = np.full((1, 8), outlier)
    model = UNLEARNING[name]().partial_fit(X, y).partial_fit(far, y[:1])
    before = model.state()
    with pytest.raises(ValueError, match=r"too few digits of the rest.*forget the class"):
        model.unlearn(far, y[:1])
    after = model.state()
    assert after.keys() == before.keys()
    for part, array in before.items():
        np.testing.assert_array_equal(after[part], array)


EXACT_ROWS = [name for name in UNLEARNING if name != "lifted"]  # a lift rounds to float32


@pytest.mark.parametrize("name", EXACT_ROWS)
def test_later_samples_are_judged_by_the_rounding_an_outlier_left(name: str) -> None:
    X, y = unit_data()
    far, small = np.full((1, 8), 3e4), X[:40] * 1e-3
    fine = UNLEARNING[name]().partial_fit(X, y).partial_fit(small, y[:40])
    model = UNLEARNING[name]().partial_fit(X, y).partial_fit(small, y[:40]).partial_fit(far, y[:1])
    fine.unlearn(X, y)  # without the outlier what is left has its digits
    model.unlearn(far, y[:1])
    merged = UNLEARNING[name]().partial_fit(small, y[:40])
    merged.merge(UNLEARNING[name]().partial_fit(X, y).partial_fit(far, y[:1]).unlearn(far, y[:1]))
    for again in (model, UNLEARNING[name]().set_state(model.state()), merged):
        with pytest.raises(ValueError, match="too few digits"):
            again.unlearn(X, y)


@pytest.mark.parametrize("name", UNLEARNING)
def test_teaching_and_taking_back_can_go_on_for_long(name: str) -> None:
    X, y = unit_data()
    model = UNLEARNING[name]().partial_fit(X, y)
    for turn in range(300 if name in EXACT_ROWS else 30):
        row = slice(turn % 100, turn % 100 + 1)
        model.partial_fit(3 * X[row], 1 - y[row]).unlearn(3 * X[row], 1 - y[row])
    assert model.class_counts_.tolist() == [51, 51]


def test_one_sample_left_of_many_has_no_spread_and_its_own_mean() -> None:
    X = np.random.default_rng(0).standard_normal((5000, 4))
    rows = np.zeros(len(X), dtype=np.int64)
    moments = taught_moments(X, rows)
    moments.replace(*moments.without(X[1:], rows[1:]))
    np.testing.assert_allclose(moments.mean[0], X[0], atol=1e-10)
    assert not moments.m2.any()


# -- any sizes --------------------------------------------------------------------------------------------------


@st.composite
def sizes(draw: st.DrawFn) -> tuple[Float64, Rows, Any, int]:
    """Rows of a few sizes far apart, their classes, which leave, and the size of batches."""
    exponents = draw(st.lists(st.integers(-10, 13), min_size=1, max_size=3))
    n = draw(st.integers(2, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = rng.standard_normal((n, 3)) * 10.0 ** rng.choice(exponents, size=(n, 1))
    X += 10.0 ** draw(st.sampled_from(exponents)) * draw(st.sampled_from([0.0, 1.0]))
    classes = rng.integers(0, draw(st.integers(1, 3)), n)
    leaving = rng.random(n) < draw(st.sampled_from([0.1, 0.5, 0.9]))
    if draw(st.booleans()):  # the large ones leave
        leaving = np.abs(X).max(axis=1) > np.median(np.abs(X).max(axis=1))
    if draw(st.booleans()):
        X[classes == 0] = np.where(
            leaving[classes == 0, None], X[classes == 0], X[0]
        )  # the rest is one sample, often
    return X, classes, leaving, draw(st.integers(1, 7))


def taught_moments(X: Features, classes: Rows, batch: int = 1000) -> ClassMoments:
    moments = ClassMoments(X.shape[1])
    moments.resize(3)
    for start in range(0, len(X), batch):
        moments.add(X[start : start + batch], classes[start : start + batch])
    return moments


def taught_scatter(X: Features, classes: Rows, batch: int = 1000) -> SharedScatter:
    scatter = SharedScatter(X.shape[1])
    scatter.resize(3)
    for start in range(0, len(X), batch):
        scatter.add(X[start : start + batch], classes[start : start + batch])
    return scatter


@settings(deadline=None, max_examples=400)
@given(sizes())
def test_moments_left_are_those_of_the_rest_alone_or_refused(drawn: tuple[Float64, Rows, Any, int]) -> None:
    X, classes, leaving, batch = drawn
    if not leaving.any():
        return
    moments = taught_moments(X, classes, batch)
    try:
        touched, left = moments.without(X[leaving], classes[leaving])
    except ValueError as refused:
        if "too few digits" not in str(refused):  # never that they were not taught
            raise
        return
    alone = taught_moments(X[~leaving], classes[~leaving])
    np.testing.assert_array_equal(left.count, alone.count[touched])
    for row, count, mean, m2 in zip(touched, left.count, left.mean, left.m2, strict=True):
        size = np.abs(alone.mean[row]).max()
        spread = alone.m2[row].mean()
        allowed = ALONE * max(EXACT * spread, count * (EXACT * size) ** 2)
        assert np.abs(m2 - alone.m2[row]).max() <= allowed
        if count:
            assert np.abs(mean - alone.mean[row]).max() <= ALONE * EXACT * max(np.sqrt(spread / count), size)


@settings(deadline=None, max_examples=400)
@given(sizes())
def test_scatter_left_is_that_of_the_rest_alone_or_refused(drawn: tuple[Float64, Rows, Any, int]) -> None:
    X, classes, leaving, batch = drawn
    if not leaving.any():
        return
    scatter = taught_scatter(X, classes, batch)
    before = {name: array.copy() for name, array in scatter.state().items()}
    try:
        scatter.subtract(X[leaving], classes[leaving])
    except ValueError as refused:
        if "too few digits" not in str(refused):
            raise
        for name, array in scatter.state().items():
            np.testing.assert_array_equal(array, before[name])
        return
    alone = taught_scatter(X[~leaving], classes[~leaving])
    np.testing.assert_array_equal(scatter.means.count, alone.means.count)
    total = max(alone.means.total, 1e-300)
    spread = alone.matrix.trace() / 3
    size = max(np.abs(alone.means.mean).max(), np.abs(alone.means.centre).max())
    difference = np.abs(scatter.matrix.packed - alone.matrix.packed).max()
    assert difference <= ALONE * max(EXACT * spread, total * (EXACT * size) ** 2)
    for row in np.unique(classes[leaving]):
        own = max(np.sqrt(spread / total), np.abs(alone.means.mean[row]).max())
        assert np.abs(scatter.means.mean[row] - alone.means.mean[row]).max() <= ALONE * EXACT * own
    own = max(np.sqrt(spread / total), size)
    assert np.abs(scatter.means.centre - alone.means.centre).max() <= ALONE * EXACT * own
