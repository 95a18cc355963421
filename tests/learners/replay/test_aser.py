import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from i2cansay.learners.bounds.naive import Naive
from i2cansay.learners.replay.aser import ASER
from i2cansay.learners.replay.er import ExperienceReplay
from i2cansay.learners.replay.knn_shapley import EXTENTS, Extent
from i2cansay.testing import check_learner


def one_class_after_the_other(n: int = 600) -> tuple[np.ndarray, np.ndarray]:
    y = np.sort(np.arange(n) % 4)
    return np.random.default_rng(0).standard_normal((n, 6)) + 3 * np.eye(6)[y], y


@pytest.mark.parametrize("extent", EXTENTS)
def test_scikit_learn_accepts_it(extent: Extent) -> None:
    check_estimator(
        ASER(extent=extent, memory_size=30),
        on_skip=None,
        expected_failed_checks=dict(ASER.expected_failed_checks),
    )


def test_contract_with_a_memory_that_overflows() -> None:
    assert check_learner(ASER(extent="extreme", memory_size=9)) > 30


def test_remembers_what_no_longer_comes() -> None:
    X, y = one_class_after_the_other()
    model, naive = ASER(memory_size=60, random_state=0), Naive(lr=0.4)
    for start in range(0, 600, 20):
        for learner in (model, naive):
            learner.partial_fit(X[start : start + 20], y[start : start + 20])
    assert model.score(X, y) > naive.score(X, y) + 0.2
    assert model._buffer.memory.class_counts(4).min() >= 5  # the value keeps a place for every class


def test_before_the_memory_is_full_it_is_plain_replay() -> None:
    X, y = one_class_after_the_other(100)
    order = np.random.default_rng(1).permutation(100)
    aser, er = (
        learner.partial_fit(X[order[:50]], y[order[:50]]).class_scores(X)
        for learner in (
            ASER(memory_size=200, lr=0.3, random_state=0),
            ExperienceReplay(memory_size=200, lr=0.3, random_state=0),
        )
    )
    np.testing.assert_array_equal(aser, er)


def test_replays_rows_in_the_way_of_the_new_class() -> None:
    # Two old classes, one beside the newcomers and one far away: those beside are replayed.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2)) * 0.3 + np.repeat([[0.0, 0.0], [30.0, 0.0]], 40, axis=0)
    model = ASER(memory_size=80, n_candidates=40, random_state=0).partial_fit(
        X, np.repeat(["near", "far"], 40)
    )
    newcomers = rng.normal(size=(20, 2)) * 0.3 + [1.0, 0.0]
    near, far = model._labels.rows(np.array(["near", "far"]))
    _, replayed = model._buffer.retrieve(10, newcomers, np.full(20, 2), rng)
    shares = np.bincount(replayed, minlength=2) / len(replayed)
    assert shares[near] > shares[far] + 0.2


def test_resumes_bit_for_bit() -> None:
    X, y = one_class_after_the_other(200)
    order = np.random.default_rng(1).permutation(200)
    model = ASER(memory_size=30, random_state=0).partial_fit(X[order[:90]], y[order[:90]])
    twin = ASER(memory_size=30).set_state(model.state())
    rest = order[90:]
    scores = [learner.partial_fit(X[rest], y[rest]).class_scores(X) for learner in (model, twin)]
    np.testing.assert_array_equal(scores[0], scores[1])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"extent": "median"}, "extent must be one of 'mean', 'extreme'"),
        ({"n_neighbours": 0}, "n_neighbours must be a whole number of at least 1"),
    ],
)
def test_bad_parameter_is_named(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ASER(**parameters).partial_fit(np.eye(2), [0, 1])  # type: ignore[arg-type]
