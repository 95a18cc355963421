"""A model's writer and readers."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from i2cansay.learners import LEARNERS, learner_class
from i2cansay.service.errors import ServiceError
from i2cansay.service.limits import Limits
from i2cansay.service.model.requests import Forget, Learn, Question, Rename, Undo
from i2cansay.service.model.served_model import ServedModel
from i2cansay.service.model.undo import can_undo
from i2cansay.service.service_metrics import ServiceMetrics
from i2cansay.testing import small_learner
from tests.service.material import SHARED, WIDTH, new_model, rows, teach


def reopened(model: ServedModel) -> ServedModel:
    model.close()
    return ServedModel(model.path, Limits(), ServiceMetrics())


UNDOING: dict[str, dict[str, Any]] = {
    **{name: {"learner": name} for name in LEARNERS if can_undo(learner_class(name)())},
    **SHARED,
}


def test_a_learner_of_lifted_features_refuses_to_undo_and_goes_on(tmp_path: Path) -> None:
    model = new_model(tmp_path, learner="i2cansay_shared")
    rng = np.random.default_rng(0)
    lesson = teach(model, ["a", "b"] * 3, rng)
    with pytest.raises(ServiceError, match="cannot take samples out again"):
        model.teach(Undo(lesson.lesson)).result()
    assert teach(model, ["a"], rng).counts == {"a": 4}
    model.close()


SERVED = [
    name
    for name in LEARNERS
    if small_learner(name).streaming
    and not small_learner(name).stores_samples
    and not small_learner(name).needs_boundaries
    and not small_learner(name).reads_images
]


@pytest.mark.parametrize(
    ("learner", "parameters"),
    [(learner, dict(small_learner(learner).small_parameters)) for learner in SERVED if learner != "cndpm"]
    + [
        ("i2cansay", {"significance": False, "momentum": 0.5}),
        ("i2cansay_shared", {"lift": 0}),
        ("i2cansay_shared", {"lift": 40, "analogies": False}),
        *((each["learner"], each["parameters"]) for each in SHARED.values()),
        ("fecam", {"covariance": "common"}),
    ],
)
def test_a_reopened_model_goes_on_bit_for_bit(
    tmp_path: Path, learner: str, parameters: dict[str, Any]
) -> None:
    model = new_model(tmp_path, learner=learner, parameters=parameters)
    rng = np.random.default_rng(0)
    for labels in (["a", "b"] * 3, ["a"], ["c", "c", "b"]):
        teach(model, labels, rng)
    before = model.state()
    model = reopened(model)
    after = model.state()
    states = before.learner.state(), after.learner.state()
    assert states[0].keys() == states[1].keys()
    assert all(np.array_equal(states[0][name], states[1][name]) for name in states[0])
    assert before.classes == after.classes
    assert before.curve == after.curve
    X = rows(["a", "c"], rng)
    assert np.array_equal(before.learner.class_scores(X), after.learner.class_scores(X))
    teach(model, ["d", "d"], rng)
    assert [line.label for line in model.snapshot.classes] == ["a", "b", "c", "d"]
    model.close()


def test_waiting_samples_are_known_at_once_and_lost_on_restart(tmp_path: Path) -> None:
    model = new_model(tmp_path, min_samples=3)
    rng = np.random.default_rng(0)
    teach(model, ["a", "b"] * 3, rng)
    assert teach(model, ["c"], rng).durable == (False,)
    assert model.ask(Question(rows(["c"], rng), 1)).result()[0].label == "c"
    assert teach(model, ["c"], rng).durable == (False,)
    assert {line.label: line.durable for line in model.snapshot.classes} == {"a": True, "b": True, "c": False}
    model = reopened(model)
    assert [line.label for line in model.snapshot.classes] == ["a", "b"]
    assert teach(model, ["c"] * 3, rng).durable == (True, True, True)
    model.close()


def test_a_lesson_that_was_half_durable_is_completed_by_its_retry(tmp_path: Path) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    assert teach(model, ["a", "a", "b"], rng, b"key").durable == (True, True, False)
    model = reopened(model)  # b is lost
    again = teach(model, ["a", "a", "b"], rng, b"key")
    assert (again.learnt, again.repeated, again.counts) == (1, 2, {"a": 2, "b": 1})
    grown = teach(model, ["b"], rng, b"other")  # b grows up, and with it the first lesson
    assert grown.counts == {"b": 2}
    model = reopened(model)
    assert teach(model, ["a", "a", "b"], rng, b"key").repeated == 3
    assert {line.label: line.count for line in model.snapshot.classes} == {"a": 2, "b": 2}
    model.close()


class Held:
    """Keeps a model's writer inside a commit until let go."""

    def __init__(self, model: ServedModel, monkeypatch: pytest.MonkeyPatch) -> None:
        self.inside, self.go = threading.Event(), threading.Event()
        real = model._database.commit

        def slow(*arguments: Any) -> None:
            self.inside.set()
            self.go.wait(10)
            real(*arguments)

        monkeypatch.setattr(model._database, "commit", slow)


