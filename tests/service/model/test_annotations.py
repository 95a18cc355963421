"""Annotations of Label Studio: the model holds what each says now, once, and nothing of what it said before."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from i2cansay.core.types import Float32
from i2cansay.service.errors import ServiceError
from i2cansay.service.limits import Limits
from i2cansay.service.model import transaction
from i2cansay.service.model.annotations import IMAGE_NEEDED
from i2cansay.service.model.requests import Annotate, AnnotationResult, Forget, Learn, Rename, Undo
from i2cansay.service.model.served_model import ServedModel
from i2cansay.service.service_metrics import ServiceMetrics
from i2cansay.service.storage.annotation_records import DELETED, AnnotationRecord
from tests.service.material import SHARED, new_model, rows, teach

KINDS: dict[str, dict[str, Any]] = {"paper": {"learner": "i2cansay"}, **SHARED}
RNG = np.random.default_rng(7)
IMAGES = {number: rows(["image"], RNG) for number in range(1, 9)}


def annotate(
    model: ServedModel, number: int, label: str, stamp: float = 1.0, *, image: bool = True, project: int = 1
) -> AnnotationResult:
    """Say what annotation `number`, of a task of the same number, says now."""
    record = AnnotationRecord(number, project, number, stamp, label)
    answer = model.teach(Annotate(record, IMAGES[number] if image else None)).result()
    assert isinstance(answer, AnnotationResult)
    return answer


def delete(model: ServedModel, number: int, X: Float32 | None = None) -> AnnotationResult:
    answer = model.teach(Annotate(AnnotationRecord(number, 1, 0, DELETED), X)).result()
    assert isinstance(answer, AnnotationResult)
    return answer


def counts(model: ServedModel) -> dict[str, int]:
    return {line.label: line.count for line in model.snapshot.classes}


def statistics(model: ServedModel) -> dict[str, Any]:
    """Return what the learner has of its samples; what undo leaves as it was is documented, and left out."""
    kept = ("moments.", "means.", "scatter.")
    state = model.state().learner.state()
    return {name: state[name] for name in state if name.startswith(kept) and not name.endswith("rounding")}


def taught(folder: Path, kind: str = "best") -> ServedModel:
    """Return a model of two classes."""
    model = new_model(folder, **KINDS[kind])
    rng = np.random.default_rng(0)
    for _ in range(6):
        teach(model, ["a", "b"], rng)
    return model


def reopened(model: ServedModel) -> ServedModel:
    model.close()
    return ServedModel(model.path, Limits(), ServiceMetrics())


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo windows of no length: features are not in memory when the next request comes."""
    monkeypatch.setattr(transaction, "LESSON_SECONDS", -1.0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("in_window", [True, False])
def test_a_deleted_annotation_leaves_no_trace_in_the_statistics(
    tmp_path: Path, kind: str, in_window: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = taught(tmp_path, kind)
    before = statistics(model)
    assert before
    if not in_window:
        monkeypatch.setattr(transaction, "LESSON_SECONDS", -1.0)
    assert annotate(model, 1, "a").outcome == "learnt"
    assert counts(model) == {"a": 7, "b": 6}
    if not in_window:
        with pytest.raises(ServiceError) as refused:
            delete(model, 1)
        assert refused.value.code == IMAGE_NEEDED
        assert counts(model) == {"a": 7, "b": 6}
    assert delete(model, 1, None if in_window else IMAGES[1]).outcome == "taken_back"
    assert counts(model) == {"a": 6, "b": 6}
    for name, array in statistics(model).items():
        np.testing.assert_allclose(array, before[name], rtol=1e-5, atol=1e-5, err_msg=name)
    model.close()


@pytest.mark.parametrize("in_window", [True, False])
def test_a_changed_annotation_moves_its_sample(
    tmp_path: Path, in_window: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, other = taught(tmp_path), taught(_folder(tmp_path, "other"))
    annotate(other, 1, "b")
    if not in_window:
        monkeypatch.setattr(transaction, "LESSON_SECONDS", -1.0)
    annotate(model, 1, "a")
    assert annotate(model, 1, "b", 2.0) == AnnotationResult("moved", True, {"a": 6, "b": 7})
    expected = statistics(other)
    for name, array in statistics(model).items():
        np.testing.assert_allclose(array, expected[name], rtol=1e-5, atol=1e-5, err_msg=name)
    model.close()
    other.close()


def test_delivered_twice_counts_once_before_and_after_a_restart(tmp_path: Path) -> None:
    model = taught(tmp_path)
    assert annotate(model, 1, "a").outcome == "learnt"
    assert annotate(model, 1, "a").outcome == "unchanged"
    model = reopened(model)
    assert annotate(model, 1, "a").outcome == "unchanged"
    assert counts(model) == {"a": 7, "b": 6}
    delete(model, 1, IMAGES[1])
    assert delete(model, 1).outcome == "unchanged"
    assert counts(model) == {"a": 6, "b": 6}
    model.close()


def test_two_copies_in_one_group_count_once(tmp_path: Path) -> None:
    model = taught(tmp_path)
    request = Annotate(AnnotationRecord(1, 1, 1, 1.0, "a"), IMAGES[1])
    outcomes = model._commit([request, request])
    assert [getattr(each, "outcome", each) for each in outcomes] == ["learnt", "unchanged"]
    assert counts(model) == {"a": 7, "b": 6}
    model.close()


def test_what_comes_late_changes_nothing(tmp_path: Path) -> None:
    model = taught(tmp_path)
    annotate(model, 1, "b", 5.0)
    assert annotate(model, 1, "a", 4.0).outcome == "older"
    assert delete(model, 2).outcome == "unchanged"  # the deletion has overtaken the creation
    model = reopened(model)
    assert annotate(model, 2, "a", 6.0).outcome == "older"
    assert counts(model) == {"a": 6, "b": 7}
    model.close()


@pytest.mark.parametrize("seed", range(4))
def test_in_any_order_the_model_has_what_the_annotations_said_last(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    versions = {n: rng.choice(["a", "b", ""], size=rng.integers(1, 4)).tolist() for n in IMAGES}
    gone = [n for n in IMAGES if rng.random() < 0.3]
    told = [(n, float(stamp), label) for n, labels in versions.items() for stamp, label in enumerate(labels)]
    told += [(n, DELETED, "") for n in gone]
    last = {n: "" if n in gone else labels[-1] for n, labels in versions.items()}
    model, other = taught(tmp_path), taught(_folder(tmp_path, "other"))
    for place in rng.permutation(2 * len(told)) % len(told):  # each of them twice
        number, stamp, label = told[place]
        model.teach(Annotate(AnnotationRecord(number, 1, number, stamp, label), IMAGES[number])).result()
        if rng.random() < 0.1:
            model = reopened(model)
    for number, label in last.items():
        annotate(other, number, label)
    assert counts(model) == counts(other)
    expected = statistics(other)
    for name, array in statistics(model).items():
        np.testing.assert_allclose(array, expected[name], rtol=1e-4, atol=1e-4, err_msg=name)
    model.close()
    other.close()


def test_an_annotation_without_a_label_is_remembered_and_takes_nothing(tmp_path: Path) -> None:
    model = taught(tmp_path)
    assert annotate(model, 1, "", 1.0, image=False).outcome == "unchanged"
    assert annotate(model, 1, "a", 2.0).outcome == "learnt"
    assert annotate(model, 1, "", 3.0, image=False).outcome == "taken_back"
    assert annotate(model, 1, "a", 4.0).outcome == "learnt"  # not as a key of a lesson: it says so again
    assert counts(model) == {"a": 7, "b": 6}
    model.close()


def test_without_an_image_nothing_is_learnt(tmp_path: Path) -> None:
    model = taught(tmp_path)
    with pytest.raises(ServiceError) as refused:
        annotate(model, 1, "a", image=False)
    assert refused.value.code == IMAGE_NEEDED
    assert model.annotations("project", 1) == []
    model.close()


def test_the_first_sample_of_a_class_waits_and_a_crash_that_loses_it_is_made_good(tmp_path: Path) -> None:
    model = taught(tmp_path)
    assert annotate(model, 1, "new") == AnnotationResult("learnt", False, {"new": 1})
    assert annotate(model, 1, "new") == AnnotationResult("unchanged", False)
    model = reopened(model)
    assert counts(model) == {"a": 6, "b": 6}
    assert annotate(model, 1, "new") == AnnotationResult("learnt", False, {"new": 1})
    assert annotate(model, 2, "new") == AnnotationResult("learnt", True, {"new": 2})
    (first, second) = model.annotations("project", 1)
    assert first.place == second.place > 0
    model = reopened(model)
    assert annotate(model, 1, "new").outcome == "unchanged"
    assert counts(model) == {"a": 6, "b": 6, "new": 2}
    model.close()


def test_a_sample_that_waits_is_taken_back_without_its_image(tmp_path: Path, later: None) -> None:
    model = taught(tmp_path)
    annotate(model, 1, "new")
    assert delete(model, 1).outcome == "taken_back"
    assert counts(model) == {"a": 6, "b": 6}
    model.close()


def test_a_class_of_two_can_lose_one_and_then_the_other(tmp_path: Path) -> None:
    model = taught(tmp_path)
    annotate(model, 1, "new")
    annotate(model, 2, "new")
    assert delete(model, 1).counts == {"new": 1}
    assert not next(line for line in model.snapshot.classes if line.label == "new").durable
    assert delete(model, 2).counts == {"new": 0}
    assert counts(model) == {"a": 6, "b": 6}
    model.close()


def test_of_the_paper_a_class_of_two_can_lose_both_after_the_window(tmp_path: Path, later: None) -> None:
    model = taught(tmp_path, "paper")
    annotate(model, 1, "new")
    annotate(model, 2, "new")
    assert delete(model, 1, IMAGES[1]).counts == {"new": 1}
    assert delete(model, 2).counts == {"new": 0}  # its mean was the sample, and waits in memory
    assert counts(model) == {"a": 6, "b": 6}
    model.close()


def test_where_it_cannot_be_taken_back_everything_stays_and_can_be_tried_again(
    tmp_path: Path, later: None
) -> None:
    model = taught(tmp_path)
    annotate(model, 1, "new")
    annotate(model, 2, "new")
    teach(model, ["a", "b"], RNG)  # with a lesson, those whose time is over leave memory
    with pytest.raises(ServiceError, match="would leave 'new' with one sample"):
        delete(model, 1, IMAGES[1])
    with pytest.raises(ServiceError, match="would leave 'new' with one sample"):
        annotate(model, 1, "a", 2.0)
    assert counts(model) == {"a": 7, "b": 7, "new": 2}
    assert model.annotations("project", 1)[0].label == "new"
    annotate(model, 3, "new")
    assert delete(model, 1, IMAGES[1]).counts == {"new": 2}
    model.close()


def test_a_learner_that_cannot_unlearn_says_so(tmp_path: Path, later: None) -> None:
    model = new_model(tmp_path, learner="ridge")
    teach(model, ["a", "b"] * 5, np.random.default_rng(0))
    annotate(model, 1, "a")
    with pytest.raises(ServiceError, match="the learner 'ridge' cannot take samples out again"):
        delete(model, 1, IMAGES[1])
    assert counts(model) == {"a": 6, "b": 5}
    model.close()


def test_what_was_taken_back_or_forgotten_on_the_page_stays_away(tmp_path: Path) -> None:
    model = taught(tmp_path)
    annotate(model, 1, "a")
    model.teach(Undo(model.lessons()[0].id)).result()
    assert annotate(model, 1, "a").outcome == "unchanged"
    annotate(model, 2, "b")
    model.teach(Forget("b")).result()
    assert annotate(model, 2, "b").outcome == "unchanged"
    assert delete(model, 2).outcome == "unchanged"
    assert counts(model) == {"a": 6}
    model.close()


def test_a_renamed_class_is_found_by_its_number(tmp_path: Path, later: None) -> None:
    model = taught(tmp_path)
    annotate(model, 1, "a")
    model.teach(Rename("a", "c")).result()
    model = reopened(model)
    assert annotate(model, 1, "a").outcome == "unchanged"
    assert delete(model, 1, IMAGES[1]).counts == {"c": 6}
    model.close()


def test_annotations_are_tested_before_they_are_learnt_and_noted_in_the_log(tmp_path: Path) -> None:
    model = taught(tmp_path)
    tested = sum(line.samples for line in model.snapshot.curve.points)
    annotate(model, 1, "a")
    assert sum(line.samples for line in model.snapshot.curve.points) == tested + 1
    delete(model, 1)
    assert [entry.action for _, entry in model.log(0, 1000)][-2:] == ["learn", "undo"]
    model.close()


def test_the_file_has_ids_and_labels_and_opens_as_before_without_them(tmp_path: Path) -> None:
    model = taught(tmp_path)
    assert b"CREATE TABLE annotations" not in model.path.read_bytes()
    annotate(model, 1, "a", 3.5, project=4)
    annotate(model, 2, "b", 3.5, project=4)
    delete(model, 2)
    kept, gone = model.annotations("project", 4)
    number = model.state().classes["a"].number
    assert kept == AnnotationRecord(1, 4, 1, 3.5, "a", number)
    assert (gone.label, gone.stamp) == ("", math.inf)
    assert model.annotations("task", 1) == [kept]
    assert model.annotations("project", 5) == []
    data = model.path.read_bytes()
    assert b"CREATE TABLE annotations" in data
    assert IMAGES[1].tobytes()[:16] not in data
    model.close()


def test_a_changed_record_is_noticed(tmp_path: Path) -> None:
    import sqlite3

    from i2cansay.service.storage.database import Damaged

    model = taught(tmp_path)
    annotate(model, 1, "a")
    model.close()
    for statement in ("UPDATE annotations SET label = 'b'", "DELETE FROM annotations"):
        with sqlite3.connect(model.path) as connection:
            connection.execute(statement)
        connection.close()
        with pytest.raises(Damaged, match="damaged"):
            ServedModel(model.path, Limits(), ServiceMetrics())


def test_plain_lessons_go_on_beside_annotations(tmp_path: Path) -> None:
    model = taught(tmp_path)
    lesson = model.teach(Learn(rows(["a"], RNG), ("a",), key=b"k")).result()
    annotate(model, 1, "a")
    model.teach(Undo(getattr(lesson, "lesson", ""))).result()
    assert counts(model) == {"a": 7, "b": 6}
    model.close()


def _folder(folder: Path, name: str) -> Path:
    made = folder / name
    made.mkdir()
    return made
