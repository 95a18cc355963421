import numpy as np
import pytest

from i2cansay.learners.memory.prototype_loss import proxy_loss, through_length, unit_rows

CLASSES = np.array([0, 0, 1, 2, 2, 2, 0, 1, 1])


def draw(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return nine rows of three classes, and four prototypes: one class has no row."""
    rng = np.random.default_rng(seed)
    return unit_rows(rng.normal(size=(9, 4)))[0], unit_rows(rng.normal(size=(4, 4)))[0]


def slow_loss(rows: np.ndarray, prototypes: np.ndarray, temperature: float) -> float:
    """Sum the terms of the article one by one."""

    def probability(instance: np.ndarray, proxy: np.ndarray, c: int) -> float:
        own = np.exp(instance @ proxy / temperature)
        others = [np.exp(instance @ p / temperature) for k, p in enumerate(prototypes) if k != c]
        return float(own / (own + sum(others)))

    total = 0.0
    for c in np.unique(CLASSES).tolist():
        inside, outside = np.flatnonzero(c == CLASSES), np.flatnonzero(c != CLASSES)
        for i in inside:
            alike = [probability(rows[i], rows[other], c) for other in inside if other != i]
            total -= np.log((probability(rows[i], prototypes[c], c) + sum(alike)) / len(inside))
            for j in outside:
                both = probability(rows[j], rows[i], c) + probability(rows[j], prototypes[c], c)
                total -= np.log(1 - both / 2)
    return total / len(rows)


@pytest.mark.parametrize("temperature", [0.1, 0.5, 2.0])
def test_loss_is_the_sum_over_pairs(temperature: float) -> None:
    rows, prototypes = draw()
    found = proxy_loss(rows, CLASSES, prototypes, temperature).value
    assert found == pytest.approx(slow_loss(rows, prototypes, temperature), rel=1e-10)


@pytest.mark.parametrize("temperature", [0.1, 0.5])
def test_gradient_equals_finite_differences(temperature: float) -> None:
    rows, prototypes = draw()
    expected = np.zeros_like(rows)
    for place in np.ndindex(*rows.shape):
        step = np.zeros_like(rows)
        step[place] = 1e-6
        above, below = (
            proxy_loss(moved, CLASSES, prototypes, temperature, pseudo=rows).value
            for moved in (rows + step, rows - step)
        )
        expected[place] = (above - below) / 2e-6
    found = proxy_loss(rows, CLASSES, prototypes, temperature).gradient
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_gradient_reaches_the_map_through_the_length() -> None:
    # The whole way of a step: W x, divided by its length, into the loss.
    rng = np.random.default_rng(1)
    X, weights = rng.normal(size=(9, 5)), rng.normal(size=(4, 5))
    _, prototypes = draw()
    fixed, lengths = unit_rows(X @ weights.T)
    gradient = through_length(proxy_loss(fixed, CLASSES, prototypes, 0.3).gradient, fixed, lengths).T @ X
    for place in ((0, 0), (1, 3), (3, 4)):
        step = np.zeros_like(weights)
        step[place] = 1e-6
        above, below = (
            proxy_loss(unit_rows(X @ moved.T)[0], CLASSES, prototypes, 0.3, pseudo=fixed).value
            for moved in (weights + step, weights - step)
        )
        assert gradient[place] == pytest.approx((above - below) / 2e-6, abs=1e-6)


def test_cold_and_opposite_stay_finite() -> None:
    rows = np.array([[1.0, 0.0], [-1.0, 0.0], [1.0, 0.0]])
    found = proxy_loss(rows, np.array([1, 0, 0]), np.array([[1.0, 0.0], [-1.0, 0.0]]), 1e-3)
    assert np.isfinite(found.value)
    assert np.isfinite(found.gradient).all()


def test_zero_has_no_direction() -> None:
    units, lengths = unit_rows(np.zeros((1, 3)))
    assert through_length(np.ones((1, 3)), units, lengths).tolist() == [[0.0, 0.0, 0.0]]
