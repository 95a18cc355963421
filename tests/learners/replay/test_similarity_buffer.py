import numpy as np
import pytest

from i2cansay.core.paper.head import LinearHead
from i2cansay.learners.replay.head_gradients import UnitGradients
from i2cansay.learners.replay.similarity_buffer import SimilarityBuffer


def plain_head(n_features: int, n_classes: int) -> LinearHead:
    head = LinearHead(n_features=n_features, bias=True)
    head.resize(n_classes)
    return head


def test_score_is_the_highest_cosine_with_what_is_held_plus_one() -> None:
    rng = np.random.default_rng(0)
    head, X, classes = plain_head(3, 3), rng.normal(size=(12, 3)), rng.integers(0, 3, 12)
    # As many comparisons as rows held: the draw is everything, in any order.
    buffer = SimilarityBuffer(12, 3, n_compared=8, compared_rows=1)
    buffer.add(X[:8], classes[:8], head, rng)
    np.testing.assert_array_equal(buffer.scores, np.ones(8))  # there was nothing to compare with
    buffer.add(X[8:], classes[8:], head, rng)
    held, new = (UnitGradients.of(head, X[part], classes[part]) for part in (slice(8), slice(8, 12)))
    np.testing.assert_allclose(buffer.scores[8:], new.cosines(held).max(axis=1) + 1, atol=1e-5)


def test_what_is_like_the_held_stays_outside() -> None:
    head, rng = plain_head(2, 2), np.random.default_rng(0)
    buffer = SimilarityBuffer(6, 2, n_compared=6, compared_rows=1)
    buffer.add(np.ones((6, 2)), np.zeros(6, dtype=np.int64), head, rng)
    buffer.add(2 * np.ones((6, 2)), np.zeros(6, dtype=np.int64), head, rng)
    np.testing.assert_array_equal(buffer.memory.rows, np.ones((6, 2)))


def test_challengers_win_as_often_as_the_scores_say() -> None:
    # Held rows with score C, challengers opposite to all of them: c = cos + 1.
    head = plain_head(2, 2)
    X, opposite = np.array([[1.0, 0.0]]), np.array([[1.0, 1.0]])
    cosine = float(
        UnitGradients.of(head, opposite, np.array([1])).cosines(UnitGradients.of(head, X, np.array([0])))[
            0, 0
        ]
    )
    assert cosine < 0
    entered = 0
    for seed in range(800):
        rng = np.random.default_rng(seed)
        buffer = SimilarityBuffer(1, 2, n_compared=1, compared_rows=1)
        buffer.add(X, np.array([0]), head, rng)  # score 1
        buffer.add(opposite, np.array([1]), head, rng)
        entered += int(buffer.memory.classes[0])
    assert entered / 800 == pytest.approx(1 / (1 + cosine + 1), abs=0.06)


def test_held_places_are_drawn_in_proportion_to_their_scores() -> None:
    buffer, rng = SimilarityBuffer(3, 1), np.random.default_rng(0)
    buffer.memory.append(np.zeros((3, 1)), np.zeros(3, dtype=np.int64))
    buffer.scores[:] = [0.5, 0.0, 1.5]
    shares = np.bincount([buffer._draw_held(rng) for _ in range(4000)], minlength=3) / 4000
    np.testing.assert_allclose(shares, [0.25, 0, 0.75], atol=0.03)


def test_it_ends_more_diverse_than_the_stream() -> None:
    rng = np.random.default_rng(0)
    head = plain_head(2, 3)
    classes = np.concatenate([np.zeros(200, dtype=np.int64), np.ones(20, dtype=np.int64), np.full(20, 2)])
    X = rng.uniform(0.5, 1, size=(240, 2))
    buffer = SimilarityBuffer(30, 2, n_compared=5, compared_rows=1)
    for row in range(240):
        buffer.add(X[row : row + 1], classes[row : row + 1], head, rng)
    held = UnitGradients.of(head, buffer.memory.rows, buffer.memory.classes)
    uniform = rng.choice(240, 30, replace=False)
    drawn = UnitGradients.of(head, X[uniform], classes[uniform])
    assert held.similarities().sum() < 0.5 * drawn.similarities().sum()


def test_scores_follow_their_rows_when_a_class_leaves() -> None:
    buffer = SimilarityBuffer(4, 1)
    buffer.memory.append(np.arange(4.0)[:, None], np.array([0, 1, 2, 1]))
    buffer.scores[:] = [0.1, 0.2, 0.3, 0.4]
    buffer.drop(1)
    assert buffer.memory.rows[:, 0].tolist() == [0.0, 2.0]
    assert buffer.scores.tolist() == [0.1, 0.3]
    with pytest.raises(ValueError, match="a score for each of the 2 rows"):
        SimilarityBuffer(4, 1).restore({**buffer.state(), "scores": np.zeros(3)}, 2)
