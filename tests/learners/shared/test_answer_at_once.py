"""`SharedI2CANSAY` in closed form, taught in small lessons and asked after each of them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from i2cansay import SharedI2CANSAY, load
from i2cansay.core.linalg.symmetric import Factor
from i2cansay.learners.shared import held_ridge, running_weights
from i2cansay.learners.shared.running_weights import RunningWeights
from i2cansay.testing.memory import (
    check_memory_is_flat,
    check_no_sample_is_kept,
    check_size_is_told_beforehand,
)
from tests.learners.shared.material import closed_form, draw

X_ASKED = draw(40, seed=5)[0]


@pytest.fixture(autouse=True, scope="module")
def narrow() -> Iterator[None]:
    """Let features of any width hold a ridge."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(held_ridge, "HELD_FROM_WIDTH", 1)
        yield


def ridge_of(model: SharedI2CANSAY) -> Any:
    return model._closed_form._held.ridge


def precision_of(model: SharedI2CANSAY) -> Any:
    weights = model._closed_form._running._weights
    return None if weights is None else weights.precision


def conversation(n: int = 60, **parameters: Any) -> SharedI2CANSAY:
    """Return a learner that was taught some samples at once, then one by one, and asked after each lesson."""
    X, y = draw(200)
    order = np.random.default_rng(3).permutation(200)
    model = closed_form(feature_transform="none", **parameters).partial_fit(X[order[:100]], y[order[:100]])
    for row in order[100 : 100 + n]:
        model.partial_fit(X[row : row + 1], y[row : row + 1])
        model.class_scores(X_ASKED)
    return model


def restored(model: SharedI2CANSAY) -> SharedI2CANSAY:
    """Return a learner with the same state, which has to solve for everything."""
    return SharedI2CANSAY(**model.get_params()).set_state(model.state())


def require_same_answers(one: SharedI2CANSAY, other: SharedI2CANSAY, rtol: float = 1e-8) -> None:
    expected = other.class_scores(X_ASKED)
    np.testing.assert_allclose(
        one.class_scores(X_ASKED), expected, rtol=rtol, atol=rtol * float(np.abs(expected).max())
    )
    np.testing.assert_allclose(one.novelty(X_ASKED), other.novelty(X_ASKED), rtol=1e-6, atol=1e-6)
    assert one.shrinkage_ == pytest.approx(other.shrinkage_)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"blocks": (5, 3)},
        {"shrinkage": "oas"},
        {"shrinkage": 0.3},
        {"shrink_means": 0.0},
        {"prior": "empirical"},
        {"lift": 6},
    ],
)
def test_updated_answers_are_those_of_an_exact_solution_with_the_same_ridge(
    parameters: dict[str, Any],
) -> None:
    model = conversation(**parameters)
    assert ridge_of(model) is not None
    assert precision_of(model) is not None
    require_same_answers(model, restored(model), rtol=1e-5 if "lift" in parameters else 1e-8)


