"""A lesson is learnt whole or not at all, and how it was handed over does not matter."""

from __future__ import annotations

import signal
from copy import copy, deepcopy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from i2cansay import I2CANSAY
from i2cansay.core.types import Features
from i2cansay.image_learner.atomic_lesson import AtomicLesson
from i2cansay.image_learner.readers import Readers
from i2cansay.learners.base import OnlineClassifier
from i2cansay.learners.closed_form.slda import StreamingLDA
from i2cansay.testing.blobs import blobs
from i2cansay.testing.requirements import state_difference


@given(st.lists(st.integers(0, 40), max_size=5))
def test_the_batches_are_those_of_the_whole(cuts: list[int]) -> None:
    X, y = blobs(per_class=10)
    X, y = X[:40], y[:40]
    whole = I2CANSAY(random_state=0, batch_size=15)
    for start in range(0, 40, 15):
        whole.partial_fit(X[start : start + 15], y[start : start + 15])
    learner = I2CANSAY(random_state=0, batch_size=15)
    lesson = AtomicLesson(learner)
    for part in np.split(np.arange(40), sorted(cuts)):
        lesson.add(X[part], y[part])
        assert not hasattr(learner, "classes_")
    lesson.finish()
    assert state_difference(whole.state(), learner.state()) is None


@pytest.mark.parametrize("n", [0, 1, 15, 16, 30, 40])
def test_every_row_is_learnt_once(n: int) -> None:
    X, y = blobs(per_class=10)
    learner = I2CANSAY(random_state=0, batch_size=15)
    lesson = AtomicLesson(learner)
    lesson.add(X[:n], y[:n])
    lesson.finish()
    assert (learner.class_counts_.sum() if n else 0) == n


def test_a_generator_given_as_seed_is_not_used_up_by_a_lesson_that_fails() -> None:
    rng = np.random.default_rng(3)
    learner = I2CANSAY(random_state=rng, batch_size=15)
    AtomicLesson(learner).add(*blobs(per_class=10))
    assert rng.random() == np.random.default_rng(3).random()


def teach(learner: OnlineClassifier, X: Features, y: NDArray[Any]) -> None:
    lesson = AtomicLesson(learner)
    lesson.add(X, y)
    lesson.finish()


@pytest.mark.parametrize("n", [1, 15, 40])
@pytest.mark.parametrize("taught", [False, True])
def test_an_interrupt_within_a_batch_leaves_nothing_of_the_lesson_or_all_of_it(
    n: int, taught: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = blobs(per_class=10)
    learner = I2CANSAY(random_state=0, batch_size=15)
    if taught:
        learner.partial_fit(X[20:], y[20:])
    before, uninterrupted = learner.state(), deepcopy(learner)
    teach(uninterrupted, X[:n], y[:n])
    original = I2CANSAY._learn

    def interrupted(self: I2CANSAY, *arguments: Any) -> None:
        # The last of the steps of partial_fit: labels and counts have grown by then.
        signal.raise_signal(signal.SIGINT)
        original(self, *arguments)

    monkeypatch.setattr(I2CANSAY, "_learn", interrupted)
    with pytest.raises(KeyboardInterrupt):
        teach(learner, X[:n], y[:n])
    whole = taught and n <= 15  # what is taught in place is finished first
    assert state_difference(uninterrupted.state() if whole else before, learner.state()) is None
    assert hasattr(learner, "classes_") == taught


@pytest.mark.parametrize(("n", "taught"), [(1, False), (40, False), (40, True)])
def test_an_error_within_a_batch_leaves_nothing_where_a_copy_was_taught(
    n: int, taught: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = blobs(per_class=10)
    learner = I2CANSAY(random_state=0, batch_size=15)
    if taught:
        learner.partial_fit(X[20:], y[20:])
    before = learner.state()

    def failing(*arguments: object) -> None:
        raise MemoryError

    monkeypatch.setattr(I2CANSAY, "_learn", failing)
    with pytest.raises(MemoryError):
        teach(learner, X[:n], y[:n])
    assert state_difference(before, learner.state()) is None


@pytest.mark.parametrize(("n", "copies"), [(1, 0), (15, 0), (16, 1), (40, 1)])
def test_a_lesson_of_one_batch_copies_nothing(n: int, copies: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = blobs(per_class=10)
    learner = I2CANSAY(random_state=0, batch_size=15).partial_fit(X[20:], y[20:])
    made: list[object] = []

    def noted_copy(self: I2CANSAY, memo: object) -> I2CANSAY:
        made.append(self)
        return copy(self)

    monkeypatch.setattr(I2CANSAY, "__deepcopy__", noted_copy, raising=False)
    lesson = AtomicLesson(learner)
    for row in range(n):
        lesson.add(X[row : row + 1], y[row : row + 1])
    lesson.finish()
    assert len(made) == copies


def test_a_lesson_of_one_batch_is_taught_to_a_copy_while_somebody_asks() -> None:
    X, y = blobs(per_class=10)
    learner = I2CANSAY(random_state=0, batch_size=15).partial_fit(X[20:], y[20:])
    alone, readers = deepcopy(learner), Readers()
    with readers.reading(learner) as known:
        before = known.state()
        lesson = AtomicLesson(learner, readers)
        lesson.add(X[:5], y[:5])
        lesson.finish()
        assert state_difference(before, known.state()) is None
    teach(alone, X[:5], y[:5])
    assert state_difference(alone.state(), learner.state()) is None


@pytest.mark.parametrize("step", [1, 7, 100])
def test_a_young_learner_without_an_order_gets_small_batches(
    step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that its first lesson has samples to score before they are learnt; what it learns is the same."""
    sizes: list[int] = []
    learn = StreamingLDA._learn

    def noted(self: StreamingLDA, X: Any, *arguments: Any) -> None:
        sizes.append(len(X))
        learn(self, X, *arguments)

    monkeypatch.setattr(StreamingLDA, "_learn", noted)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), np.arange(100) % 3
    learner = StreamingLDA()
    lesson = AtomicLesson(learner)
    for start in range(0, 100, step):
        lesson.add(X[start : start + step], y[start : start + step])
    lesson.finish()
    assert sizes == [8, 8, 8, 12, 18, 27, 19]
    whole = StreamingLDA().partial_fit(X, y)
    np.testing.assert_allclose(learner.class_scores(X), whole.class_scores(X), rtol=1e-4, atol=1e-4)
    sizes.clear()
    fixed = AtomicLesson(StreamingLDA(), batch_size=40)
    fixed.add(X, y)
    fixed.finish()
    assert sizes == [40, 40, 20]