def test_requests_that_gather_are_committed_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    teach(model, ["a", "b"] * 2, rng)
    held = Held(model, monkeypatch)
    version = model.state().version
    first = model.teach(Learn(rows(["a"], rng), ("a",)))
    held.inside.wait(10)
    requests = [model.teach(Learn(rows(["b"], rng), ("b",))) for _ in range(20)]
    wrong = model.teach(Learn(np.zeros((1, 3), np.float32), ("b",)))
    unknown = model.teach(Forget("nothing"))
    assert model.ask(Question(rows(["a"], rng), 2)).result(5)[0].label == "a"  # readers do not wait
    held.go.set()
    first.result()
    counts = [request.result().counts["b"] for request in requests]
    assert counts == [22] * 20  # each is told what holds after the group
    assert model.state().version == version + 2
    for request, status in ((wrong, 422), (unknown, 404)):
        with pytest.raises(ServiceError) as refusal:
            request.result()
        assert refusal.value.status == status
    model.close()


def test_a_full_queue_asks_to_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = new_model(tmp_path, limits=Limits(waiting=3))
    rng = np.random.default_rng(0)
    held = Held(model, monkeypatch)
    taken = [model.teach(Learn(rows(["a", "a"], rng), ("a", "a")))]
    held.inside.wait(10)
    taken += [model.teach(Learn(rows(["a"], rng), ("a",))) for _ in range(3)]
    with pytest.raises(ServiceError) as refusal:
        model.teach(Learn(rows(["a"], rng), ("a",)))
    assert refusal.value.status == 429
    assert refusal.value.retry_after is not None
    held.go.set()
    assert [request.result().counts for request in taken] == [{"a": 2}, *[{"a": 5}] * 3]
    model.close()


def test_readers_always_see_a_whole_state(tmp_path: Path) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    teach(model, ["a", "a"], rng)
    wrong: list[object] = []
    done = threading.Event()

    def read() -> None:
        own = np.random.default_rng(1)
        version = 0
        while not done.is_set():
            snapshot = model.snapshot
            answer = snapshot.predict([Question(rows(["a"], own), 1000)])[0][0]
            known = {line.label for line in snapshot.classes}
            if {guess.label for guess in answer.top} != known or snapshot.version < version:
                wrong.append((answer, known))
            if abs(sum(guess.probability for guess in answer.top) - 1) > 1e-9:
                wrong.append(answer)
            version = snapshot.version

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(15):
        teach(model, [f"n{number}"] * 2 + ["a"], rng)
        if number % 3 == 0:
            model.teach(Forget(f"n{number}")).result()
    done.set()
    for reader in readers:
        reader.join()
    assert wrong == []
    model.close()


