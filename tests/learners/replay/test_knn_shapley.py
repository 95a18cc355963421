from itertools import combinations
from math import comb

import numpy as np
import pytest

from i2cansay.learners.replay.knn_shapley import (
    EXTENTS,
    Extent,
    Labelled,
    adversarial_shapley,
    draw_balanced,
    knn_shapley,
)


def draw(n: int, seed: int) -> Labelled:
    rng = np.random.default_rng(seed)
    return Labelled(rng.normal(size=(n, 2)), rng.integers(0, 3, n))


def worth(members: tuple[int, ...], candidates: Labelled, x: np.ndarray, row: int, k: int) -> float:
    """The share of the k nearest members that have the label: what the nearest-neighbour rule gives it."""
    nearest = sorted(members, key=lambda i: float(np.linalg.norm(candidates.X[i] - x)))[:k]
    return sum(int(candidates.classes[i]) == row for i in nearest) / k


def exact_shapley(candidates: Labelled, x: np.ndarray, row: int, k: int) -> list[float]:
    """The definition: the mean gain of joining, over all coalitions, every size weighing the same."""
    n, values = len(candidates.classes), []
    for player in range(n):
        others = [i for i in range(n) if i != player]
        value = 0.0
        for size in range(n):
            for members in combinations(others, size):
                gain = worth((*members, player), candidates, x, row, k) - worth(
                    members, candidates, x, row, k
                )
                value += gain / (n * comb(n - 1, size))
        values.append(value)
    return values


@pytest.mark.parametrize("n", [1, 2, 5, 8])
@pytest.mark.parametrize("k", [1, 2, 3, 9])
def test_equals_the_sum_over_all_coalitions(n: int, k: int) -> None:
    candidates, evaluation = draw(n, 0), draw(4, 1)
    expected = [
        exact_shapley(candidates, x, row, k) for x, row in zip(evaluation.X, evaluation.classes, strict=True)
    ]
    np.testing.assert_allclose(knn_shapley(candidates, evaluation, k), expected, atol=1e-6)


def test_values_share_out_what_all_together_are_worth() -> None:
    candidates, evaluation = draw(40, 2), draw(15, 3)
    together = [
        worth(tuple(range(40)), candidates, x, row, 3)
        for x, row in zip(evaluation.X, evaluation.classes, strict=True)
    ]
    np.testing.assert_allclose(knn_shapley(candidates, evaluation, 3).sum(axis=1), together, atol=1e-5)


def test_neither_the_place_of_the_origin_nor_the_order_of_candidates_matters() -> None:
    candidates, evaluation = draw(30, 4), draw(6, 5)
    expected = knn_shapley(candidates, evaluation, 3)
    far, far_evaluation = (Labelled(part.X + 1e5, part.classes) for part in (candidates, evaluation))
    np.testing.assert_allclose(knn_shapley(far, far_evaluation, 3), expected, atol=1e-6)
    order = np.random.default_rng(6).permutation(30)
    shuffled = Labelled(candidates.X[order], candidates.classes[order])
    np.testing.assert_allclose(knn_shapley(shuffled, evaluation, 3), expected[:, order], atol=1e-6)


@pytest.mark.parametrize("extent", EXTENTS)
def test_adversarial_value_by_slow_loops(extent: Extent) -> None:
    candidates, old, new = draw(7, 7), draw(4, 8), draw(3, 9)
    helps, hinders = (
        np.array([exact_shapley(candidates, x, row, 3) for x, row in zip(*part, strict=True)])
        for part in (old, new)
    )
    expected = (
        helps.mean(axis=0) - hinders.mean(axis=0)
        if extent == "mean"
        else helps.max(axis=0) - hinders.min(axis=0)
    )
    values = adversarial_shapley(candidates, old=old, new=new, n_neighbours=3, extent=extent)
    np.testing.assert_allclose(values, expected, atol=1e-6)


def test_a_row_amid_the_new_class_is_worth_more_than_one_far_away() -> None:
    candidates = Labelled(np.array([[0.0], [0.1], [50.0], [50.1]]), np.array([0, 1, 0, 1]))
    old = Labelled(np.array([[0.0], [50.0]]), np.array([0, 0]))
    new = Labelled(np.array([[0.05], [0.06]]), np.array([1, 1]))
    values = adversarial_shapley(candidates, old=old, new=new, n_neighbours=1)
    assert values.argmax() == 0  # of the old class, and in the way of the new one


def test_balanced_draw_takes_from_every_class_at_random() -> None:
    classes = np.repeat([3, 0, 7], [50, 2, 10])
    drawn = [draw_balanced(classes, 4, np.random.default_rng(seed)) for seed in range(200)]
    for places in drawn:
        assert np.bincount(classes[places])[[0, 3, 7]].tolist() == [2, 4, 4]
        assert len(np.unique(places)) == 10
    assert len(np.unique(np.concatenate(drawn))) == 62  # every row has its turn
