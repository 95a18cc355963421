"""The step never goes against the reference gradient, and is plain SGD where there is no conflict."""

import numpy as np
import pytest

from i2cansay.core.paper.head import error_signal, row_weights
from i2cansay.core.types import Float32, Float64, Rows
from i2cansay.learners.bounds.naive import Naive
from i2cansay.learners.replay.agem import AveragedGEM, reference_weight


def explicit_gradient(W: Float64, b: Float64, X: Float32, rows: Rows) -> Float64:
    """Return the gradient of the mean cross-entropy by weights and bias, sample by sample, (c, d + 1)."""
    total = np.zeros((len(W), X.shape[1] + 1))
    for x, row in zip(X.astype(float), rows, strict=True):
        p = np.exp(W @ x + b)
        total += np.outer(p / p.sum() - np.eye(len(W))[row], np.append(x, 1.0))
    return total / len(X)


def streams() -> tuple[Float32, Rows]:
    """Return overlapping classes, one after the other: the batch pulls against the past."""
    y = np.repeat(np.arange(4), 40)
    centres = np.random.default_rng(99).normal(size=(4, 8))
    return (centres[y] + np.random.default_rng(0).normal(size=(160, 8))).astype(np.float32), y


def test_projected_gradient_against_explicit_gradients() -> None:
    X, y = streams()
    model = AveragedGEM(memory_size=500, n_reference=500, lr=1.0, weight_decay=0.0, random_state=0)
    model.partial_fit(X[::4], y[::4])  # all classes are known
    steps = conflicts = 0
    for start in (*range(0, 160, 20), *range(0, 160, 20)):
        batch, rows = X[start : start + 20], y[start : start + 20]
        before, steps = model.state(), steps + 1
        W, b = before["head.weights"].astype(float), before["head.bias"].astype(float)
        model.partial_fit(batch, rows)
        after = model.state()
        moved = np.column_stack(
            [before[f"head.{name}"] - after[f"head.{name}"] for name in ("weights", "bias")]
        )
        g = explicit_gradient(W, b, batch, rows)
        r = explicit_gradient(W, b, before["buffer.rows"], before["buffer.classes"])  # all of the memory
        if (g * r).sum() < 0:
            conflicts += 1
            expected = g - (g * r).sum() / (r * r).sum() * r
        else:
            expected = g
        np.testing.assert_allclose(moved, expected, atol=1e-4)
        assert (moved * r).sum() >= -1e-5 * np.linalg.norm(moved) * np.linalg.norm(r)
    assert 0 < conflicts < steps


@pytest.mark.parametrize("seed", range(20))
def test_the_weight_removes_the_conflict_and_no_more(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, Z = (rng.normal(size=(n, 5)).astype(np.float32) for n in (7, 9))
    errors = [
        error_signal(
            rng.normal(size=(n, 3)).astype(np.float32), rng.integers(0, 3, n), row_weights([n], [1.0])
        )
        for n in (7, 9)
    ]
    g = errors[0].T @ np.column_stack([X, np.ones(7)])
    r = errors[1].T @ np.column_stack([Z, np.ones(9)])
    weight = reference_weight(X, errors[0], Z, errors[1])
    assert weight == pytest.approx(max(0.0, -(g * r).sum() / (r * r).sum()), rel=1e-4)
    product = ((g + weight * r) * r).sum()
    assert product >= -1e-5
    assert weight == 0 or product == pytest.approx(0, abs=1e-5)


def test_without_conflict_it_is_plain_sgd() -> None:
    X, y = streams()
    half = (y < 2).nonzero()[0]
    batch, rows = X[half], y[half]
    model, naive = AveragedGEM(memory_size=500, n_reference=500, lr=0.02, random_state=0), Naive(lr=0.02)
    for _ in range(5):  # the same batch again and again: the past wants what the batch wants
        model.partial_fit(batch, rows)
        naive.partial_fit(batch, rows)
    np.testing.assert_array_equal(model.class_scores(X), naive.class_scores(X))


def test_a_reference_without_gradient_constrains_nothing() -> None:
    X, error = np.ones((2, 3), dtype=np.float32), np.array([[0.5, -0.5]] * 2, dtype=np.float32)
    assert reference_weight(X, error, X, np.zeros_like(error)) == 0.0
    tiny = np.float32(1e-30) * error
    assert np.isfinite(reference_weight(X, error, X, -tiny))
