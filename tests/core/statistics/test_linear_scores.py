import numpy as np

from i2cansay.core.statistics.linear_scores import BLOCK, LinearScores


def test_blocks_leave_no_seam() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((BLOCK + 3, 2)).astype(np.float32)
    rule = LinearScores(np.array([1.0, -1.0]), rng.standard_normal((3, 2)), np.arange(3.0))
    expected = np.einsum("nd,cd->nc", X - rule.centre, rule.weights) + np.arange(3.0)
    np.testing.assert_allclose(rule.of(X), expected, rtol=1e-12)


def test_far_from_the_origin_small_differences_count() -> None:
    rule = LinearScores(np.array([1e9]), np.array([[1.0], [-1.0]]), np.zeros(2))
    assert rule.of(np.array([[1e9 + 0.25]])).tolist() == [[0.25, -0.25]]