@settings(max_examples=20, deadline=None)
@given(
    lessons=st.lists(st.tuples(st.integers(1, 20), st.booleans(), st.booleans()), min_size=1, max_size=15),
    seed=st.integers(0, 100),
)
def test_any_conversation_is_answered_as_if_it_were_solved(
    lessons: list[tuple[int, bool, bool]], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    X, y = draw(400, seed=seed)
    order = rng.permutation(400)
    talked, silent = (closed_form(feature_transform="none") for _ in range(2))
    at = 20
    for model in (talked, silent):
        model.partial_fit(X[order[:at]], y[order[:at]])
    for n, asked, weighted in lessons:
        rows, at = order[at : at + n], at + n
        weights = rng.random(n) + 0.1 if weighted else None
        talked.partial_fit(X[rows], y[rows], sample_weight=weights)
        silent.partial_fit(X[rows], y[rows], sample_weight=weights)
        if asked:
            talked.class_scores(X_ASKED)
    # What was asked in between decides how fast an answer is, not what it is.
    require_same_answers(talked, silent)
    require_same_answers(talked, restored(talked))


def test_an_answer_and_its_novelty_need_no_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    model, (X, y) = conversation(), draw(3, seed=8)
    model._calibrate_at = 2**40

    def refuse(*_: Any, **__: Any) -> None:
        pytest.fail("something was solved")

    monkeypatch.setattr(Factor, "solve", refuse)
    monkeypatch.setattr(Factor, "inverse", refuse)
    for row in range(3):
        model.partial_fit(X[row : row + 1], y[row : row + 1])
        assert np.isfinite(model.class_scores(X_ASKED)).all()
        assert np.isfinite(model.novelty(X_ASKED)).all()


def test_with_one_class_novelty_needs_no_solution_either(monkeypatch: pytest.MonkeyPatch) -> None:
    X = draw(100)[0]
    model = closed_form(feature_transform="none").partial_fit(X[:50], ["only"] * 50)
    for row in range(50, 54):
        model.partial_fit(X[row : row + 1], ["only"])
        model.class_scores(X_ASKED)
    exact = restored(model).novelty(X_ASKED)
    monkeypatch.setattr(Factor, "solve", lambda *_, **__: pytest.fail("something was solved"))
    np.testing.assert_allclose(model.novelty(X_ASKED), exact, rtol=1e-8)


def test_a_stream_that_asks_nothing_never_makes_the_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_weights, "PrecisionMatrix", lambda *_: pytest.fail("an inverse was made"))
    X, y = draw(200)
    model = closed_form().partial_fit(X[:100], y[:100])
    model._calibrate_at = 2**40
    for row in range(100, 200):
        model.partial_fit(X[row : row + 1], y[row : row + 1])
    model.class_scores(X_ASKED)
    assert ridge_of(model) is not None


def test_classes_that_come_one_sample_at_a_time() -> None:
    model, rng = conversation(), np.random.default_rng(0)
    for label in range(10, 16):
        model.partial_fit(4 * rng.standard_normal((1, 8)), [label])
        require_same_answers(model, restored(model))
    assert len(model.classes_) == 11


def test_a_sample_repeated() -> None:
    model, (X, y) = conversation(), draw(1, seed=8)
    for _ in range(10):
        model.partial_fit(X, y)
        require_same_answers(model, restored(model))


def test_a_block_that_comes_to_life_ends_the_hold() -> None:
    X, y = draw(100)
    X[:, 5:] = 3.0
    model = closed_form(feature_transform="none", blocks=(5, 3)).partial_fit(X[:90], y[:90])
    model.partial_fit(X[90:91], y[90:91])
    model.class_scores(X)
    assert ridge_of(model)[1] == 0
    model.partial_fit(draw(1, seed=9)[0], y[:1])
    assert ridge_of(model) is None or ridge_of(model)[1] > 0
    require_same_answers(model, restored(model))


# -- the order of the samples, and what can be taken back ------------------------------------------------------


def test_after_a_refresh_answers_depend_on_the_samples_alone() -> None:
    X, y = draw(160)
    expected = closed_form(feature_transform="none").partial_fit(X, y)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(160)
        model = closed_form(feature_transform="none")
        for row in order:
            model.partial_fit(X[row : row + 1], y[row : row + 1])
            model.class_scores(X_ASKED)
        assert ridge_of(model) is not None
        require_same_answers(model.refresh(), expected)


def test_larger_lessons_are_free_of_order_without_it() -> None:
    X, y = draw(160)
    expected = closed_form(feature_transform="none").partial_fit(X, y)
    order = np.random.default_rng(0).permutation(160)
    model = closed_form(feature_transform="none")
    for rows in np.array_split(order, 8):
        model.partial_fit(X[rows], y[rows])
        model.class_scores(X_ASKED)
    require_same_answers(model, expected)


def test_merging_unlearning_and_forgetting_let_go() -> None:
    X, y = draw(200)
    order = np.random.default_rng(3).permutation(200)
    unlearnt = conversation(60).unlearn(X[order[159:160]], y[order[159:160]])
    assert ridge_of(unlearnt) is None
    require_same_answers(unlearnt, conversation(59).refresh(), rtol=1e-6)
    merged = conversation(30).merge(conversation(20))
    assert ridge_of(merged) is None
    forgotten = conversation().forget(2)
    assert ridge_of(forgotten) is None
    assert forgotten._closed_form._running._weights is None
    require_same_answers(forgotten, restored(forgotten))
    for parameters in ({"shrinkage": 0.4}, {"shrink_means": 0.0}, {"prior": "empirical"}):
        changed = conversation().set_params(**parameters)
        require_same_answers(changed, restored(changed))


