import numpy as np
import pytest
from scipy.special import logsumexp

from i2cansay.learners.memory.cndpm import CNDPM
from i2cansay.testing import check_learner
from i2cansay.testing.blobs import blobs


def cloud(at: float, n: int, seed: int) -> np.ndarray:
    centre = np.zeros(6)
    centre[0] = at
    samples: np.ndarray = centre + np.random.default_rng(seed).normal(size=(n, 6))
    return samples


def taught(model: CNDPM, X: np.ndarray, y: np.ndarray, size: int = 10) -> CNDPM:
    for start in range(0, len(X), size):
        model.partial_fit(X[start : start + size], y[start : start + size])
    return model


def first_expert(**parameters: float) -> CNDPM:
    """Return a learner with one expert, of two classes at 0 and at 5, and an empty memory."""
    X = np.concatenate([cloud(0, 20, 0), cloud(5, 20, 1)])
    model = CNDPM(memory_size=40, log_alpha=-20.0, chill=1.0, random_state=0, **parameters)  # type: ignore[arg-type]
    taught(model, X, np.repeat([0, 1], 20))
    assert (model.n_experts_, len(model.state()["memory.rows"])) == (1, 0)
    return model


@pytest.mark.parametrize("memory_size", [5, 20])
def test_keeps_the_contract_with_experts(memory_size: int) -> None:
    assert check_learner(CNDPM(memory_size=memory_size, rank=2)) > 30


def test_an_old_cluster_opens_no_expert() -> None:
    model = taught(first_expert(), np.concatenate([cloud(0, 60, 2), cloud(5, 60, 3)]), np.repeat([0, 1], 60))
    assert model.n_experts_ == 1
    assert len(model.state()["memory.rows"]) < 6
    assert model.state()["experts.0.means.count"].sum() > 40 + 114


def test_a_new_cluster_of_a_known_class_opens_one() -> None:
    # The label is known, so it is the density that says no.
    model = taught(first_expert(), cloud(40, 40, 4), np.zeros(40, dtype=np.int64))
    assert model.n_experts_ == 2
    assert model.state()["experts.0.means.count"].sum() == 40
    assert (model.predict(cloud(40, 20, 5)) == 0).all()


def test_a_new_class_opens_one_even_where_an_old_one_lies() -> None:
    model = taught(first_expert(), cloud(0, 40, 6), np.full(40, 7))
    assert model.n_experts_ == 2
    assert model.state()["experts.1.classes"].tolist() == [2]


def test_a_larger_alpha_sends_more_to_the_memory() -> None:
    X, y = cloud(3, 30, 7), np.zeros(30, dtype=np.int64)  # off the class, not far off
    held = [
        len(first_expert().set_params(log_alpha=alpha).partial_fit(X, y).state()["memory.rows"])
        for alpha in (-1000.0, -20.0, 20.0)
    ]
    assert held[0] == 0
    assert held[0] <= held[1] <= held[2]
    assert held[2] == 30


def test_scores_are_the_mixture_of_the_experts() -> None:
    model = taught(first_expert(), cloud(40, 40, 4), np.full(40, 1))
    X = np.concatenate([cloud(0, 5, 8), cloud(40, 5, 9)])
    joint = np.full((2, len(X), 2), -np.inf)
    for place, expert in enumerate(model._experts.all):
        evidence = np.log(expert.count) + expert.log_density(X)
        joint[place][:, expert.classes] = expert.log_probability(X) + evidence[:, None]
    mixed = logsumexp(joint, axis=0)
    np.testing.assert_allclose(model.class_scores(X), mixed - mixed.max(axis=1, keepdims=True), atol=1e-9)


def test_what_is_still_in_the_memory_answers_too() -> None:
    model = taught(first_expert(), cloud(20, 15, 10), np.full(15, 9))
    assert (model.n_experts_, len(model.state()["memory.rows"])) == (1, 15)
    assert (model.predict(cloud(20, 20, 11)) == 9).all()
    assert (model.predict(cloud(0, 20, 12)) != 9).all()


def test_a_batch_larger_than_the_memory_opens_several() -> None:
    X, y = blobs(per_class=25)
    model = CNDPM(memory_size=10, random_state=0).partial_fit(X, y)
    assert model.n_experts_ == 10
    assert len(model.state()["memory.rows"]) == 0


def test_log_alpha_must_be_finite() -> None:
    with pytest.raises(ValueError, match="log_alpha must be a finite number"):
        CNDPM(log_alpha=-np.inf).partial_fit(np.eye(2), [0, 1])
