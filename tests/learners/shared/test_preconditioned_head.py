from itertools import pairwise

import numpy as np
import pytest

from i2cansay.core import score_blocks
from i2cansay.core.linalg.symmetric import unpack32
from i2cansay.core.paper.head import LinearHead, row_weights
from i2cansay.core.paper.ican import transfer
from i2cansay.core.statistics.scatter import SharedScatter
from i2cansay.learners.shared import preconditioned_head as preconditioned
from i2cansay.learners.shared.preconditioned_head import (
    FULL_STEP_FROM_SAMPLES,
    GROWTH,
    PreconditionedHead,
)

C, D = 4, 5


def draw(n: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % C
    mixing = np.eye(D) + 0.4 * np.random.default_rng(99).standard_normal((D, D))
    return (rng.standard_normal((n, D)) @ mixing + np.eye(C, D)[y] + 3).astype(np.float32), y


def taught(X: np.ndarray, y: np.ndarray) -> SharedScatter:
    scatter = SharedScatter(X.shape[1])
    scatter.resize(C)
    scatter.add(X, y)
    return scatter


def started(scatter: SharedScatter, shrinkage: float = 0.1, shrink_means: float = 0.0) -> PreconditionedHead:
    head = PreconditionedHead(len(scatter.means.centre))
    head.resize(C)
    head.refresh(scatter, shrinkage, shrink_means)
    return head


def root_of_inverse(scatter: SharedScatter, shrinkage: float) -> np.ndarray:
    """Return R with R R^T = A^-1, from the eigenvalues of A as its definition has it."""
    covariance = scatter.matrix.dense() / scatter.means.total
    covariance = (1 - shrinkage) * covariance + shrinkage * np.trace(covariance) / D * np.eye(D)
    values, vectors = np.linalg.eigh(covariance)
    root: np.ndarray = vectors @ np.diag(values**-0.5) @ vectors.T
    return root


def softmax(logits: np.ndarray) -> np.ndarray:
    grown = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: np.ndarray = grown / grown.sum(axis=1, keepdims=True)
    return shares


@pytest.mark.parametrize("shrink_means", [0.0, 0.4])
@pytest.mark.parametrize("temperature", [1.0, 7.0])
def test_step_is_plain_descent_in_decorrelated_coordinates(temperature: float, shrink_means: float) -> None:
    X, y = draw()
    often = np.concatenate([np.arange(40), np.flatnonzero(y == 1), np.flatnonzero(y == 1)])
    scatter, rng = (
        taught(X[often], y[often]),
        np.random.default_rng(1),
    )  # one class thrice as often as the others
    head, root = started(scatter, shrink_means=shrink_means), root_of_inverse(scatter, 0.1)
    assert head.state()["shrink_means"] == shrink_means  # safe here
    centre = scatter.means.centre
    flat_means = (scatter.means.mean - centre) @ root
    middle = flat_means.mean(axis=0)
    reach = ((flat_means - middle) ** 2).sum(axis=1, keepdims=True)
    drawn = middle + (flat_means - middle) / np.sqrt(1 + shrink_means * reach)
    flat_weights, rate = np.zeros((C, D)), 0.3 * 10 / FULL_STEP_FROM_SAMPLES
    for start in (0, 10, 20):
        x, labels = X[start : start + 10], y[start : start + 10]
        old = (np.tile(labels, 2) + rng.integers(1, C, 20)) % C
        weights = row_weights([10, 20], [1.0, 2.0])
        head.step(
            x,
            labels,
            old=old,
            means=scatter.means.mean,
            weights=weights,
            temperature=temperature,
            lr=0.3,
        )

        real = (x - centre) @ root
        pseudo = np.tile(real, (2, 1)) - flat_means[np.tile(labels, 2)] + flat_means[old]
        rows, targets = np.concatenate([real, pseudo]), np.concatenate([labels, old])
        distances = ((rows[:, None] - drawn[None]) ** 2).sum(axis=2)
        logits = -0.5 * distances / temperature + rows @ flat_weights.T
        calm = np.minimum(1, D / (rows**2).sum(axis=1))
        error = (softmax(logits) - np.eye(C)[targets]) * (weights * calm)[:, None]
        flat_weights -= rate * error.T @ rows
    assert np.abs(flat_weights).max() > 1e-3
    np.testing.assert_allclose(head.state()["weights"], flat_weights @ root, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(
        head.logits(X), (X - centre) @ root @ flat_weights.T, rtol=1e-3, atol=1e-5
    )  # W f is the same number in either coordinates


def test_without_a_closed_form_it_is_the_step_of_the_linear_head() -> None:
    # A temperature without end leaves no base, a unit sphere no correlation, and a mean at zero no centre.
    corners = np.concatenate([np.eye(D), -np.eye(D)]).astype(np.float32) * np.float32(np.sqrt(D))
    scatter = SharedScatter(D)
    scatter.resize(C)
    for row in range(C):
        scatter.add(corners, np.full(2 * D, row))
    head, plain = started(scatter), LinearHead(D, bias=False)
    plain.resize(C)
    X, y = draw(20)
    X /= 10  # not longer than ordinary rows
    weights = row_weights([20], [1.0])
    nobody = np.empty(0, dtype=np.int64)
    rate = 0.2 * FULL_STEP_FROM_SAMPLES / len(X)
    for _ in range(3):
        head.step(X, y, old=nobody, means=scatter.means.mean, weights=weights, temperature=1e12, lr=rate)
        plain.step(X, y, weights, lr=0.2)
    np.testing.assert_allclose(head.state()["weights"], plain.weights, rtol=1e-4, atol=1e-6)


def test_a_step_in_blocks_of_rows_is_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = draw()
    scatter = taught(X, y)
    whole, parts = (started(scatter, shrink_means=0.4) for _ in range(2))
    weights = row_weights([40, 40], [1.0, 2.0])
    for head, scores in ((whole, 80 * C), (parts, 9 * C)):
        monkeypatch.setattr(score_blocks, "SCORES_AT_A_TIME", scores)
        for _ in range(3):
            head.step(
                X, y, old=(y + 1) % C, means=scatter.means.mean, weights=weights, temperature=3.0, lr=0.1
            )
    assert np.abs(whole.state()["weights"]).max() > 1e-3
    np.testing.assert_allclose(parts.state()["weights"], whole.state()["weights"], rtol=1e-4, atol=1e-6)


def test_row_far_longer_than_the_width_moves_the_head_no_further_than_an_ordinary_one() -> None:
    X, y = draw()
    scatter = taught(X, y)
    nobody, moved = np.empty(0, dtype=np.int64), []
    for size in (1e2, 1e4):
        head = started(scatter)
        row = (scatter.means.centre + size * np.eye(D)[:1]).astype(np.float32)
        head.step(
            row, y[:1], old=nobody, means=scatter.means.mean, weights=np.ones(1), temperature=1e9, lr=1.0
        )
        moved.append(np.abs(head.logits(row)).max())
    assert moved[0] == pytest.approx(moved[1], rel=1e-3)


def test_eq4_with_equal_spreads_is_a_translation() -> None:
    X, y = draw()
    scatter = taught(X, y)
    means, old = scatter.means.mean.astype(np.float32), (y + 1) % C
    spread = np.full_like(X, 1.7)
    transferred = transfer(
        X, mean_from=means[y], std_from=spread, mean_to=means[old], std_to=spread, alpha=0.0
    )
    np.testing.assert_allclose(transferred, X - means[y] + means[old], rtol=1e-5, atol=1e-5)
    # A step on analogies alone is a step on those rows.
    head, real = started(scatter), started(scatter)
    half = np.concatenate([np.zeros(40), np.full(40, 1 / 40)])
    head.step(X, y, old=old, means=scatter.means.mean, weights=half, temperature=3.0, lr=1.0)
    nobody = np.empty(0, dtype=np.int64)
    real.step(
        transferred, old, old=nobody, means=scatter.means.mean, weights=half[40:], temperature=3.0, lr=1.0
    )
    np.testing.assert_allclose(head.state()["weights"], real.state()["weights"], rtol=1e-3, atol=1e-5)


def test_with_a_new_inverse_every_mean_is_preconditioned_anew() -> None:
    X, y = draw()
    scatter = taught(X, y)
    head = started(scatter)
    scatter.add(X[:4] + 1, np.array([2, 2, 2, 2]))
    head.refresh(scatter, 0.3)
    expected = (scatter.means.mean - scatter.means.centre) @ scatter.shrunk_inverse(0.3).into_dense32()
    np.testing.assert_allclose(head.state()["preconditioned_means"], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("keep", [1.0, 0.6])
def test_shifting_by_the_samples_is_moving_the_means(weighed: bool, keep: float) -> None:
    X, y = draw()
    scatter = taught(X[y < 3], y[y < 3])  # the last class is new in the second batch
    moved, shifted = started(scatter), started(scatter)
    before = moved.state()
    more, rows = draw(9, seed=1)
    weights = np.linspace(0.5, 2.0, 9) if weighed else np.ones(9)
    scatter.fade(keep)
    scatter.add(more, rows, weights)
    expected = (scatter.means.mean - before["centre"]) @ unpack32(D, before["inverse"])
    moved.restore(before | {"preconditioned_means": expected}, C)
    rows_times_precision = shifted.apply_precision(more)
    shifted.shift(rows_times_precision, rows, weights / scatter.means.count[rows])
    np.testing.assert_allclose(shifted.state()["preconditioned_means"], expected, rtol=1e-4, atol=1e-5)
    # And a step is the same, whether it is told the preconditioned rows or not.
    old, means, weights = (rows + 1) % C, scatter.means.mean, np.full(18, 0.1)
    moved.step(more, rows, old=old, means=means, weights=weights, temperature=3.0, lr=1.0)
    shifted.step(
        more,
        rows,
        preconditioned=rows_times_precision,
        old=old,
        means=means,
        weights=weights,
        temperature=3.0,
        lr=1.0,
    )
    np.testing.assert_allclose(shifted.state()["weights"], moved.state()["weights"], rtol=1e-3, atol=1e-5)


def test_inverse_is_made_as_often_as_the_logarithm_of_the_samples() -> None:
    head, scatter = PreconditionedHead(2), SharedScatter(2)
    head.resize(1)
    scatter.resize(1)
    rng, made = np.random.default_rng(0), []
    for batch in range(1, 1001):
        scatter.add(rng.standard_normal((50, 2)), np.zeros(50, dtype=np.int64))
        if head.due(scatter.means.total):
            head.refresh(scatter, 0.1)
            made.append(batch)
    assert made[0] == 1
    assert len(made) <= 1 + np.log(1000) / np.log(1 + GROWTH)
    # And not seldom: never have more samples come than were there, but for the batch that does it.
    assert all(late <= early * (1 + GROWTH) + 1 for early, late in pairwise(made))


def test_what_fades_brings_the_next_inverse_nearer_and_expiry_brings_it_at_once() -> None:
    X, y = draw()
    head = started(taught(X, y))
    assert head.due(40 * (1 + GROWTH))
    assert not head.due(75)
    head.fade(10.0)
    assert head.due(75)
    assert not head.due(65)
    head.expire()
    assert head.due(1)


def test_new_class_starts_at_zero_and_a_dropped_one_leaves_the_others() -> None:
    X, y = draw()
    scatter = taught(X, y)
    head = started(scatter)
    head.step(
        X, y, old=1 - y % 2, means=scatter.means.mean, weights=np.full(80, 0.1), temperature=2.0, lr=1.0
    )
    before = head.logits(X)
    head.resize(C + 1)
    assert not head.logits(X)[:, C].any()
    head.drop(1)
    np.testing.assert_allclose(head.logits(X)[:, :3], before[:, [0, 2, 3]], rtol=1e-5, atol=1e-6)


def test_merge_moves_by_the_share() -> None:
    X, y = draw()
    scatter = taught(X, y)
    mine, theirs = started(scatter), started(scatter)
    for head, start in ((mine, 0), (theirs, 20)):
        part = slice(start, start + 20)
        head.step(
            X[part],
            y[part],
            old=np.empty(0, dtype=np.int64),
            means=scatter.means.mean,
            weights=np.full(20, 0.05),
            temperature=5.0,
            lr=1.0,
        )
    a, b = mine.state()["weights"].copy(), theirs.state()["weights"].copy()
    rows, share = np.array([3, 0, 1, 2]), np.array([0.0, 0.25, 1.0, 0.5])
    mine.merge(theirs, rows, share)
    for theirs_row, (row, way) in enumerate(zip(rows, share, strict=True)):
        expected = (1 - way) * a[row] + way * b[theirs_row]
        np.testing.assert_allclose(mine.state()["weights"][row], expected, rtol=1e-5, atol=1e-7)


def test_restored_head_goes_on_alike_and_refuses_other_shapes() -> None:
    X, y = draw()
    scatter = taught(X, y)
    head, twin = started(scatter), PreconditionedHead(D)
    twin.restore({name: array.copy() for name, array in head.state().items()}, C)
    for each in (head, twin):
        each.step(
            X, y, old=(y + 1) % C, means=scatter.means.mean, weights=np.full(80, 0.1), temperature=2.0, lr=1.0
        )
    for name, array in head.state().items():
        np.testing.assert_array_equal(twin.state()[name], array)
    with pytest.raises(ValueError, match="weights should be of shape"):
        PreconditionedHead(D).restore(head.state(), C + 1)
    with pytest.raises(ValueError, match="inverse should be of shape"):
        PreconditionedHead(D).restore({**head.state(), "inverse": np.eye(D)}, C)


def test_steps_of_small_lessons_are_shorter_in_proportion() -> None:
    nobody, lengths = np.empty(0, dtype=np.int64), {}
    few, many = FULL_STEP_FROM_SAMPLES // 5, 2 * FULL_STEP_FROM_SAMPLES
    for n in (1, few, FULL_STEP_FROM_SAMPLES, many):
        head = PreconditionedHead(4)
        head.resize(C)
        X = np.tile(np.array([1, 0, 0, 0], dtype=np.float32), (n, 1))
        # Without an inverse yet, coordinates are as they come.
        head.step(
            X,
            np.zeros(n, dtype=np.int64),
            old=nobody,
            means=np.zeros((C, 4)),
            weights=np.full(n, 1 / n),
            temperature=1.0,
            lr=1.0,
        )
        lengths[n] = head.state()["weights"][0, 0]
    full = lengths[FULL_STEP_FROM_SAMPLES]
    assert full > 0
    assert lengths[1] == pytest.approx(full / FULL_STEP_FROM_SAMPLES)
    assert lengths[few] == pytest.approx(full / 5)
    assert lengths[many] == pytest.approx(full)


def test_many_classes_are_preconditioned_as_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    scatter = taught(*draw())
    whole = started(scatter)
    monkeypatch.setattr(preconditioned, "MEANS_AT_A_TIME", 2)
    few = started(scatter)
    np.testing.assert_allclose(
        few.state()["preconditioned_means"], whole.state()["preconditioned_means"], rtol=1e-5, atol=1e-6
    )
    offsets = scatter.means.mean - scatter.means.mean.mean(axis=0)
    expected = offsets @ scatter.shrunk_inverse(0.1).into_dense32() @ offsets.T
    for head in (few, whole):
        np.testing.assert_allclose(head.products(scatter), expected, rtol=1e-4, atol=1e-4)
