"""Eq. 5: the step is the gradient of the loss, in place and without surprises."""

import numpy as np
import pytest

from i2cansay.core import score_blocks
from i2cansay.core.paper.head import LinearHead, cross_entropy, error_signal, row_weights, softmax
from i2cansay.core.types import Features, Rows


def problem(seed: int = 0, n: int = 7, d: int = 4, c: int = 3) -> tuple[Features, Rows, Features, Features]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.integers(0, c, n), rng.uniform(0.1, 1, n), rng.normal(size=(c, d))


def test_eq5_gradient_against_finite_differences() -> None:
    X, targets, weights, W = problem()
    gradient = error_signal(X @ W.T, targets, weights).T @ X
    numeric = np.empty_like(W)
    for index in np.ndindex(*W.shape):
        up, down = W.copy(), W.copy()
        up[index] += 1e-6
        down[index] -= 1e-6
        numeric[index] = (
            cross_entropy(X @ up.T, targets, weights) - cross_entropy(X @ down.T, targets, weights)
        ) / 2e-6
    np.testing.assert_allclose(gradient, numeric, atol=1e-8)


def test_eq5_loss_against_loops_over_groups_and_classes() -> None:
    X, targets, _, W = problem(n=6)
    beta, expected = 2.0, 0.0
    for group, factor in ((range(4), 1.0), (range(4, 6), beta)):
        losses = []
        for i in group:
            logits = [sum(X[i, k] * W[c, k] for k in range(4)) for c in range(3)]
            losses.append(-logits[targets[i]] + np.log(sum(np.exp(value) for value in logits)))
        expected += factor * np.mean(losses)
    assert cross_entropy(X @ W.T, targets, row_weights([4, 2], [1.0, beta])) == pytest.approx(
        expected, rel=1e-6
    )


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("bias", [False, True])
def test_steps_against_plain_sgd_in_float64(momentum: float, bias: bool) -> None:
    X, targets, weights, _ = problem()
    head = LinearHead(4, bias=bias, momentum=momentum)
    head.resize(3)
    W, b, V, v = np.zeros((3, 4)), np.zeros(3), np.zeros((3, 4)), np.zeros(3)
    lr, decay = 0.3, 0.01
    for _ in range(5):
        head.step(X.astype(np.float32), targets, weights.astype(np.float32), lr=lr, weight_decay=decay)
        error = error_signal(X @ W.T + b, targets, weights)
        V = momentum * V + error.T @ X + decay * W
        v = momentum * v + error.sum(axis=0) + decay * b
        W, b = W - lr * V, (b - lr * v if bias else b)
    np.testing.assert_allclose(head.weights, W, atol=1e-5)
    if bias:
        assert head.bias is not None
        np.testing.assert_allclose(head.bias, b, atol=1e-5)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("bias", [False, True])
def test_a_step_in_blocks_of_rows_is_one_step(
    momentum: float, bias: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, targets, weights, _ = problem()
    whole, parts = (LinearHead(4, bias=bias, momentum=momentum) for _ in range(2))
    for head, scores in ((whole, 100), (parts, 6)):
        monkeypatch.setattr(score_blocks, "SCORES_AT_A_TIME", scores)
        head.resize(3)
        for _ in range(3):
            head.step(X.astype(np.float32), targets, weights.astype(np.float32), lr=0.3, weight_decay=0.01)
    for name, expected in whole.state().items():
        np.testing.assert_allclose(parts.state()[name], expected, atol=1e-6, err_msg=name)


def test_a_new_class_starts_at_zero_and_leaves_the_others() -> None:
    X, targets, weights, _ = problem()
    head = LinearHead(4, bias=False)
    head.resize(3)
    head.step(X.astype(np.float32), targets, weights.astype(np.float32), lr=0.1)
    before = head.weights.copy()
    head.resize(5)
    np.testing.assert_array_equal(head.weights[:3], before)
    assert not head.weights[3:].any()
    head.drop(1)
    np.testing.assert_array_equal(head.weights[:2], before[[0, 2]])


def test_softmax_survives_large_logits() -> None:
    rows = softmax(np.array([[1e30, 0.0], [-1e30, -1e30]]))
    np.testing.assert_allclose(rows, np.array([[1, 0], [0.5, 0.5]]))


def test_restore_refuses_other_shapes() -> None:
    head = LinearHead(4, bias=False)
    with pytest.raises(ValueError, match="weights"):
        head.restore({"weights": np.zeros((2, 4), dtype=np.float32)}, 3)
    with pytest.raises(ValueError, match="shape"):
        head.restore({"weights": np.zeros((3, 5), dtype=np.float32)}, 3)


def test_a_rehearsal_is_one_step_on_batch_and_replayed_rows() -> None:
    rng = np.random.default_rng(0)
    X, replayed = rng.standard_normal((5, 3)), rng.standard_normal((2, 3)).astype(np.float32)
    y, old, weights = np.array([0, 1, 1, 2, 0]), np.array([2, 1]), np.arange(1.0, 6.0)
    heads = [LinearHead(3, bias=True) for _ in range(2)]
    for head in heads:
        head.resize(3)
    heads[0].rehearse(X, y, replayed, old, weights=weights, lr=0.3)
    every_row = np.concatenate([weights / weights.sum(), [0.5, 0.5]]).astype(np.float32)
    rows = np.concatenate([X, replayed]).astype(np.float32)
    heads[1].step(rows, np.concatenate([y, old]), every_row, lr=0.3)
    np.testing.assert_allclose(heads[0].weights, heads[1].weights, rtol=1e-6)
    assert heads[0].weights.any()
