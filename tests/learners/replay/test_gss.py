from typing import Literal

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from i2cansay.learners.bounds.naive import Naive
from i2cansay.learners.replay.er import ExperienceReplay
from i2cansay.learners.replay.gss import GSS
from i2cansay.learners.replay.head_gradients import UnitGradients
from i2cansay.testing import check_learner

Selection = Literal["greedy", "iqp"]
SELECTIONS: tuple[Selection, ...] = ("greedy", "iqp")


def one_class_after_the_other(n: int = 600) -> tuple[np.ndarray, np.ndarray]:
    y = np.sort(np.arange(n) % 4)
    return np.random.default_rng(0).standard_normal((n, 6)) + 3 * np.eye(6)[y], y


@pytest.mark.parametrize("selection", SELECTIONS)
def test_scikit_learn_accepts_it(selection: Selection) -> None:
    check_estimator(
        GSS(selection=selection, memory_size=30),
        on_skip=None,
        expected_failed_checks=dict(GSS.expected_failed_checks),
    )


@pytest.mark.parametrize("selection", SELECTIONS)
def test_contract_with_a_memory_that_overflows(selection: Selection) -> None:
    assert check_learner(GSS(selection=selection, memory_size=9)) > 30


@pytest.mark.parametrize("selection", SELECTIONS)
def test_remembers_what_no_longer_comes(selection: Selection) -> None:
    X, y = one_class_after_the_other()
    model, naive = GSS(selection=selection, memory_size=60, random_state=0), Naive(lr=0.2)
    for start in range(0, 600, 20):
        for learner in (model, naive):
            learner.partial_fit(X[start : start + 20], y[start : start + 20])
    assert model.score(X, y) > naive.score(X, y) + 0.2
    assert len(model._buffer.memory) <= 60


def test_while_nothing_is_replaced_it_is_plain_replay() -> None:
    # The selections differ once the memory is full; before that rows are stored as they come.
    X, y = one_class_after_the_other(100)
    gss = GSS(selection="iqp", memory_size=100, random_state=0)
    er = ExperienceReplay(memory_size=100, lr=gss.lr, random_state=0)
    for start in (0, 50):
        for learner in (gss, er):
            learner.partial_fit(X[start : start + 50], y[start : start + 50])
        if start == 0:
            np.testing.assert_array_equal(gss.class_scores(X), er.class_scores(X))
    np.testing.assert_array_equal(gss._buffer.memory.rows, er._buffer.memory.rows)


def test_integer_programme_gives_a_more_diverse_memory_than_a_uniform_sample() -> None:
    X, y = one_class_after_the_other()
    model = GSS(selection="iqp", memory_size=40, random_state=0)
    uniform = ExperienceReplay(memory_size=40, lr=0.2, random_state=0)
    for start in range(0, 600, 20):
        for learner in (model, uniform):
            learner.partial_fit(X[start : start + 20], y[start : start + 20])
    # Both memories as the one head sees them; mean cosine, since the memories differ in length.
    means = []
    for memory in (model._buffer.memory, uniform._buffer.memory):
        similarities = UnitGradients.of(model._head, memory.rows, memory.classes).similarities()
        means.append(similarities.mean() / len(memory))
    assert means[0] < means[1]


@pytest.mark.parametrize("selection", SELECTIONS)
def test_resumes_bit_for_bit(selection: Selection) -> None:
    X, y = one_class_after_the_other(200)
    order = np.random.default_rng(1).permutation(200)
    model = GSS(selection=selection, memory_size=30, random_state=0).partial_fit(X[order[:90]], y[order[:90]])
    twin = GSS(selection=selection, memory_size=30).set_state(model.state())
    rest = order[90:]
    scores = [learner.partial_fit(X[rest], y[rest]).class_scores(X) for learner in (model, twin)]
    np.testing.assert_array_equal(scores[0], scores[1])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"selection": "best"}, "selection must be one of 'greedy', 'iqp'"),
        ({"memory_size": 0}, "memory_size must be a whole number of at least 1"),
        ({"recent": 1.5}, "recent must be above 0 and below 1"),
    ],
)
def test_bad_parameter_is_named(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GSS(**parameters).partial_fit(np.eye(2), [0, 1])  # type: ignore[arg-type]
