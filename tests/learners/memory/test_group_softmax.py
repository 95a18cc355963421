import numpy as np

from i2cansay.learners.memory.group_softmax import (
    balanced_weights,
    group_error_signal,
    group_log_softmax,
    vote,
)

GROUPS = np.array([0, 0, 1, 1, 1, 2])


def test_shares_sum_to_one_in_every_group() -> None:
    logits = 50 * np.random.default_rng(0).normal(size=(7, 6))
    shares = np.exp(group_log_softmax(logits, GROUPS))
    for group in range(3):
        np.testing.assert_allclose(shares[:, group == GROUPS].sum(axis=1), 1.0)


def test_error_is_the_gradient_of_the_cross_entropy_in_the_group() -> None:
    rng = np.random.default_rng(1)
    logits, targets, weights = rng.normal(size=(4, 6)), np.array([0, 3, 5, 4]), rng.random(4)

    def loss(at: np.ndarray) -> float:
        return float(-(weights * group_log_softmax(at, GROUPS)[np.arange(4), targets]).sum())

    error = group_error_signal(logits, targets, GROUPS, weights)
    for place in np.ndindex(4, 6):
        step = np.zeros((4, 6))
        step[place] = 1e-6
        np.testing.assert_allclose(
            error[place], (loss(logits + step) - loss(logits - step)) / 2e-6, atol=1e-8
        )


def test_weights_are_shared_evenly_inside_a_group() -> None:
    targets, weights = np.array([0, 0, 0, 1, 2, 4, 4]), np.array([1.0, 2.0, 3.0, 2.0, 1.0, 1.0, 1.0])
    balanced = balanced_weights(targets, GROUPS, weights)
    of_class = np.bincount(targets, weights=balanced, minlength=6)
    np.testing.assert_allclose(of_class, [4.0, 4.0, 1.5, 0.0, 1.5, 0.0])
    np.testing.assert_allclose(balanced[:3] / balanced[0], [1.0, 2.0, 3.0])


def test_the_winner_is_the_nearest_candidate_when_cold_and_the_surest_when_hot() -> None:
    rng = np.random.default_rng(2)
    shares, distances = group_log_softmax(3 * rng.normal(size=(50, 6)), GROUPS), rng.random((50, 6))
    members = [np.flatnonzero(group == GROUPS) for group in range(3)]
    candidates = np.stack([own[shares[:, own].argmax(axis=1)] for own in members], axis=1)
    rows = np.arange(50)[:, None]
    for temperature, measure in ((1e-9, -distances), (1e9, shares)):
        expected = candidates[np.arange(50), measure[rows, candidates].argmax(axis=1)]
        np.testing.assert_array_equal(vote(shares, distances, GROUPS, temperature).argmax(axis=1), expected)
