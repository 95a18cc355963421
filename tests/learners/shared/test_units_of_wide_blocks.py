"""Units of blocks wide enough together for the low-rank form of few samples, or for a ridge that is held."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Any

import numpy as np
import pytest

from i2cansay.core.linalg.low_rank import low_rank
from tests.learners.shared.material import closed_form, shared, taught

C = 9
# Just above where the two begin, 1024 and 256 dimensions.
WIDE, HELD = (620, 300, 110), (150, 80, 30)
NONE = (1.0, 1.0, 1.0)
POWERS_OF_FOUR = [(4.0**-6, 1.0, 4.0**8), (4.0**11, 4.0**-9, 4.0)]
OTHERS = [(3e-5, 0.7, 1e5), (1e6, 1.1e-6, 5.0)]


def draw(widths: tuple[int, ...], n: int, units: tuple[float, ...]) -> tuple[Any, Any]:
    """Return features of classes that differ; the second block is signed, the others have nothing below zero."""
    rng, y = np.random.default_rng(0), np.arange(n) % C
    X = rng.standard_normal((n, sum(widths))) + 0.7 * rng.standard_normal((C, sum(widths)))[y]
    first, second, _ = accumulate(widths)
    X[:, :first], X[:, second:] = np.abs(X[:, :first]), np.abs(X[:, second:])
    return X * np.repeat(units, widths), y


def require_same_up_to_rounding(found: Any, expected: Any, tolerance: float) -> None:
    np.testing.assert_array_equal(found.argmax(axis=1), expected.argmax(axis=1))
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())


# -- few samples of many dimensions ---------------------------------------------------------------------------------


@pytest.fixture
def in_low_rank(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """See that low-rank forms are made, and none in vain."""
    made: list[Any] = []

    def noted(matrix: Any, most: int) -> Any:
        made.append(low_rank(matrix, most))
        return made[-1]

    monkeypatch.setattr("i2cansay.core.statistics.scatter.low_rank", noted)
    yield
    assert made
    assert None not in made


def few(units: tuple[float, ...], **parameters: Any) -> tuple[Any, Any]:
    """Return scores and novelty by a learner of few samples."""
    X, y = draw(WIDE, 120, units)
    model = taught(shared(blocks=WIDE, **parameters), X[:80], y[:80], batch=40)
    return model.class_scores(X), model.novelty(X)


PARAMETERS: list[dict[str, Any]] = [{"analogies": False}, {"analogies": False, "shrinkage": "oas"}, {}]


@pytest.mark.usefixtures("in_low_rank")
@pytest.mark.parametrize("units", POWERS_OF_FOUR)
@pytest.mark.parametrize("parameters", PARAMETERS)
def test_few_samples_times_a_power_of_four_change_no_bit(
    units: tuple[float, ...], parameters: dict[str, Any]
) -> None:
    for found, expected in zip(few(units, **parameters), few(NONE, **parameters), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.usefixtures("in_low_rank")
@pytest.mark.parametrize("units", OTHERS)
@pytest.mark.parametrize("parameters", PARAMETERS)
def test_few_samples_in_any_other_unit_change_nothing_beyond_rounding(
    units: tuple[float, ...], parameters: dict[str, Any]
) -> None:
    (found, new), (expected, new_before) = few(units, **parameters), few(NONE, **parameters)
    require_same_up_to_rounding(found, expected, 1e-7 if "analogies" in parameters else 1e-3)
    np.testing.assert_allclose(new, new_before, rtol=1e-6)


# -- a ridge that is held -------------------------------------------------------------------------------------------


def conversation(units: tuple[float, ...], **parameters: Any) -> tuple[Any, Any, Any]:
    """Teach some samples at once, then one by one, asking after each; return ridge, scores and novelty."""
    X, y = draw(HELD, 160, units)
    model = closed_form(blocks=HELD, **parameters).partial_fit(X[:100], y[:100])
    scores, novelty = [], []
    for row in range(100, 120):
        model.partial_fit(X[row : row + 1], y[row : row + 1])
        scores.append(model.class_scores(X))
        novelty.append(model.novelty(X))
    assert model._closed_form._running._weights is not None
    return model._closed_form._held.ridge, np.concatenate(scores), np.concatenate(novelty)


def in_units(ridge: Any, units: tuple[float, ...]) -> Any:
    """A ridge is a square; roots are taken of the first and the last block."""
    return ridge * np.array(units) ** [1, 2, 1]


@pytest.mark.parametrize("units", POWERS_OF_FOUR)
@pytest.mark.parametrize("parameters", [{}, {"shrinkage": "oas"}, {"prior": "empirical"}])
def test_power_of_four_changes_no_bit_while_a_ridge_is_held(
    units: tuple[float, ...], parameters: dict[str, Any]
) -> None:
    ridge, *expected = conversation(NONE, **parameters)
    other, *found = conversation(units, **parameters)
    np.testing.assert_array_equal(other, in_units(ridge, units))
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("units", OTHERS)
def test_any_other_unit_changes_nothing_beyond_rounding_while_a_ridge_is_held(
    units: tuple[float, ...],
) -> None:
    ridge, expected, new_before = conversation(NONE)
    other, found, new = conversation(units)
    np.testing.assert_allclose(other, in_units(ridge, units), rtol=1e-7)
    require_same_up_to_rounding(found, expected, 1e-7)
    np.testing.assert_allclose(new, new_before, rtol=1e-6)