@pytest.mark.parametrize("kind", UNDOING)
def test_undo_of_several_lessons_in_any_order(tmp_path: Path, kind: str) -> None:
    model = new_model(tmp_path, **UNDOING[kind])
    rng = np.random.default_rng(0)
    teach(model, ["a", "b"] * 3, rng)
    known: Any = model.state().learner
    means = known.class_means_.copy()
    one = teach(model, ["c"], rng)
    two = teach(model, ["c", "a"], rng)
    assert two.durable == (True, True)
    done: Any = model.teach(Undo(two.lesson)).result()
    assert (done.counts, done.not_durable) == ({"c": 1, "a": 3}, ("c",))
    assert model.teach(Undo(one.lesson)).result().counts == {"c": 0}
    assert [line.label for line in model.snapshot.classes] == ["a", "b"]
    model = reopened(model)
    known = model.state().learner
    np.testing.assert_allclose(known.class_means_, means, atol=1e-12)
    assert known.class_counts_.tolist() == [3, 3]
    model.close()


@pytest.mark.parametrize("kind", UNDOING)
def test_a_class_can_be_undone_to_nothing_and_taught_again(tmp_path: Path, kind: str) -> None:
    model = new_model(tmp_path, **UNDOING[kind])
    rng = np.random.default_rng(0)
    lesson = teach(model, ["a", "a"], rng)
    assert model.teach(Undo(lesson.lesson)).result().counts == {"a": 0}
    with pytest.raises(ServiceError, match="knows no class yet"):
        model.ask(Question(rows(["a"], rng), 1)).result()
    model = reopened(model)
    teach(model, ["b", "b"], rng)
    assert model.ask(Question(rows(["a"], rng), 1)).result()[0].label == "b"
    model.close()


@pytest.mark.parametrize("kind", UNDOING)
def test_a_lifted_sample_is_not_called_durable_and_its_retry_brings_it_back(
    tmp_path: Path, kind: str
) -> None:
    model = new_model(tmp_path, **UNDOING[kind])
    teach(model, ["a", "b"] * 2, np.random.default_rng(0))
    assert teach(model, ["c"], np.random.default_rng(1), b"first").durable == (False,)
    second = teach(model, ["c"], np.random.default_rng(2), b"second")
    assert teach(model, ["c"], np.random.default_rng(1), b"first").durable == (True,)
    model.teach(Undo(second.lesson)).result()
    again = teach(model, ["c"], np.random.default_rng(1), b"first")
    assert (again.durable, again.repeated, again.counts) == ((False,), 1, {"c": 1})
    model = reopened(model)  # what was in memory only is lost
    again = teach(model, ["c"], np.random.default_rng(1), b"first")
    assert (again.durable, again.learnt, again.counts) == ((False,), 1, {"c": 1})
    model.close()


def test_a_lifted_sample_that_nobody_remembers_is_not_called_durable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    monkeypatch.setattr("i2cansay.service.model.transaction.LESSONS", 1)  # only the last can be taken back
    teach(model, ["c"], rng, b"first")
    second = teach(model, ["c"], rng, b"second")
    model.teach(Undo(second.lesson)).result()
    for _ in range(2):
        assert teach(model, ["c"], rng, b"first").durable == (False,)
        model = reopened(model)
    model.close()


