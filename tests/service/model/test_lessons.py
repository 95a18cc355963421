"""Lessons that are listed, taken back and moved to another class."""

from __future__ import annotations

import gc
import sqlite3
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from i2cansay.learners import LEARNERS, learner_class
from i2cansay.service.errors import ServiceError
from i2cansay.service.limits import Limits
from i2cansay.service.model.requests import Forget, Learn, Move, Question, Rename, Request, Undo
from i2cansay.service.model.served_model import ServedModel
from i2cansay.service.model.undo import can_undo
from i2cansay.service.service_metrics import ServiceMetrics
from tests.service.material import SHARED, new_model, rows, teach

UNDOING: dict[str, dict[str, Any]] = {
    **{name: {"learner": name} for name in LEARNERS if can_undo(learner_class(name)())},
    **SHARED,
}


def reopened(model: ServedModel) -> ServedModel:
    model.close()
    return ServedModel(model.path, Limits(), ServiceMetrics())


def counts(model: ServedModel) -> dict[str, int]:
    return {line.label: line.count for line in model.snapshot.classes}


def everything(model: ServedModel) -> tuple[Any, ...]:
    """Return all that a refused request must leave as it was."""
    state = model.state()
    arrays = {name: array.tobytes() for name, array in state.learner.state().items()}
    lessons = {name: (each.rows.labels, each.until) for name, each in state.lessons.items()}
    pending = {label: [piece.serials.tolist() for piece in each] for label, each in state.pending.items()}
    return arrays, state.classes, lessons, pending, state.notes()


