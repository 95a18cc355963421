import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from i2cansay.learners.memory.gaussian_expert import GaussianExpert, leading_directions


def make(rank: int = 2, n: int = 60, d: int = 4) -> tuple[GaussianExpert, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n) * 2 + 1  # the learner's classes 1, 3, 5
    X = rng.normal(size=(n, d)) * np.array([3.0, 2.0, 0.5, 0.5]) + 2.0 * y[:, None] + 50.0
    expert = GaussianExpert(
        X, y, rank=rank, least=1e-3, lr=1e-4, weight_decay=0.0, epochs=3, rng=np.random.default_rng(0)
    )
    return expert, X, y


@pytest.mark.parametrize("rank", [0, 2, 3])
def test_density_is_the_mixture_of_gaussians(rank: int) -> None:
    expert, X, y = make(rank)
    deviations = X - np.stack([X[y == c].mean(axis=0) for c in (1, 3, 5)])[(y - 1) // 2]
    values, vectors = np.linalg.eigh(deviations.T @ deviations / len(X))
    values[: 4 - rank] = values[: 4 - rank].mean()  # all but the leading directions are alike
    covariance = vectors @ np.diag(values) @ vectors.T
    parts = [
        np.log((y == c).mean()) + multivariate_normal(X[y == c].mean(axis=0), covariance).logpdf(X)
        for c in (1, 3, 5)
    ]
    np.testing.assert_allclose(expert.log_density(X), logsumexp(parts, axis=0), rtol=1e-8)


@pytest.mark.parametrize("shape", [(30, 5), (5, 30)])
def test_directions_are_those_of_a_singular_value_decomposition(shape: tuple[int, int]) -> None:
    rows = np.random.default_rng(1).normal(size=shape) * np.linspace(3, 1, shape[1])
    directions, variances, noise = leading_directions(rows, rank=3, least=1e-9)
    _, singular, right = np.linalg.svd(rows, full_matrices=False)
    np.testing.assert_allclose(variances, singular[:3] ** 2 / shape[0])
    np.testing.assert_allclose(np.abs(np.einsum("rd,rd->r", directions, right[:3])), 1.0)
    assert noise == pytest.approx((singular[3:] ** 2).sum() / shape[0] / (shape[1] - 3))


def test_no_variance_is_smaller_than_the_least() -> None:
    directions, variances, noise = leading_directions(np.zeros((4, 3)), rank=2, least=0.25)
    assert (directions.shape, variances.shape, noise) == ((0, 3), (0,), 0.25)


def test_later_samples_move_mean_and_count() -> None:
    expert, X, y = make()
    expert.learn(X[:5] + 1.0, y[:5], None, lr=1e-4, weight_decay=0.0)
    assert expert.count == len(X) + 5
    together, labels = np.concatenate([X, X[:5] + 1.0]), np.concatenate([y, y[:5]])
    np.testing.assert_allclose(expert.means.mean[1], together[labels == 3].mean(axis=0))


def test_dropping_a_class_renumbers_the_rest() -> None:
    expert, X, _ = make()
    expert.drop(0)  # not its own: those behind move up
    assert expert.classes.tolist() == [0, 2, 4]
    expert.drop(2)
    assert expert.classes.tolist() == [0, 3]
    assert expert.log_probability(X).shape == (len(X), 2)


def test_state_gives_the_same_expert() -> None:
    expert, X, _ = make()
    twin = GaussianExpert.from_state(expert.state(), 4, 6)
    np.testing.assert_array_equal(twin.log_density(X), expert.log_density(X))
    np.testing.assert_array_equal(twin.log_probability(X), expert.log_probability(X))
    with pytest.raises(ValueError, match="rows of the 5 known"):
        GaussianExpert.from_state(expert.state(), 4, 5)