@pytest.mark.parametrize("kind", SHARED)
def test_a_sample_that_waited_longer_than_a_lesson_can_be_taken_back_waits_again(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = new_model(tmp_path, **SHARED[kind])
    rng = np.random.default_rng(0)
    teach(model, ["a", "b"] * 3, rng)
    monkeypatch.setattr("i2cansay.service.model.transaction.LESSON_SECONDS", -1.0)
    first = teach(model, ["c"], rng)  # its own lesson is over at once
    monkeypatch.undo()
    with pytest.raises(ServiceError, match="not in memory any more"):
        model.teach(Undo(first.lesson)).result()
    second = teach(model, ["c"], rng)
    assert second.durable == (True,)
    done: Any = model.teach(Undo(second.lesson)).result()
    assert (done.counts, done.not_durable) == ({"c": 1}, ("c",))
    assert model.ask(Question(rows(["c"], rng), 1)).result()[0].label == "c"
    assert teach(model, ["c"], rng).durable == (True,)
    model.close()


@pytest.mark.parametrize("kind", SHARED)
def test_undo_is_refused_where_it_would_leave_a_sample_that_nobody_has(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = new_model(tmp_path, **SHARED[kind])
    rng = np.random.default_rng(0)
    monkeypatch.setattr("i2cansay.service.model.transaction.LESSONS", 1)  # only the last can be taken back
    teach(model, ["a", "b"] * 3, rng)
    teach(model, ["c"], rng)
    second = teach(model, ["c"], rng)
    before = model.state().learner.state()
    with pytest.raises(ServiceError, match="one sample, which is not written and not in memory"):
        model.teach(Undo(second.lesson)).result()
    after = model.state().learner.state()
    assert all(np.array_equal(after[name], array) for name, array in before.items())
    assert teach(model, ["c"], rng).counts == {"c": 3}
    model.close()


def test_one_image_shown_often_is_one_image(tmp_path: Path) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    x, other = rows(["a"], rng), rows(["a"], rng)
    x[0, 0] = 0.0
    negative = x.copy()
    negative[0, 0] = -0.0
    twice = np.concatenate([x, x, negative])
    answer: Any = model.teach(Learn(twice, ("a",) * 3)).result()
    assert answer.durable == (False,) * 3
    answer = model.teach(Learn(x, ("a",))).result()
    assert answer.durable == (False,)
    assert model.state().learner.state() == {}
    answer = model.teach(Learn(other, ("a",))).result()
    assert (answer.durable, answer.counts) == ((True,), {"a": 5})
    assert model.state().classes["a"].count == 5
    model.close()


@pytest.mark.parametrize("kind", UNDOING)
def test_undo_does_not_leave_one_image_shown_twice(tmp_path: Path, kind: str) -> None:
    model = new_model(tmp_path, **UNDOING[kind])
    rng = np.random.default_rng(0)
    x = rows(["a"], rng)
    model.teach(Learn(np.concatenate([x, x]), ("a", "a"))).result()
    last = teach(model, ["a"], rng)
    with pytest.raises(ServiceError, match="one image shown 2 times"):
        model.teach(Undo(last.lesson)).result()
    known: Any = model.state().learner
    assert known.class_counts_.tolist() == [3]
    teach(model, ["a"], rng)
    assert model.teach(Undo(last.lesson)).result().counts == {"a": 3}
    model.close()


@pytest.mark.parametrize("kind", UNDOING)
def test_undo_of_an_outlier_is_refused_for_its_true_reason(tmp_path: Path, kind: str) -> None:
    model = new_model(tmp_path, **UNDOING[kind])
    rng = np.random.default_rng(0)
    teach(model, ["a", "b"] * 51, rng)
    last: Any = model.teach(Learn(np.full_like(rows(["a"], rng), 1e9), ("a",))).result()
    before = model.state().learner.state()
    with pytest.raises(ServiceError, match=r"too few digits of the rest were kept.*forget the class"):
        model.teach(Undo(last.lesson)).result()
    after = model.state().learner.state()
    assert all(np.array_equal(after[name], array) for name, array in before.items())
    assert model.state().count("a") == 52
    model.close()


def test_undo_follows_a_new_name_and_ends_with_its_class(tmp_path: Path) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    teach(model, ["a", "b"] * 3, rng)
    lesson = teach(model, ["a"], rng)
    model.teach(Rename("a", "z")).result()
    assert model.teach(Undo(lesson.lesson)).result().counts == {"z": 3}
    lesson = teach(model, ["z"], rng)
    model.teach(Forget("z")).result()
    with pytest.raises(ServiceError, match="not in memory any more"):
        model.teach(Undo(lesson.lesson)).result()
    model.close()


def test_undo_that_would_leave_a_class_too_small_is_refused_and_can_be_asked_again(tmp_path: Path) -> None:
    model = new_model(tmp_path, min_samples=4)
    rng = np.random.default_rng(0)
    teach(model, ["a"] * 3, rng)
    lesson = teach(model, ["a"], rng)
    with pytest.raises(ServiceError, match="fewer than 4"):
        model.teach(Undo(lesson.lesson)).result()
    teach(model, ["a"], rng)
    assert model.teach(Undo(lesson.lesson)).result().counts == {"a": 4}
    model.close()


def test_a_learner_without_unlearn_says_so(tmp_path: Path) -> None:
    model = new_model(tmp_path, learner="ncm")
    lesson = teach(model, ["a", "a"], np.random.default_rng(0))
    assert not model.can_undo
    with pytest.raises(ServiceError, match="cannot take samples out"):
        model.teach(Undo(lesson.lesson)).result()
    model.close()


def test_every_class_can_be_forgotten_and_taught_again(tmp_path: Path) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    teach(model, ["a", "a"], rng)
    model.teach(Forget("a")).result()
    with pytest.raises(ServiceError, match="knows no class yet"):
        model.ask(Question(rows(["a"], rng), 1)).result()
    model = reopened(model)
    teach(model, ["b", "b"], rng)
    assert model.ask(Question(rows(["a"], rng), 1)).result()[0].label == "b"
    model.close()


def test_what_fails_before_the_commit_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    teach(model, ["a", "a"], rng)
    with monkeypatch.context() as patched:

        def broken(_: object) -> None:
            raise MemoryError("no room for a snapshot")

        patched.setattr("i2cansay.service.model.served_model.Snapshot.of", broken)
        with pytest.raises(MemoryError):
            teach(model, ["a"], rng)
    assert teach(model, ["a"], rng).counts == {"a": 3}
    model = reopened(model)
    assert [line.count for line in model.snapshot.classes] == [3]
    model.close()


def test_rows_of_several_widths_before_the_first_lesson(tmp_path: Path) -> None:
    model = new_model(tmp_path)
    narrow, wide = np.zeros((1, 2), np.float32), np.zeros((1, 3), np.float32)
    for X in (narrow, wide):
        with pytest.raises(ServiceError, match="knows no class yet"):
            model.ask(Question(X, 1)).result()
    answers = model._ask([Question(narrow, 1), Question(wide, 1)])
    assert all(isinstance(answer, ServiceError) for answer in answers)
    model.teach(Learn(np.eye(2, dtype=np.float32), ("a", "a"))).result()
    first, second, third = model._ask([Question(narrow, 1), Question(wide, 1), Question(narrow, 1)])
    assert isinstance(second, ServiceError)
    assert isinstance(first, list)
    assert isinstance(third, list)
    assert len(first) == len(third) == 1
    model.close()


def test_a_key_is_bound_to_its_lesson_while_it_waits(tmp_path: Path) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    assert teach(model, ["a"], rng, b"key").durable == (False,)
    with pytest.raises(ServiceError, match="a new key for a new request"):
        teach(model, ["a", "b"], rng, b"key")
    with pytest.raises(ServiceError, match="other labels"):
        teach(model, ["b"], rng, b"key")
    model.close()


def test_a_key_is_bound_to_the_labels_of_its_lesson(tmp_path: Path) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    teach(model, ["a", "a", "b"], rng, b"key")
    model = reopened(model)
    with pytest.raises(ServiceError, match="other labels") as refusal:
        teach(model, ["a", "b", "a"], rng, b"key")
    assert refusal.value.status == 409
    model.teach(Rename("a", "z")).result()  # the request is still the same
    assert teach(model, ["a", "a", "b"], rng, b"key").repeated == 2
    model.close()


def test_a_question_without_a_finite_score_fails_alone(tmp_path: Path) -> None:
    model = new_model(tmp_path)
    rng = np.random.default_rng(0)
    teach(model, ["a", "b"] * 3, rng)
    learner = type(model.state().learner)
    real = learner.class_scores

    def overflowing(self: Any, X: Any) -> Any:
        scores = real(self, X)
        scores[X[:, 0] > 1e9] = np.nan
        return scores

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learner, "class_scores", overflowing)
        good, bad = rows(["a"], rng), np.full((1, WIDTH), 1e10, dtype=np.float32)
        answers = model._ask_each([Question(good, 1), Question(bad, 1), Question(good, 1)])
        assert [len(answer) if isinstance(answer, list) else 0 for answer in answers] == [1, 0, 1]
        assert isinstance(answers[1], ServiceError)
        assert answers[1].status == 409
        with pytest.raises(ServiceError, match="no finite score"):
            model.teach(Learn(bad, ("a",))).result()
    assert model.state().classes["a"].count == 3
    model.close()