def test_a_series_counts_as_one_lesson(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("i2cansay.service.model.transaction.LESSONS", 2)
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    labels = ["a", "b"]
    series = [model.teach(Learn(rows(labels, rng), tuple(labels), series="x")).result() for _ in range(5)]
    second = teach(model, labels, rng)
    assert [line.id for line in model.lessons()] == [
        second.lesson,
        *(part.lesson for part in reversed(series)),  # type: ignore[union-attr]
    ]
    third = teach(model, labels, rng)  # one too many: the whole series goes
    assert [line.id for line in model.lessons()] == [third.lesson, second.lesson]
    model.close()


# -- the list ---------------------------------------------------------------------------------------------------


def test_lessons_are_listed_newest_first_with_what_they_brought(tmp_path: Path) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    assert model.lessons() == []
    first = teach(model, ["a", "b", "a", "b", "a"], rng)
    second = teach(model, ["c"], rng)
    newest, oldest = model.lessons()
    assert (newest.id, newest.labels, newest.n, newest.reason) == (second.lesson, {"c": 1}, 1, None)
    assert (oldest.id, oldest.labels, oldest.n) == (first.lesson, {"a": 3, "b": 2}, 5)
    assert oldest.at <= newest.at < newest.until
    model.teach(Rename("a", "z")).result()
    assert model.lessons()[1].labels == {"z": 3, "b": 2}
    model.teach(Forget("b")).result()
    assert model.lessons()[1].labels == {"z": 3}
    assert model.teach(Undo(first.lesson)).result().counts == {"z": 0}
    assert [line.id for line in model.lessons()] == [second.lesson]
    model = reopened(model)  # what was in memory is gone
    assert model.lessons() == []
    model.close()


@pytest.mark.parametrize("kind", UNDOING)
def test_a_lesson_without_a_reason_can_be_taken_back_and_one_with_a_reason_cannot(
    tmp_path: Path, kind: str
) -> None:
    model = new_model(tmp_path, min_samples=3, **UNDOING[kind])
    rng = np.random.default_rng(0)
    teach(model, ["a", "b"] * 4, rng)
    small = teach(model, ["c"] * 2, rng)
    teach(model, ["c"] * 2, rng)
    once = rows(["d"], rng)
    model.teach(Learn(np.repeat(once, 3, axis=0), ("d",) * 3)).result()
    copies = teach(model, ["d"] * 2, rng)
    fine = teach(model, ["a", "b", "e"], rng)
    reasons = {line.id: line.reason for line in model.lessons()}
    assert reasons[fine.lesson] is None
    assert "fewer than 3" in str(reasons[small.lesson])
    assert "one image shown 3 times" in str(reasons[copies.lesson])
    for name, reason in reasons.items():
        if reason is not None:
            for request in (Undo(name), Move(name, "a")):
                before = everything(model)
                with pytest.raises(ServiceError) as refusal:
                    model.teach(request).result()
                assert refusal.value.sentence == reason
                assert everything(model) == before
    assert model.teach(Undo(fine.lesson)).result().counts == {"a": 4, "b": 4, "e": 0}
    model.close()


def test_a_learner_that_cannot_undo_says_so_in_the_list(tmp_path: Path) -> None:
    model = new_model(tmp_path, learner="ncm")
    rng = np.random.default_rng(0)
    teach(model, ["a", "a"], rng)
    waits = teach(model, ["b"], rng)
    newest, oldest = model.lessons()
    assert newest.reason is None  # it only waits, so that nothing has to be taken out
    assert "cannot take samples out" in str(oldest.reason)
    assert model.teach(Move(waits.lesson, "a")).result().counts == {"b": 0, "a": 3}
    model.close()


def test_a_lesson_that_expired_is_not_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    lesson = teach(model, ["a", "a"], rng)
    (line,) = model.lessons()
    monkeypatch.setattr("time.time", lambda: line.until + 1)
    assert model.lessons() == []
    with pytest.raises(ServiceError, match="not in memory any more"):
        model.teach(Move(lesson.lesson, "b")).result()
    model.close()


def test_rows_that_are_kept_for_others_are_no_lesson(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    with monkeypatch.context() as patch:
        patch.setattr("i2cansay.service.model.transaction.LESSON_SECONDS", -1.0)
        teach(model, ["c"], rng)
    other = teach(model, ["a"], rng)  # drops the first lesson, whose sample still waits
    second = teach(model, ["c"], rng)
    assert [line.id for line in model.lessons()] == [second.lesson, other.lesson]
    assert len(model.state().lessons) == 3
    model.close()


@pytest.mark.parametrize("kind", SHARED)
def test_the_first_lesson_of_a_class_can_be_taken_back_after_the_second(tmp_path: Path, kind: str) -> None:
    model = new_model(tmp_path, **SHARED[kind])
    rng = np.random.default_rng(0)
    teach(model, ["a", "b"] * 3, rng)
    first = teach(model, ["c", "c"], rng)
    assert len(model.state().lessons) == 2  # and no copy of rows that the lesson has itself
    teach(model, ["c"], rng)
    done: Any = model.teach(Undo(first.lesson)).result()
    assert (done.counts, done.not_durable) == ({"c": 1}, ("c",))
    model.close()


def test_a_list_keeps_no_features_of_lessons_that_were_taken_back(tmp_path: Path) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    teach(model, ["a", "b"] * 3, rng)
    lesson = teach(model, ["a"], rng)
    model.lessons()
    kept = weakref.ref(model.state().lessons[lesson.lesson].rows)
    model.teach(Undo(lesson.lesson)).result()
    teach(model, ["b"], rng)  # the writer lets go of what it has just done
    gc.collect()
    assert kept() is None
    model.close()


# -- moving -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", UNDOING)
def test_a_moved_lesson_is_as_if_it_had_been_taught_so(tmp_path: Path, kind: str) -> None:
    models = []
    for folder, label in (("moved", "a"), ("taught", "b")):
        (tmp_path / folder).mkdir()
        model = new_model(tmp_path / folder, **UNDOING[kind])
        rng = np.random.default_rng(0)
        teach(model, ["a", "b"] * 4, rng)
        X = rows(["b"] * 3, rng)
        lesson: Any = model.teach(Learn(X, (label,) * 3)).result()
        if label == "a":
            done: Any = model.teach(Move(lesson.lesson, "b")).result()
            assert (done.counts, done.not_durable) == ({"a": 4, "b": 7}, ())
        models.append(reopened(model))
    moved, taught = (model.state().learner for model in models)
    known: Any = moved
    other: Any = taught
    assert known.class_counts_.tolist() == other.class_counts_.tolist() == [4, 7]
    np.testing.assert_allclose(known.class_means_, other.class_means_, atol=1e-6)
    log = [(entry.action, entry.label, entry.count) for _, entry in models[0].log(0, 100)]
    assert log[-2:] == [("move", "a -> b", 3), ("learn", "b", 3)]
    for model in models:
        model.close()


@pytest.mark.parametrize("kind", UNDOING)
def test_a_lesson_can_be_moved_on_and_back_and_taken_back(tmp_path: Path, kind: str) -> None:
    model = new_model(tmp_path, **UNDOING[kind])
    rng = np.random.default_rng(0)
    teach(model, ["a", "b"] * 4, rng)
    known: Any = model.state().learner
    means = known.class_means_.copy()
    lesson = teach(model, ["a", "b", "a"], rng)
    for label, expected in (
        ("b", {"a": 4, "b": 7}),
        ("new", {"a": 4, "b": 4, "new": 3}),
        ("a", {"a": 7, "b": 4}),
        ("a", {"a": 7, "b": 4}),
    ):
        model.teach(Move(lesson.lesson, label)).result()
        assert counts(model) == expected
        assert model.lessons()[0].labels == {label: 3}
    assert model.teach(Undo(lesson.lesson)).result().counts == {"a": 4}
    with pytest.raises(ServiceError, match="not in memory any more") as refusal:
        model.teach(Move(lesson.lesson, "b")).result()
    assert refusal.value.status == 404
    model = reopened(model)
    known = model.state().learner
    np.testing.assert_allclose(known.class_means_, means, atol=1e-6)
    model.close()


# -- one class of a lesson --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", UNDOING)
def test_one_class_of_a_lesson_is_taken_back_or_moved_on_its_own(tmp_path: Path, kind: str) -> None:
    model = new_model(tmp_path, **UNDOING[kind])
    rng = np.random.default_rng(0)
    teach(model, ["a", "b", "c"] * 4, rng)
    known: Any = model.state().learner
    means = known.class_means_.copy()
    lesson = teach(model, ["a", "b", "a", "c"], rng)
    teach(model, ["c", "c"], rng)
    done: Any = model.teach(Undo(lesson.lesson, only="a")).result()
    assert done.counts == {"a": 4}
    assert counts(model) == {"a": 4, "b": 5, "c": 7}
    assert model.lessons()[1].labels == {"b": 1, "c": 1}
    assert model.teach(Move(lesson.lesson, "d", only="b")).result().counts == {"b": 4, "d": 1}
    assert model.lessons()[1].labels == {"d": 1, "c": 1}
    for gone in (Undo(lesson.lesson, only="a"), Move(lesson.lesson, "c", only="b")):
        before = everything(model)
        with pytest.raises(ServiceError, match="no samples of") as refusal:
            model.teach(gone).result()
        assert refusal.value.status == 404
        assert everything(model) == before
    model.teach(Undo(lesson.lesson)).result()  # what is left of it
    assert counts(model) == {"a": 4, "b": 4, "c": 6}
    known = reopened(model).state().learner
    np.testing.assert_allclose(known.class_means_[:2], means[:2], atol=1e-6)


def test_one_class_can_be_taken_back_where_another_cannot(tmp_path: Path) -> None:
    model = new_model(tmp_path, min_samples=3)
    rng = np.random.default_rng(0)
    teach(model, ["a", "b"] * 4, rng)
    lesson = teach(model, ["a", "c", "c"], rng)
    teach(model, ["c", "c"], rng)
    line = model.lessons()[1]
    assert line.reasons == {"c": line.reason}
    with pytest.raises(ServiceError, match="fewer than 3"):
        model.teach(Undo(lesson.lesson, only="c")).result()
    assert model.teach(Undo(lesson.lesson, only="a")).result().counts == {"a": 4}
    assert model.lessons()[1].labels == {"c": 2}
    model.close()


def test_lessons_of_one_series_say_so(tmp_path: Path) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    first: Any = model.teach(Learn(rows(["a", "b"], rng), ("a", "b"), series="folder")).result()
    teach(model, ["a", "b"], rng)
    model.teach(Move(first.lesson, "b", only="a")).result()
    assert [line.series for line in model.lessons()] == ["", "folder"]
    model.close()


def test_a_single_sample_that_is_moved_waits_and_does_not_come_back_under_its_old_label(
    tmp_path: Path,
) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    teach(model, ["a", "b"] * 3, rng)
    lesson = teach(model, ["a"], rng, b"key")
    done: Any = model.teach(Move(lesson.lesson, "c")).result()
    assert (done.counts, done.not_durable) == ({"a": 3, "c": 1}, ("c",))
    assert model.ask(Question(rows(["a"], rng), 3)).result()[0].set_size == 3
    again = teach(model, ["a"], rng, b"key")  # a retry is told where its sample is
    assert (again.learnt, again.taken_back, again.durable, again.counts) == (0, 0, (False,), {"c": 1})
    assert teach(model, ["c"], rng).durable == (True,)
    again = teach(model, ["a"], rng, b"key")
    assert (again.learnt, again.durable, again.counts) == (0, (True,), {"c": 2})
    other = teach(model, ["b"], rng, b"other")
    model.teach(Move(other.lesson, "d")).result()
    model = reopened(model)  # d was in memory only
    assert counts(model) == {"a": 3, "b": 3, "c": 2}
    again = teach(model, ["b"], rng, b"other")
    assert (again.learnt, again.taken_back, again.counts) == (0, 1, {"b": 3})
    model.close()


def test_moving_down_to_one_sample_takes_the_class_off_the_disk(tmp_path: Path) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    teach(model, ["a", "b"] * 3, rng)
    teach(model, ["c"], rng)
    lesson = teach(model, ["c"], rng)
    done: Any = model.teach(Move(lesson.lesson, "a")).result()
    assert (done.counts, done.not_durable) == ({"c": 1, "a": 4}, ("c",))
    assert counts(reopened(model)) == {"a": 4, "b": 3}


@pytest.mark.parametrize("kind", ["i2cansay", "best"])
def test_a_move_that_fails_halfway_has_not_begun(tmp_path: Path, kind: str) -> None:
    model = new_model(tmp_path, limits=Limits(classes=3), **UNDOING[kind])
    rng = np.random.default_rng(0)
    teach(model, ["a", "b", "c"] * 3, rng)
    lesson = teach(model, ["a", "c"], rng, b"key")
    before = everything(model)
    # Requests of one group: the first is refused after its samples were taken out, the others stand.
    wrong, right, learnt = model._commit(
        [
            Move(lesson.lesson, "one too many"),
            Move(lesson.lesson, "b"),
            Learn(rows(["a"], rng), ("a",)),
        ]
    )
    assert isinstance(wrong, ServiceError)
    assert "may have 3 classes" in wrong.sentence
    answer: Any = right
    assert answer.counts == {"a": 3, "c": 3, "b": 5}
    lesson_result: Any = learnt
    assert lesson_result.counts == {"a": 4}
    assert counts(reopened(model)) == {"a": 4, "b": 5, "c": 3}
    assert before[1]["a"].count == 4


def test_a_refused_move_changes_nothing_at_all(tmp_path: Path) -> None:
    model = new_model(tmp_path, limits=Limits(classes=2))
    rng = np.random.default_rng(0)
    teach(model, ["a", "b"] * 3, rng)
    lesson = teach(model, ["a", "b"], rng, b"key")
    before = everything(model)
    with pytest.raises(ServiceError, match="may have 2 classes"):
        model.teach(Move(lesson.lesson, "c")).result()
    assert everything(model) == before
    assert teach(model, ["a", "b"], rng, b"key").durable == (True, True)
    assert model.teach(Undo(lesson.lesson)).result().counts == {"a": 3, "b": 3}
    model.close()


def test_a_move_that_cannot_be_written_has_not_happened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    teach(model, ["a", "b"] * 3, rng)
    lesson = teach(model, ["a"], rng)
    before = everything(model)
    with monkeypatch.context() as patch:

        def full(*_: Any) -> None:
            raise sqlite3.OperationalError("database or disk is full")

        patch.setattr(model._database, "commit", full)
        with pytest.raises(ServiceError) as refusal:
            model.teach(Move(lesson.lesson, "b")).result()
        assert refusal.value.status == 507
    assert everything(model) == before
    assert model.teach(Move(lesson.lesson, "b")).result().counts == {"a": 3, "b": 4}
    assert counts(reopened(model)) == {"a": 3, "b": 4}


def test_of_undo_and_move_at_once_one_wins(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for number, (first, second) in enumerate([(Undo, Move), (Move, Undo)]):
        (tmp_path / str(number)).mkdir()
        model = new_model(tmp_path / str(number))
        teach(model, ["a", "b"] * 3, rng)
        lesson = teach(model, ["a"], rng)
        requests: list[Request] = [
            kind(lesson.lesson) if kind is Undo else Move(lesson.lesson, "b") for kind in (first, second)
        ]
        answers = model._commit(requests)
        refused = [answer for answer in answers if isinstance(answer, ServiceError)]
        # A lesson that was taken back cannot be moved; one that was moved can be taken back from there.
        assert [error.status for error in refused] == ([404] if first is Undo else [])
        assert counts(model) == {"a": 3, "b": 3}
        model.close()


def test_a_retry_and_an_undo_in_one_group(tmp_path: Path) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    teach(model, ["a", "b"] * 3, rng)
    x, y = rows(["c"], rng), rows(["c"], rng)
    first: Any = model.teach(Learn(x, ("c",), b"one")).result()
    again, _, undone = model._commit([Learn(x, ("c",), b"one"), Learn(y, ("c",), b"two"), Undo(first.lesson)])
    told: Any = again
    assert not isinstance(undone, Exception)
    assert (told.durable, told.taken_back) == ((False,), 1)
    model.close()
