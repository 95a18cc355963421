from itertools import combinations

import numpy as np
import pytest

from i2cansay.core.paper.head import LinearHead
from i2cansay.learners.replay import diverse_subset as module
from i2cansay.learners.replay.diverse_subset import diverse_subset
from i2cansay.learners.replay.head_gradients import UnitGradients


def draw(n: int, seed: int) -> UnitGradients:
    rng = np.random.default_rng(seed)
    head = LinearHead(n_features=3, bias=True)
    head.resize(3)
    head.weights[:] = rng.normal(size=(3, 3))
    return UnitGradients.of(head, rng.normal(size=(n, 3)) + 1, rng.integers(0, 3, n))


def summed(gradients: UnitGradients, places: np.ndarray) -> float:
    chosen = gradients.at(places)
    return float(chosen.cosines(chosen).sum(dtype=np.float64))


@pytest.mark.parametrize("size", [3, 5, 7])
def test_against_brute_force(size: int) -> None:
    exact = 0
    for seed in range(30):
        gradients = draw(10, seed)
        sums = [summed(gradients, np.array(places)) for places in combinations(range(10), size)]
        found = summed(gradients, diverse_subset(gradients, size))
        # Never worse than nine of ten subsets, and mostly the best of all.
        assert found <= np.quantile(sums, 0.1)
        exact += found < min(sums) + 1e-4
    assert exact >= 20


def test_no_single_exchange_improves_it() -> None:
    gradients = draw(40, 0)
    inside = diverse_subset(gradients, 25)
    least = summed(gradients, inside)
    for leaving in range(25):
        for entering in np.setdiff1d(np.arange(40), inside):
            exchanged = np.append(np.delete(inside, leaving), entering)
            assert summed(gradients, exchanged) > least - 1e-3


def test_a_pool_smaller_than_everything_does_nearly_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    gradients = draw(400, 1)
    whole = summed(gradients, diverse_subset(gradients, 370))
    monkeypatch.setattr(module, "SMALLEST_POOL", 20)
    pooled = summed(gradients, diverse_subset(gradients, 370))
    at_random = summed(gradients, np.arange(370))
    assert pooled - whole < 0.1 * (at_random - whole)


def test_asked_for_all_it_gives_all() -> None:
    assert diverse_subset(draw(6, 2), 6).tolist() == [0, 1, 2, 3, 4, 5]
    assert diverse_subset(draw(6, 2), 9).tolist() == [0, 1, 2, 3, 4, 5]