def test_fading_statistics_hold_nothing() -> None:
    assert ridge_of(conversation(forgetting=0.01)) is None


def test_refresh_is_allowed_any_time() -> None:
    assert closed_form().refresh() is not None
    headed = SharedI2CANSAY(lift=0, random_state=0).partial_fit(*draw(50))
    before = headed.class_scores(X_ASKED)
    np.testing.assert_array_equal(headed.refresh().class_scores(X_ASKED), before)


# -- copies, files, threads ------------------------------------------------------------------------------------


def test_a_file_holds_the_ridge_and_not_the_matrix(tmp_path: Path) -> None:
    model = conversation()
    model.save(tmp_path / "model.i2cs")
    state = model.state()
    assert state["closed_form.ridge"].shape == (2,)
    assert not [name for name in state if name.startswith("closed_form") and name != "closed_form.ridge"]
    loaded = load(tmp_path / "model.i2cs")
    assert isinstance(loaded, SharedI2CANSAY)
    X, y = draw(30, seed=8)
    for row in range(30):  # past the next choice of the ridge
        for each in (model, loaded):
            each.partial_fit(X[row : row + 1], y[row : row + 1])
        require_same_answers(loaded, model)


def test_a_state_without_a_ridge_is_one_that_holds_none() -> None:
    model = conversation()
    state = {name: array for name, array in model.state().items() if name != "closed_form.ridge"}
    older = SharedI2CANSAY(**model.get_params()).set_state(state)
    require_same_answers(older, model.refresh())


def test_the_matrix_is_handed_over_to_the_copy_that_learns() -> None:
    model, (X, y) = conversation(), draw(2, seed=8)
    matrix, before = precision_of(model), model.class_scores(X_ASKED)
    successor = copy.deepcopy(model)
    assert precision_of(successor) is matrix
    successor.partial_fit(X[:1], y[:1])
    assert precision_of(successor) is matrix
    assert precision_of(model) is None
    np.testing.assert_array_equal(model.class_scores(X_ASKED), before)
    require_same_answers(successor, restored(successor))
    # The one it was taken from can go on as well: it solves again.
    model.partial_fit(X[1:], y[1:])
    require_same_answers(model, restored(model))
    require_same_answers(successor, restored(successor))


def test_a_pickled_copy_solves_again() -> None:
    model = conversation()
    other = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert precision_of(other) is None
    require_same_answers(other, model)
    X, y = draw(1, seed=8)
    require_same_answers(other.partial_fit(X, y), model.partial_fit(X, y))


def test_a_lesson_that_is_interrupted_leaves_no_solution_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    model, (X, y) = conversation(), draw(1, seed=8)

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(RunningWeights, "follow", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X, y)
    assert precision_of(model) is None
    require_same_answers(model, restored(model))


def test_readers_of_a_snapshot_are_not_disturbed_by_lessons_to_its_copy() -> None:
    model, (X, y) = conversation(), draw(30, seed=8)
    snapshot = copy.deepcopy(model)
    expected, different = restored(model).class_scores(X_ASKED), []

    def ask() -> None:
        for _ in range(30):
            snapshot._solution.clear()  # as if each were the first
            if not np.allclose(snapshot.class_scores(X_ASKED), expected, rtol=1e-6, atol=1e-6):
                different.append(1)

    readers = [Thread(target=ask) for _ in range(3)]
    for reader in readers:
        reader.start()
    for row in range(30):
        model.partial_fit(X[row : row + 1], y[row : row + 1])
        model.class_scores(X_ASKED)
    for reader in readers:
        reader.join(60)
        assert not reader.is_alive()
    assert not different
    require_same_answers(model, restored(model))


@pytest.mark.parametrize(
    "check", [check_no_sample_is_kept, check_memory_is_flat, check_size_is_told_beforehand]
)
def test_what_it_keeps_is_what_the_contract_allows(check: Any) -> None:
    check(closed_form())
